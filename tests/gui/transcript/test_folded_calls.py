"""Folded calls: one line that opens to cards, and never moves what a person reads."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from desktop.presenter.transcript.folding import fold_calls
from desktop.presenter.transcript.items import ToolPart, TranscriptItem
from desktop.ui.transcript import TranscriptView
from desktop.ui.transcript.accessible_text import spoken_text
from desktop.ui.transcript.calls_fold import CallsPiece
from desktop.ui.transcript.pieces.tool_card import ToolCard
from tests.gui.transcript.conftest import until


def answer(count: int, *, folded: bool = True) -> TranscriptItem:
    parts = [
        ToolPart(
            f"p{n}",
            f"c{n}",
            "bash" if n % 9 == 0 else "read-file",
            f"{n}.txt",
            "read",
            "failed" if n % 50 == 0 else "done",
            "{}",
            f"result {n}",
        )
        for n in range(count)
    ]
    return TranscriptItem("m", "a", "Agent", "12:00", tuple(fold_calls(parts) if folded else parts))


def pieces(view: TranscriptView) -> list[object]:
    return [piece for piece, _, _ in view.page.messages[0].pieces()]


def press(view: TranscriptView, key: str) -> None:
    rect = next(rect for spot, rect in view.page.messages[0].spots() if spot.key == key)
    view.show_range(0, rect.y(), rect.height())
    x, _ = view.column()
    at = rect.center().toPoint() + QPoint(x, view.page.top(0) - view.offset())
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)


def test_a_line_says_how_many_calls_of_what_and_how_they_went(view: TranscriptView) -> None:
    item = answer(280)
    view.set_items((item,))
    folds = [piece for piece in pieces(view) if isinstance(piece, CallsPiece)]
    assert [fold.text for fold in folds] == ["100 calls read-file, bash 98 done, 2 failed"] * 2
    assert spoken_text(item).startswith("Tool calls: 100 calls read-file, bash 98 done, 2 failed")
    assert sum(isinstance(piece, ToolCard) for piece in pieces(view)) == 80


def test_a_line_opens_to_its_cards_and_each_card_to_its_result_and_both_stay_open(view: TranscriptView) -> None:
    view.set_items((answer(180),))
    press(view, "p0:calls/head")
    assert sum(isinstance(piece, ToolCard) for piece in pieces(view)) == 180
    press(view, "p1/head")
    opened = next(piece for piece in pieces(view) if isinstance(piece, ToolCard) and piece.key == "p1")
    assert "result 1" in opened.text
    view.relayout()
    opened = next(piece for piece in pieces(view) if isinstance(piece, ToolCard) and piece.key == "p1")
    assert "result 1" in opened.text
    press(view, "p0:calls/head")
    assert sum(isinstance(piece, ToolCard) for piece in pieces(view)) == 80


def test_the_reader_s_place_holds_when_what_stands_above_is_folded(view: TranscriptView) -> None:
    view.set_items((answer(180, folded=False),))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() - 1500)
    assert until(lambda: not view.stick)

    def place() -> int:
        return next(y for p, y, _ in view.page.messages[0].pieces() if p.key == "p150") - view.offset()

    before = place()
    view.change_item(answer(180))
    assert place() == before
