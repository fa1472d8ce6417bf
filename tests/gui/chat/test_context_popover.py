"""What fills the model's window, below the figures in a chat's head."""

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from desktop.domain.context import Account, ContextShares
from desktop.domain.messages import Usage
from desktop.presenter.chat.state import Meters
from desktop.ui.chat.context_popover import NOT_YET, NOTHING_OLD, ContextPopover

USED = Usage(335_000, 11_000, cached_tokens=228_000, cost_usd=0.33, saved_usd=0.41)
FULL = Meters(model="lab/m", context_used=44_600, context_window=131_000, used=USED)


class Told(QObject):
    """What the view-model of the context tells."""

    changed = Signal()
    account: Account | None = Account(kept=38)
    shares: ContextShares | None = ContextShares(9_100, 22, 23_400, 12_100)
    writing = False


@pytest.fixture
def opened(theme, qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, 600)
    told, anchor = Told(window), QWidget(window)
    anchor.setGeometry(700, 10, 150, 24)
    window.show()
    made = ContextPopover(window, told, popup=False)  # as a child, because the offscreen plugin warns about popups
    made.told, made.kept, made.asked = told, window, []
    made.sum_up.connect(lambda: made.asked.append("older"))
    made.all_wanted.connect(lambda: made.asked.append("all"))
    made.show_meters(FULL)
    made.open_at(anchor)
    return made


def words(made: ContextPopover) -> str:
    return " | ".join(label.text() for label in made.findChildren(QLabel) if label.isVisibleTo(made))


def test_it_says_what_the_tokens_are_and_what_a_cache_saved(opened):
    said = words(opened)
    for part in ("44.6k of 131k", "Instructions and 22 tools", "9.1k", "23.4k", "Files and results", "12.1k"):
        assert part in said
    assert "68 % came from the cache, saved $0.410" in said
    assert "Instructions and 22 tools 9.1k" in opened.accessibleDescription()
    assert opened.geometry().right() <= opened.kept.width()


def test_it_stands_whole_where_the_figures_change_and_nothing_is_known_yet(opened):
    before = opened.height()
    opened.told.shares = opened.told.account = None
    opened.show_meters(Meters(model="lab/m", context_used=12_000))
    assert NOT_YET in words(opened)
    assert "cache" not in words(opened)
    assert (opened.older.isEnabled(), opened.older.accessibleDescription()) == (False, NOTHING_OLD)
    assert opened.height() < before


@pytest.mark.parametrize(("button", "asked"), [("older", "older"), ("all", "all")])
def test_its_two_actions_close_it(opened, button, asked):
    QTest.keyClick(getattr(opened, button), Qt.Key.Key_Return)
    assert (opened.asked, opened.isVisible()) == ([asked], False)


def test_escape_closes_it_and_asks_for_nothing(opened):
    QTest.keyClick(opened.all, Qt.Key.Key_Escape)
    assert (opened.asked, opened.isVisible()) == ([], False)


def test_while_a_summary_is_written_no_other_is_asked_for(opened):
    opened.told.writing = True
    opened.told.changed.emit()
    assert not opened.older.isEnabled()
