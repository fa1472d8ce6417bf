"""The cards of a new debate say all of what they are in a small window."""

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shots import debates as shots

from desktop.ui.debates.setup_page import TemplateCard
from desktop.ui.theme import Theme
from desktop.ui.widgets.layout.columns import Columns
from tests.gui.shell.test_window import spin


@pytest.mark.parametrize(("width", "across"), [(1216, 5), (960, 3), (480, 2), (200, 1)])
def test_columns_fill_their_last_row_as_far_as_they_can(qtbot: QtBot, theme: Theme, width: int, across: int) -> None:
    made = Columns([QLabel(str(n)) for n in range(5)], minimum=205, maximum=5)
    qtbot.addWidget(made)
    made.resize(width, 400)
    made.show()
    assert made.across == across


def test_no_card_of_a_template_is_cut_at_960(qtbot: QtBot, theme: Theme) -> None:
    page = shots.page()
    qtbot.addWidget(page)
    page.resize(896, 600)
    page.show()
    spin()
    cards = page.findChildren(TemplateCard)
    assert len(cards) == 5
    body, small = QFontMetrics(theme.font("body", 500)), QFontMetrics(theme.font("small"))
    for card in cards:
        room = card.width() - theme.px(52)
        assert body.horizontalAdvance(card.template.title) <= room, card.template.title
        assert small.horizontalAdvance(card.template.hint) <= room, card.template.hint
