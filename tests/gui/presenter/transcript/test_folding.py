"""What a run of thousands of calls hands to the window stays small, and nothing of it is lost."""

import pytest

from desktop.domain.messages import TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.runs.events import (
    Event,
    MessageClosed,
    MessageOpened,
    RunEnded,
    RunStarted,
    TextArrived,
    ToolCallFinished,
    ToolCallStarted,
)
from desktop.domain.threads import MessageRecord
from desktop.presenter.transcript.build import build_items
from desktop.presenter.transcript.folding import LOOSE, MAXIMUM, fold_calls
from desktop.presenter.transcript.items import CallsPart, TextPart, ToolPart
from desktop.presenter.transcript.live_answer import LiveAnswer
from desktop.presenter.transcript.live_threads import LiveThreads

AT = {"thread_id": "t", "run_id": "r"}


def card(number: int, state: str = "done") -> ToolPart:
    return ToolPart(f"m:{number}", str(number), "read-file", f"{number}.txt", "read", state)  # type: ignore[arg-type]


def calls_in(parts) -> list[str]:
    rows = [part.calls if isinstance(part, CallsPart) else (part,) for part in parts]
    return [call.call_id for row in rows for call in row if isinstance(call, ToolPart)]


def test_a_few_calls_stay_cards():
    few = [card(n) for n in range(LOOSE)]
    assert fold_calls(few) == few


def test_of_many_calls_the_older_ones_are_folded_in_order_and_none_is_lost():
    many = [card(n) for n in range(1000)]
    folded = fold_calls(many)
    assert len(folded) == LOOSE + -(-(1000 - LOOSE) // MAXIMUM)
    assert folded[-LOOSE:] == many[-LOOSE:]
    assert calls_in(folded) == [str(n) for n in range(1000)]
    assert fold_calls(folded) == folded, "folded again, nothing changes"


def test_what_still_runs_or_waits_and_what_was_said_in_between_stays_in_its_place():
    said = TextPart("t", "so far")
    parts = [card(0), card(1), said, card(2, "waiting"), card(3), *(card(n) for n in range(4, 4 + LOOSE))]
    folded = fold_calls(parts)
    assert [type(part) for part in folded[:4]] == [CallsPart, TextPart, ToolPart, CallsPart]
    assert folded[2].state == "waiting"


def run_of(rounds: int, calls: int) -> list[Event]:
    """What the bus says of a run that only calls tools."""
    events: list[Event] = [RunStarted(**AT, agent="a", model="m", user_message_id="u")]
    for number in range(rounds):
        where = {**AT, "message_id": f"m{number}"}
        events.append(MessageOpened(**where, parent_id="u", side="a", author="a", round_number=number))
        blocks = tuple(ToolCallBlock(f"{number}-{n}", "read_file", {"path": "x"}) for n in range(calls))
        events.append(MessageClosed(**where, stop_reason="tool_calls", tool_calls=blocks))
        for block in blocks:
            events.append(
                ToolCallStarted(**where, call_id=block.call_id, tool="read_file", arguments={}, category="read")
            )
            done = {"state": "done", "text": "x", "is_error": False, "code": "", "elapsed_ms": 1}
            events.append(ToolCallFinished(**where, call_id=block.call_id, tool="read_file", **done))
    return events


@pytest.mark.spec("R-UI-1")
def test_the_live_answer_of_ten_thousand_calls_is_a_few_hundred_parts():
    answer = LiveAnswer("Agent", "m")
    maximum = 0
    for event in run_of(160, 64):
        answer.apply(event)
        maximum = max(maximum, len(answer.item().parts)) if isinstance(event, MessageClosed) else maximum
    assert maximum < 160 + 2 * 64 + LOOSE
    assert calls_in(answer.item().parts) == [f"{r}-{n}" for r in range(160) for n in range(64)]


def test_the_stored_answer_is_folded_too():
    path = [MessageRecord("u", "t", None, "user", (TextBlock("go"),), 0.0)]
    for number in range(300):
        call = ToolCallBlock(f"c{number}", "read_file", {"path": "x"})
        path.append(MessageRecord(f"a{number}", "t", None, "assistant", (call,), 0.0, side="a"))
        result = ToolResultBlock(f"c{number}", "read_file", "x")
        path.append(MessageRecord(f"r{number}", "t", None, "tool", (result,), 0.0))
    parts = build_items(path)[1].parts
    assert sum(isinstance(part, CallsPart) for part in parts) == 3
    assert calls_in(parts) == [f"c{n}" for n in range(300)]


def test_a_batch_of_events_draws_the_answer_once_and_its_text_neither_twice_nor_never(qapp):
    board = LiveThreads()
    drawn, grown, states = [], [], []
    board.answer_changed.connect(lambda thread: drawn.append(board.state(thread).answer.item()))
    board.answer_grew.connect(lambda thread, delta: grown.append(delta.text))
    board.state_changed.connect(states.append)
    events = run_of(1, 30)
    text = [TextArrived(**AT, message_id="m0", text=word) for word in ("a", "b")]
    board.take((*events[:2], *text, *events[2:]))
    assert (len(drawn), grown, states) == (1, [], ["t"])
    assert drawn[0].parts[0].markdown == "ab"
    board.take((TextArrived(**AT, message_id="m0", text="c"),))
    assert (len(drawn), grown) == (1, ["c"])


def test_the_end_of_a_run_is_told_after_what_it_changed(qapp):
    board = LiveThreads()
    told = []
    board.answer_changed.connect(lambda _: told.append("answer"))
    board.run_ended.connect(lambda *_: told.append("end"))
    board.take((*run_of(1, 2), RunEnded(**AT, reason="response")))
    assert told == ["answer", "end"]
