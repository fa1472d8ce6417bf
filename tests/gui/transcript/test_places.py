"""Nothing is drawn over something else: countdowns, the actions of a message, marks of lists from the right."""

import time
from itertools import combinations

from PySide6.QtCore import QPoint, QRectF

from desktop.presenter.transcript.items import NoticeAction, NoticePart, TranscriptItem
from desktop.ui.transcript import TranscriptView
from desktop.ui.transcript.pieces.small import COUNTDOWN, NoticePiece
from desktop.ui.transcript.pieces.text import TextPiece
from tests.gui.transcript.conftest import said


def test_the_words_of_a_notice_leave_room_for_its_countdown(view: TranscriptView) -> None:
    part = NoticePart("n", "The model is busy and asks for patience. " * 12, "warning", (), time.time() + 60)
    view.set_items((TranscriptItem("m1", "a", "Agent", "12:00", (part,)),))
    piece = next(piece for piece, _, _ in view.page.messages[0].pieces() if isinstance(piece, NoticePiece))
    (box,) = piece.boxes
    assert box.box.height > view.look.line("body"), "more than a line, so that it is as wide as it may be"
    assert box.x + box.box.width <= piece._width - view.look.px(COUNTDOWN)


def test_the_actions_of_a_notice_go_on_in_the_next_line_where_there_is_no_room(view: TranscriptView) -> None:
    actions = tuple(NoticeAction(f"Do what is said in answer {number}", f"a{number}") for number in range(8))
    view.set_items((TranscriptItem("m1", "a", "Agent", "12:00", (NoticePart("n", "Over.", "info", actions),)),))
    piece = next(piece for piece, _, _ in view.page.messages[0].pieces() if isinstance(piece, NoticePiece))
    places = [spot.rect for spot in piece._spots]
    assert all(place.left() > 0 and place.right() <= piece._width for place in places)
    assert len({place.top() for place in places}) > 1
    assert all(place.bottom() < piece.height for place in places)
    assert not any(one.intersects(other) for one, other in combinations(places, 2))


def test_the_actions_of_a_message_do_not_cover_the_copy_of_its_code(view: TranscriptView) -> None:
    code = "```python\n" + "x = 1\n" * 10 + "```\n"
    view.set_items((said(1, "\n\n".join([code] * 30)),))
    for value in range(0, 900, 7):
        view.verticalScrollBar().setValue(value)
        view.overlays.hover(0)
        bar = QRectF(view.overlays.bar.geometry())
        top = next(y for index, y in view.visible() if index == 0)
        spots = [
            rect.translated(QPoint(view.span(0)[0], top))
            for spot, rect in view.page.messages[0].spots()
            if spot.kind == "copy"
        ]
        assert spots
        assert not [rect for rect in spots if rect.intersects(bar)], value


def test_the_numbers_of_a_list_from_the_right_stand_at_the_right(view: TranscriptView) -> None:
    for text, mirrored in (("1. שלום\n2. עולם", True), ("1. one\n2. two", False)):
        view.set_items((said(1, text),))
        pieces = [piece for piece, _, _ in view.page.messages[0].pieces() if isinstance(piece, TextPiece)]
        assert len(pieces) == 2
        for piece in pieces:
            place = piece._side(QRectF(0, 0, 20, 20), QRectF().topLeft())
            width = view.width_wanted()
            assert (place.left() > width / 2) is mirrored
            assert (piece.boxes[0].x == 0) is mirrored
