"""Work of the window that is done a piece at a time."""

from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from desktop.ui.widgets.turns import Turns
from tests.harness.timeouts import WAIT_MS


def test_the_window_has_its_turn_between_two_pieces_and_the_last_piece_ends_it(qtbot: QtBot) -> None:
    owner, done = QObject(), list[str]()
    beat = QTimer(owner, interval=0)
    beat.timeout.connect(lambda: done.append("window"))
    beat.start()

    def pieces() -> Iterator[None]:
        done.append("one")
        yield
        done.append("two")

    Turns(owner).begin(pieces())
    assert done == [], "nothing is done before the window's next turn"
    qtbot.waitUntil(lambda: "two" in done, timeout=WAIT_MS)
    assert "window" in done[done.index("one") : done.index("two")]


def test_what_is_begun_takes_the_place_of_what_was_left_to_do_even_from_inside_a_piece(qtbot: QtBot) -> None:
    owner, done = QObject(), list[str]()
    turns = Turns(owner)

    def other() -> Iterator[None]:
        done.append("other")
        yield
        done.append("end")

    def pieces() -> Iterator[None]:
        done.append("one")
        turns.begin(other())
        yield
        done.append("never")

    turns.begin(pieces())
    qtbot.waitUntil(lambda: "end" in done, timeout=WAIT_MS)
    assert done == ["one", "other", "end"]
