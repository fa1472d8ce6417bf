"""The answer being written follows the runtime's events exactly."""

from dataclasses import replace

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.messages import NoticeBlock, ThinkingFacts, ToolCallBlock, Usage
from desktop.domain.runs.events import (
    MessageClosed,
    MessageOpened,
    ReasoningArrived,
    RetryScheduled,
    RunEnded,
    TextArrived,
    ToolCallAnswered,
    ToolCallFinished,
    ToolCallStarted,
    ToolCallWaiting,
    ToolCallWriting,
)
from desktop.presenter.transcript.items import NoticePart, TextPart, ToolPart
from desktop.presenter.transcript.live_answer import Delta, LiveAnswer

AT = {"thread_id": "t", "run_id": "r"}


def opened(message_id="m"):
    return MessageOpened(**AT, message_id=message_id, parent_id=None, side="a", author="assistant", round_number=1)


def request():
    return PermissionRequest(
        "q",
        "r",
        "t",
        "c",
        "write-file",
        "",
        Category.WRITE,
        "",
        ("assistant",),
        {"path": "a"},
        ("/w/a",),
        (),
        {},
        "d",
        0.0,
    )


def play(*events):
    answer = LiveAnswer("Assistant", "demo/demo")
    changes = [answer.apply(event) for event in events]
    return answer, changes


def test_text_is_a_new_part_first_and_a_delta_afterwards():
    answer, changes = play(
        opened(), TextArrived(**AT, message_id="m", text="Hel"), TextArrived(**AT, message_id="m", text="lo")
    )
    assert changes[1] == (True, None)
    assert changes[2] == (True, Delta("m:text", "lo"))
    part = answer.item().parts[0]
    assert (part.markdown, part.live) == ("Hello", True)


def test_thinking_comes_before_the_text_and_stops_when_it_begins():
    answer, _ = play(
        opened(), ReasoningArrived(**AT, message_id="m", text="hm"), TextArrived(**AT, message_id="m", text="so")
    )
    reasoning, text = answer.item().parts
    assert (reasoning.text, reasoning.live, text.markdown) == ("hm", False, "so")


def closed(thinking):
    return MessageClosed(**AT, message_id="m", stop_reason="tool_calls", thinking=thinking)


def test_thinking_that_is_over_says_the_same_as_when_it_is_read_later():
    facts = ThinkingFacts(11.6, 1900, "claude-sonnet")
    answer, _ = play(opened(), ReasoningArrived(**AT, message_id="m", text="hm"), closed(facts))
    (part,) = answer.item().parts
    assert (part.text, part.live, part.facts) == ("hm", False, facts)
    hidden, _ = play(opened(), closed(facts))
    (part,) = hidden.item().parts
    assert (part.text, part.facts) == ("", facts)
    none, _ = play(opened(), closed(None))
    assert none.item().parts == ()


@pytest.mark.spec("R-UI-1")
def test_a_call_goes_from_writing_over_waiting_to_done():
    call = ToolCallBlock("c", "write_file", {"path": "a"})
    answer = LiveAnswer("Assistant", "demo/demo")
    states = []
    for event in (
        opened(),
        ToolCallWriting(**AT, message_id="m", index=0, tool="write_file", characters=10),
        MessageClosed(**AT, message_id="m", stop_reason="tool_calls", tool_calls=(call,), usage=Usage(5, 5)),
        ToolCallStarted(**AT, message_id="m", call_id="c", tool="write-file", arguments={}, category="write"),
        ToolCallWaiting(**AT, message_id="m", call_id="c", request=request()),
        ToolCallAnswered(**AT, message_id="m", call_id="c", request_id="q", decision=Decision("allow_once", "d")),
        ToolCallFinished(
            **AT,
            message_id="m",
            call_id="c",
            tool="write-file",
            state="done",
            text="ok",
            is_error=False,
            code="",
            elapsed_ms=5,
            facts={"bytes": 2000},
        ),
    ):
        answer.apply(event)
        states.append([p.state for p in answer.item().parts if isinstance(p, ToolPart)])
    assert states == [[], ["writing"], ["writing"], ["running"], ["waiting"], ["running"], ["done"]]
    card = answer.item().parts[0]
    assert (card.result, card.facts, card.request) == ("ok", ("2.0 KB",), None)


@pytest.mark.spec("R-PRM-5", "R-PRM-13")
def test_the_card_of_a_call_that_is_edited_shows_the_edited_call_while_it_waits_and_when_it_ran():
    asked = {"path": "new.txt"}
    edited = replace(request(), arguments={"path": "important.txt"}, original=asked)
    answer, _ = play(
        opened(),
        ToolCallStarted(**AT, message_id="m", call_id="c", tool="write-file", arguments=asked, category="write"),
        ToolCallWaiting(**AT, message_id="m", call_id="c", request=edited),
    )
    card = answer.item().parts[0]
    assert (card.summary, card.state) == ("important.txt", "waiting")
    answer.apply(
        ToolCallFinished(
            **AT,
            message_id="m",
            call_id="c",
            tool="write-file",
            state="done",
            text="ok",
            is_error=False,
            code="",
            elapsed_ms=5,
            facts={"edited": {"path": "important.txt"}, "decision": "allow_once", "by": "user"},
        )
    )
    card = answer.item().parts[0]
    assert (card.summary, card.facts) == ("important.txt", ("edited by you",))
    assert "important.txt" in card.arguments
    assert "new.txt" in card.detail


def test_a_denied_call_shows_why():
    answer, _ = play(
        opened(),
        ToolCallStarted(**AT, message_id="m", call_id="c", tool="bash", arguments={"command": "ls"}, category="write"),
        ToolCallWaiting(**AT, message_id="m", call_id="c", request=request()),
        ToolCallAnswered(
            **AT, message_id="m", call_id="c", request_id="q", decision=Decision("deny", "d", reason="no")
        ),
    )
    card = answer.item().parts[0]
    assert (card.state, card.detail) == ("denied", "no")


def test_when_a_run_ends_nothing_is_left_waiting_and_the_failure_is_said():
    answer, _ = play(
        opened(),
        RetryScheduled(**AT, attempt=1, delay_s=2.0, code="model.rate_limited", detail="Busy."),
        ToolCallStarted(**AT, message_id="m", call_id="c", tool="bash", arguments={}, category="write"),
        RunEnded(**AT, reason="error", detail="The key was refused.", code="model.key_refused", next_step="Check it."),
    )
    parts = answer.item().parts
    assert [p.state for p in parts if isinstance(p, ToolPart)] == ["aborted"]
    notices = [p for p in parts if isinstance(p, NoticePart)]
    assert [n.text for n in notices] == ["The key was refused. Check it."]
    assert not answer.item().live


def test_ten_thousand_deltas_cost_one_join():
    answer, _ = play(opened())
    for _ in range(10_000):
        answer.apply(TextArrived(**AT, message_id="m", text="ab "))
    part = answer.item().parts[0]
    assert isinstance(part, TextPart)
    assert len(part.markdown) == 30_000


def test_events_that_do_not_concern_an_answer_change_nothing():
    answer, _ = play(opened())
    before = answer.item()
    assert answer.apply(
        ToolCallFinished(
            **AT,
            message_id="m",
            call_id="nobody",
            tool="x",
            state="done",
            text="",
            is_error=False,
            code="",
            elapsed_ms=0,
        )
    ) == (False, None)
    assert answer.item() == before


@pytest.mark.spec("R-LIM-5")
def test_a_run_that_the_store_refused_from_the_start_says_so_all_the_same():
    answer = LiveAnswer("Assistant", "demo/demo")
    ended = RunEnded(**AT, reason="error", detail="The disk is full.", code="store.full", usage=Usage())
    changed, _ = answer.apply(ended)
    assert changed
    item = answer.item()
    assert item.message_id
    assert [part.text for part in item.parts if isinstance(part, NoticePart)] == ["The disk is full."]


def test_what_the_app_says_of_an_answer_is_there_at_once_and_said_once():
    answer = LiveAnswer("Assistant", "demo/demo")
    answer.apply(opened())
    notice = NoticeBlock("The model answered with nothing.", "model.empty", "Try again.", "warning")
    answer.apply(MessageClosed(**AT, message_id="m", stop_reason="end", notices=(notice,)))
    answer.apply(RunEnded(**AT, reason="response", usage=Usage()))
    (part,) = answer.item().parts
    assert part.text == "The model answered with nothing. Try again."
    assert part.actions


def test_thousands_of_calls_become_some_cards_and_their_number():
    answer = LiveAnswer("Assistant", "demo/demo")
    answer.apply(opened())
    calls = tuple(ToolCallBlock(f"c{n}", "bash", {}, "{}", "") for n in range(5_000))
    for n in range(5_000):
        answer.apply(ToolCallWriting(**AT, message_id="m", index=n, tool="bash", characters=2))
    answer.apply(MessageClosed(**AT, message_id="m", stop_reason="tool_calls", tool_calls=calls))
    answer.apply(ToolCallStarted(**AT, message_id="m", call_id="c4999", tool="bash", arguments={}, category="write"))
    parts = answer.item().parts
    assert len(parts) == 201
    assert "4,800 more calls" in parts[-1].text


def test_a_stopped_answer_says_so_and_can_be_continued_unless_nothing_had_come():
    ended = RunEnded(**AT, reason="cancelled", detail="stopped by the person")
    answer, _ = play(opened(), TextArrived(**AT, message_id="m", text="half"), ended)
    item = answer.item()
    assert (item.can_continue, item.parts[-1].text) == (
        True,
        "This answer was stopped. Everything that had arrived is kept.",
    )
    assert [action.action for action in item.parts[-1].actions] == ["continue"]
    nothing, _ = play(ended)
    assert (nothing.item().can_continue, nothing.item().parts) == (False, ())


@pytest.mark.spec("R-AAT-9")
def test_a_call_of_an_agent_waits_for_what_that_agent_asks_and_keeps_its_own_arguments():
    below = replace(request(), call_id="below", thread_id="child", chain=("boss", "helper"))
    started = ToolCallStarted(
        **AT, message_id="m", call_id="c", tool="helper", arguments={"message": "go"}, category="write"
    )
    answer, _ = play(started, ToolCallWaiting(**AT, message_id="m", call_id="c", request=below))
    (part,) = answer.item().parts
    assert (part.state, part.request, part.chain) == ("waiting", below, ("boss", "helper"))
    assert "go" in part.arguments
    answered = {**AT, "message_id": "m", "call_id": "c", "decision": Decision("deny", "d")}
    answer.apply(ToolCallAnswered(**answered, request_id="another"))
    assert answer.item().parts[0].state == "waiting"
    answer.apply(ToolCallAnswered(**answered, request_id=below.request_id))
    assert (answer.item().parts[0].state, answer.item().parts[0].request) == ("running", None)
