"""A paragraph remembers how high it is, until its words or the size of all text change."""

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.theme import Theme
from desktop.ui.widgets.text import Paragraph

LONG = "Words that take more than one line where there is little room. " * 4


def test_its_height_follows_its_words_the_width_and_the_size_of_text(qtbot: QtBot, theme: Theme) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    made = Paragraph("Short.")
    made.setParent(page)
    one = made.heightForWidth(200)
    assert made.natural_width() < 200
    made.set_pieces(LONG)
    many = made.heightForWidth(200)
    assert many > 4 * one
    assert made.natural_width() > 1000
    assert made.heightForWidth(2_000) == one
    for width in range(200, 240):
        made.heightForWidth(width)
    assert made.heightForWidth(200) == many
    try:
        theme.set_scale(2.0)
        assert made.heightForWidth(200) > 2 * many
        assert made.natural_width() > 2_000
    finally:
        theme.set_scale(1.0)
    assert made.heightForWidth(200) == many
