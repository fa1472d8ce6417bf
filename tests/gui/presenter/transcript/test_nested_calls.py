"""Calls that a skill makes by itself: seen below the skill's card while a person is asked, told by that card after."""

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.runs.events import (
    MessageClosed,
    MessageOpened,
    RunEnded,
    ToolCallAnswered,
    ToolCallFinished,
    ToolCallStarted,
    ToolCallWaiting,
)
from desktop.pipeline.nested import NestedSink
from desktop.presenter.transcript.build import tool_part
from desktop.presenter.transcript.items import NestedCall, ToolPart
from desktop.presenter.transcript.live_answer import LiveAnswer

AT = {"thread_id": "t", "run_id": "r", "message_id": "m"}
NESTED = {"nested": [{"tool": "write-file", "state": "done", "elapsed_ms": 40}]}


def started(call_id, tool, parent=""):
    return ToolCallStarted(
        **AT, call_id=call_id, tool=tool, arguments={"path": f"{call_id}.txt"}, category="write", parent_call_id=parent
    )


def finished(call_id, state="done", **facts):
    return ToolCallFinished(
        **AT, call_id=call_id, tool="x", state=state, text="ok", is_error=False, code="", elapsed_ms=5, facts=facts
    )


def waiting(call_id):
    request = PermissionRequest(
        f"q-{call_id}",
        "r",
        "t",
        call_id,
        "write-file",
        "",
        Category.WRITE,
        "",
        ("assistant", "tidy", "write-file"),
        {"path": f"{call_id}.txt"},
        (),
        (),
        {},
        "d",
        0.0,
    )
    return ToolCallWaiting(**AT, call_id=call_id, request=request)


@pytest.fixture
def answer():
    """Two skills at work in one message."""
    made = LiveAnswer("Agent", "m")
    calls = (ToolCallBlock("a", "tidy", {}), ToolCallBlock("b", "tidy", {}))
    made.apply(MessageOpened(**AT, parent_id="u", side="a", author="a", round_number=0))
    made.apply(MessageClosed(**AT, stop_reason="tool_calls", tool_calls=calls))
    for call in calls:
        made.apply(started(call.call_id, "tidy"))
    return made


def cards(answer) -> list[tuple[str, str]]:
    return [(part.call_id, part.state) for part in answer.item().parts if isinstance(part, ToolPart)]


@pytest.mark.spec("R-PRM-8", "R-UI-1")
def test_a_skills_own_call_stands_below_the_skill_while_a_person_is_asked_and_then_goes(answer):
    for call in ("a1", "a2"):
        answer.apply(started(call, "write_file", "a"))
        answer.apply(waiting(call))
    assert cards(answer) == [("a", "running"), ("a1", "waiting"), ("a2", "waiting"), ("b", "running")]
    (nested,) = [part for part in answer.item().parts if part.call_id == "a1"]
    assert nested.request.request_id == "q-a1"
    assert nested.chain == ("assistant", "tidy", "write-file")
    answer.apply(ToolCallAnswered(**AT, call_id="a1", request_id="q-a1", decision=Decision("allow_once", "d")))
    assert ("a1", "running") in cards(answer)
    answer.apply(finished("a1"))
    answer.apply(finished("a2", "denied"))
    assert cards(answer) == [("a", "running"), ("b", "running")]
    answer.apply(finished("a", **NESTED))
    assert answer.item().parts[0].nested == (NestedCall("write-file", "done", 40),)


def test_a_run_that_ends_leaves_no_nested_card_behind(answer):
    answer.apply(started("a1", "write_file", "a"))
    answer.apply(waiting("a1"))
    answer.apply(RunEnded(thread_id="t", run_id="r", reason="cancelled"))
    assert cards(answer) == [("a", "aborted"), ("b", "aborted")]


def test_of_sinks_around_each_other_the_outermost_call_has_the_card():
    heard = []
    sink = NestedSink(NestedSink(heard.append, "card"), "inner")
    sink(started("x", "write_file"))
    assert heard == [], "nobody has to look yet"
    sink(waiting("x"))
    assert [(type(e).__name__, getattr(e, "parent_call_id", "")) for e in heard] == [
        ("ToolCallStarted", "card"),
        ("ToolCallWaiting", ""),
    ]


@pytest.mark.parametrize(
    ("listed", "read"),
    [
        (NESTED["nested"], (NestedCall("write-file", "done", 40),)),
        ([{"tool": "x" * 500, "state": "odd"}, 3, None], (NestedCall("x" * 64, "failed"),)),
        ([{"tool": "bash", "state": "done", "args": "y" * 5000}], (NestedCall("bash", "done", None, "y" * 161),)),
        ("write-file", ()),
        (None, ()),
    ],
)
def test_what_a_stored_result_says_of_nested_calls_is_read_with_care(listed, read):
    result = ToolResultBlock("a", "tidy", "ok", facts={"nested": listed})
    assert tool_part("m", ToolCallBlock("a", "tidy", {}), result).nested == read
