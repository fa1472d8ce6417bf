"""Selection over many messages, copying, and finding."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from desktop.presenter.transcript.items import TextPart, TranscriptItem
from desktop.ui.transcript import TranscriptView
from tests.gui.transcript import scenes
from tests.gui.transcript.conftest import drag, edge, middle, move_held, said, spin, thread, until

pytestmark = pytest.mark.spec("R-UI-1")
LEFT = Qt.MouseButton.LeftButton


def clipboard(kind: str = "text/plain") -> str:
    data = QGuiApplication.clipboard().mimeData()
    return data.text() if kind == "text/plain" else bytes(data.data(kind).data()).decode()


def test_dragging_over_messages_selects_from_letter_to_letter(view: TranscriptView) -> None:
    view.set_items((said(1, "alpha beta gamma"), said(2, "delta **epsilon** zeta", side="human"), said(3, "eta theta")))
    drag(view, edge(view, "m1", "beta"), edge(view, "m3", "eta", end=True))
    assert view.selected_text() == "beta gamma\n\ndelta epsilon zeta\n\neta"
    view.copy()
    assert clipboard() == "beta gamma\n\ndelta epsilon zeta\n\neta"
    assert clipboard("text/markdown") == "beta gamma\n\ndelta **epsilon** zeta\n\neta"


def test_a_selection_backwards_is_the_same(view: TranscriptView) -> None:
    view.set_items((said(1, "alpha beta"), said(2, "gamma delta")))
    drag(view, edge(view, "m2", "gamma", end=True), edge(view, "m1", "beta"))
    assert view.selected_text() == "beta\n\ngamma"


def test_a_selection_survives_text_that_streams_in_behind_and_after_it(view: TranscriptView) -> None:
    view.set_items((said(1, "alpha"), said(2, "one **two** three", live=True)))
    drag(view, edge(view, "m1", "alpha"), edge(view, "m2", "two", end=True))
    before = view.selected_text()
    for _ in range(300):
        view.append_text("m2", "m2:0", " word and more of them")
        view.stream.flush()
    assert view.selected_text() == before == "alpha\n\none two"
    view.change_item(said(2, view.page.messages[1].source()))
    assert view.selected_text() == before


def test_a_selection_survives_older_messages_and_leaving_the_screen(view: TranscriptView) -> None:
    items = thread(300)
    view.set_items(items[200:])
    view.scroll_to("m250")
    drag(view, edge(view, "m250", "Message"), edge(view, "m251", "251", end=True))
    before = view.selected_text()
    view.prepend_items(items[:200])
    view.verticalScrollBar().setValue(0)
    for message in view.page.laid_out():
        message.release()
    assert view.selected_text() == before
    assert before.endswith("Message 251")


def test_a_double_click_takes_the_word_a_third_the_paragraph(view: TranscriptView) -> None:
    view.set_items((said(1, "alpha beta gamma\n\nanother paragraph"),))
    point = middle(view, "m1", "beta")
    port = view.viewport()
    QTest.mouseDClick(port, LEFT, pos=point)
    assert view.selected_text() == "beta"
    QTest.mouseRelease(port, LEFT, pos=point)
    QTest.mousePress(port, LEFT, pos=point)
    assert view.selected_text() == "alpha beta gamma"
    QTest.mouseRelease(port, LEFT, pos=point)


def test_dragging_after_a_double_click_takes_whole_words(view: TranscriptView) -> None:
    view.set_items((said(1, "alpha beta gamma delta"),))
    QTest.mouseDClick(view.viewport(), LEFT, pos=middle(view, "m1", "beta"))
    move_held(view, middle(view, "m1", "gamma"))
    assert view.selected_text() == "beta gamma"
    move_held(view, middle(view, "m1", "alpha"))
    assert view.selected_text() == "alpha beta"
    QTest.mouseRelease(view.viewport(), LEFT)


def test_shift_and_a_click_extend_the_selection(view: TranscriptView) -> None:
    view.set_items((said(1, "alpha beta"), said(2, "gamma delta")))
    QTest.mouseClick(view.viewport(), LEFT, pos=edge(view, "m1", "beta"))
    QTest.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.ShiftModifier, edge(view, "m2", "gamma", end=True))
    assert view.selected_text() == "beta\n\ngamma"


def test_dragging_over_the_edge_scrolls(view: TranscriptView) -> None:
    view.set_items(thread(200))
    start = view.offset()
    port = view.viewport()
    QTest.mousePress(port, LEFT, pos=QPoint(400, 200))
    move_held(view, QPoint(400, -60))
    assert until(lambda: view.offset() < start - 200)
    QTest.mouseRelease(port, LEFT, pos=QPoint(400, -60))
    stopped = view.offset()
    spin(60)
    assert view.offset() == stopped
    assert len(view.selected_text()) > 100


def test_code_is_copied_exactly(view: TranscriptView) -> None:
    code = (
        "def f():\n\tif x:\n\t\treturn  'a  b'   \n\n\n"
        + "\n".join(f"    line_{n} = {n}" for n in range(150))
        + "\n# 👩‍👩‍👧 é"
    )
    code += "\n" + "x" * 2000
    view.set_items((said(1, f"Look:\n\n```python\n{code}\n```\n\nend"),))
    view.verticalScrollBar().setValue(0)
    copied: list[str] = []
    view.code_copied.connect(copied.append)
    spot, rect = next(found for found in view.page.messages[0].spots() if found[0].kind == "copy")
    x, _ = view.column()
    point = rect.center().toPoint() + QPoint(x, view.page.top(0) - view.offset())
    QTest.mouseClick(view.viewport(), LEFT, pos=point)
    assert copied == [code]
    assert clipboard() == code
    view.select_all()
    assert view.selected_text() == f"Look:\n\n{code}\n\nend"
    view.copy()
    assert clipboard("text/markdown") == f"Look:\n\n```python\n{code}\n```\n\nend"
    assert spot.label == "Copy python"


def test_emoji_and_combining_letters_are_selected_whole(view: TranscriptView) -> None:
    view.set_items((said(1, "a 👩‍👩‍👧 b 🎉🎉 c é d"),))
    drag(view, edge(view, "m1", "b"), edge(view, "m1", "c", end=True))
    assert view.selected_text() == "b 🎉🎉 c"


def test_everything_is_copied_from_a_thread_that_was_never_seen(view: TranscriptView) -> None:
    view.set_items(thread(1000))
    view.setFocus()
    QTest.keySequence(view, "Ctrl+A")
    text = view.selected_text()
    assert text.startswith("Message 0.")
    assert text.count("Message ") == 1000
    assert len(view.page.laid_out()) < 60


def test_lists_and_tables_are_copied_as_one_reads_them(view: TranscriptView) -> None:
    view.set_items((said(1, "- one\n- two\n  1. deep\n\n| a | b |\n|---|---|\n| 1 | 2 |"),))
    view.select_all()
    assert view.selected_text() == "• one\n• two\n  1. deep\n\na\tb\n1\t2"


def test_the_keyboard_extends_the_selection(view: TranscriptView) -> None:
    view.set_items((said(1, "alpha beta gamma"), said(2, "delta epsilon")))
    view.setFocus()
    QTest.mouseClick(view.viewport(), LEFT, pos=edge(view, "m1", "beta"))
    shift, control = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
    for _ in range(4):
        QTest.keyClick(view, Qt.Key.Key_Right, shift)
    assert view.selected_text() == "beta"
    QTest.keyClick(view, Qt.Key.Key_Right, shift | control)
    assert view.selected_text() == "beta gamma"
    QTest.keyClick(view, Qt.Key.Key_Down, shift)
    assert view.selected_text() == "beta gamma\n\ndelta epsilon"
    QTest.keyClick(view, Qt.Key.Key_Up, shift)
    QTest.keyClick(view, Qt.Key.Key_Down, shift | control)
    QTest.keyClick(view, Qt.Key.Key_End, shift | control)
    assert view.selected_text() == "beta gamma\n\ndelta epsilon"
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert view.selected_text() == ""


def test_what_a_person_typed_keeps_its_lines(view: TranscriptView) -> None:
    view.set_items((TranscriptItem("h", "human", "You", "1", (TextPart("h0", "one\ntwo"),)),))
    view.select_all()
    assert view.selected_text() == "one\ntwo"


# ------------------------------------------------------------------------------------------------------------- finding


def test_find_goes_from_match_to_match_and_counts_them(view: TranscriptView) -> None:
    items = list(thread(400))
    for place in (30, 200, 399):
        items[place] = said(place, f"Here is a **Nee**dle in the text, needle {place}")
    view.set_items(tuple(items))
    counted: list[tuple[int, int]] = []
    view.found.connect(lambda place, count: counted.append((place, count)))
    view.find("needle", True)
    assert until(lambda: view.search.matches.total()[1] == 6)
    places = []
    for _ in range(6):
        place, count = view.find("needle", True)
        assert count == 6
        places.append(place)
        index = view.search.matches.current[0] if view.search.matches.current else -1
        assert index in [shown for shown, _ in view.visible()]
    assert sorted(places) == [1, 2, 3, 4, 5, 6]
    forward = view.search.matches.current
    view.find("needle", True)
    view.find("needle", False)
    assert view.search.matches.current == forward
    assert view.find("", True) == (0, 0)
    assert view.find("not there at all", True) == (0, 0)


def test_find_shows_its_matches(view: TranscriptView) -> None:
    view.set_items((said(1, "alpha beta alpha"),))
    marks_before = view.marks(0)
    view.find("alpha", True)
    assert not marks_before
    assert [(start, end) for start, end, _ in view.marks(0)] == [(0, 5), (11, 16)]


def test_find_looks_into_calls_and_notices(view: TranscriptView) -> None:
    view.set_items(scenes.everything())
    assert view.find("REFUSED", True)[1] == 1
    assert view.find("oneline", True)[1] == len(scenes.STATES)
