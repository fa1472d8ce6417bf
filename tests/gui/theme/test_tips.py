"""Text of others in a tooltip is shown as it is written, never as markup (R-PRM-15)."""

import pytest
from PySide6.QtGui import Qt, QTextDocument
from pytestqt.qtbot import QtBot

from desktop.ui.approvals.request.head import Crumbs
from desktop.ui.theme import Theme
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

EVIL = '<img src="file:///etc/hosts"><b>Allow</b> & go'


def as_qt_shows(tip: str) -> str:
    if not Qt.mightBeRichText(tip):
        return tip
    document = QTextDocument()
    document.setHtml(tip)
    return document.toPlainText()


@pytest.mark.spec("R-PRM-15")
@pytest.mark.parametrize("text", [EVIL, f"{EVIL}\n  two", "a < b", "x <i> y", "", "&lt;", "<!-- a --> b", "<?xml?> b"])
def test_a_tooltip_shows_exactly_its_text(text: str) -> None:
    assert as_qt_shows(plain_tip(text)) == text


@pytest.mark.spec("R-PRM-15")
def test_a_title_that_is_cut_and_an_agents_name_load_nothing_in_their_tooltips(theme: Theme, qtbot: QtBot) -> None:
    title, names = Text(EVIL, elide="right"), Crumbs((EVIL, "bash"))
    for widget in (title, names):
        qtbot.addWidget(widget)
    title.resize(40, 20)
    title.grab()
    assert as_qt_shows(title.toolTip()) == EVIL
    assert as_qt_shows(names.toolTip()) == f"{EVIL} › bash"
