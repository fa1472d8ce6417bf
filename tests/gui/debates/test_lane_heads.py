"""The head of a turn in a lane: who, its facts, what it cost and its actions, none over another."""

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QRect
from shots.debates import _turn

from desktop.ui.debates.lanes import debate_view
from desktop.ui.theme import Theme
from desktop.ui.transcript.message_frame import footer_line, head_line, whole_words

LONG = "The reviewer who doubts every number of the report"


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("width", [632, 736, 896, 1216, 1680])
@pytest.mark.parametrize("author", ["", LONG])
def test_in_the_head_of_a_turn_nothing_lies_over_something_else(
    qtbot: Any, theme: Theme, width: int, scale: float, author: str
) -> None:
    """896 is a window 960 wide."""
    theme.set_scale(scale)
    view = debate_view()
    qtbot.addWidget(view)
    view.resize(width, 1200)
    turns = [replace(_turn(at, calls=at), footer="claude-sonnet-4, 2.1k tokens, $0.010") for at in (1, 2)]
    view.set_items(tuple(replace(turn, author=author or turn.author) for turn in turns))
    view.show()
    look = view.look
    for index in (0, 1):
        view.overlays.hover(index)
        message, (x, room) = view.page.messages[index], view.span(index)
        bar = QRect(view.overlays.bar.geometry())
        head = head_line(message, look)
        words, begin = footer_line(message, look, bar.x() - look.px(8) - x)
        assert bar.right() <= x + room
        assert x + head.end <= bar.x(), "its facts end before its actions"
        assert head.author
        assert head.end <= begin
        assert begin + look.metrics("small").horizontalAdvance(words) <= bar.x() - x or not words
        assert words in message.item.footer
    if width == 1680 and scale == 1.0 and not author:
        assert (head.time, words) == (message.item.time, message.item.footer), "with room it is all there"


def test_facts_are_left_out_whole(qtbot: Any, theme: Theme) -> None:
    metrics = debate_view_metrics(qtbot)
    text = "turn 3, 3 rounds, 14.7 s"
    assert whole_words(text, metrics, metrics.horizontalAdvance(text), last=True) == text
    assert whole_words(text, metrics, metrics.horizontalAdvance(text) - 1, last=True) == "turn 3, 3 rounds"
    assert whole_words(text, metrics, metrics.horizontalAdvance(text) - 1) == "3 rounds, 14.7 s"
    assert whole_words(text, metrics, 3) == ""


def debate_view_metrics(qtbot: Any) -> Any:
    view = debate_view()
    qtbot.addWidget(view)
    return view.look.metrics("small")
