"""The chips in the head of a thread: the mode has its words where there is room, and never half of them."""

from itertools import pairwise

import pytest
from pytestqt.qtbot import QtBot

from desktop.presenter.chat.state import Meters
from desktop.ui.chat.header import ThreadHeader
from desktop.ui.theme import Theme
from tests.harness.timeouts import WAIT_MS

METERS = Meters("a", "A", "m/x", "M", 44_600, 131_000, 61_300, 0.087)
SUMMARISED = Meters("a", "A", "m/x", "M", 44_600, 131_000, 61_300, 0.087, True, False)
IN_1280, BESIDE_A_PANEL = 952, 720
"""Pixels of the head in a window of 1,280, with the list of chats, and with a side panel instead of it."""


@pytest.fixture
def header(qtbot: QtBot, theme: Theme) -> ThreadHeader:
    made = ThreadHeader()
    qtbot.addWidget(made)
    made.show_title("Gaps in the March tide data")
    made.show_project("/home/ida/harbour-sensors")
    made.show_mode("asks each time", "ask")
    made.show_meters(METERS)
    made.show()
    return made


@pytest.mark.spec("R-ASK-1")
@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("meters", [METERS, SUMMARISED])
def test_the_mode_has_its_words_in_a_usual_window_and_its_icon_alone_where_it_is_narrow(
    qtbot: QtBot, theme: Theme, header: ThreadHeader, meters: Meters, scale: float
) -> None:
    theme.set_scale(scale)
    header.show_meters(meters)
    for width, words in ((IN_1280, True), (BESIDE_A_PANEL, False), (IN_1280, True)):
        header.resize(round(width * scale), round(48 * scale))
        qtbot.waitUntil(lambda words=words: (header.mode.width() >= header.mode.full_width()) == words, timeout=WAIT_MS)
        qtbot.waitUntil(lambda: header.mode.width() >= header.mode.sizeHint().width(), timeout=WAIT_MS)
        assert header.mode.accessibleName() == "Mode: asks each time"
    theme.set_scale(1.0)
    header.hide()


@pytest.mark.parametrize("title", ["Tides", "A title that is long enough to need all of the room that there is"])
def test_the_words_of_the_mode_are_all_there_or_none_and_nothing_stands_over_it(
    qtbot: QtBot, header: ThreadHeader, title: str
) -> None:
    header.show_title(title)
    header.show_editor("Zed, the editor")
    seen, row = set(), [header.project, header.mode, header.editor, header.meters, header.more]

    def is_laid_out() -> bool:
        places = [(one.mapTo(header, one.rect().topLeft()).x(), one.width()) for one in row]
        apart = all(left + wide <= after for (left, wide), (after, _) in pairwise(places))
        return apart and sum(places[-1]) <= header.width() and header.mode.width() == header.mode.sizeHint().width()

    for width in range(680, 1300, 40):
        header.resize(width, 48)
        qtbot.waitUntil(is_laid_out, timeout=WAIT_MS)
        words = header.mode.width() == header.mode.full_width()
        seen.add(words)
        if words:
            assert header.title.width() >= min(130, header._title.sizeHint().width())
    assert seen == {True, False}
    header.hide()
