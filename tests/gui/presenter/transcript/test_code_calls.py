"""A call that runs code: what its card is told of the code and its outcome, live and from the stored thread."""

import json

import pytest

from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.runs.events import MessageClosed, MessageOpened, ToolCallFinished, ToolCallStarted
from desktop.presenter.transcript.build import tool_part
from desktop.presenter.transcript.code_calls import code_of, code_summary, ran
from desktop.presenter.transcript.items import CodeText, NestedCall, ToolPart
from desktop.presenter.transcript.live_answer import LiveAnswer

AT = {"thread_id": "t", "run_id": "r", "message_id": "m"}
SOURCE = "// what is there\n\nconst a = await ctx.manager.invoke('read-file', {path: 'a'});\nreturn a;"
CALL = ToolCallBlock("c", "invoke", {"code": SOURCE})


def outcome(**shown) -> str:
    return json.dumps({"ok": True, "stdout": "", "finished": False} | shown)


def live(text: str, *, is_error: bool = False, between=()) -> ToolPart:
    made = LiveAnswer("Agent", "m")
    made.apply(MessageOpened(**AT, parent_id="u", side="a", author="a", round_number=0))
    made.apply(MessageClosed(**AT, stop_reason="tool_calls", tool_calls=(CALL,)))
    made.apply(ToolCallStarted(**AT, call_id="c", tool="invoke", arguments=dict(CALL.arguments or {}), category="read"))
    for event in between:
        made.apply(event)
    state = "failed" if is_error else "done"
    made.apply(
        ToolCallFinished(
            **AT, call_id="c", tool="invoke", state=state, text=text, is_error=is_error, code="", elapsed_ms=5, facts={}
        )
    )
    (part,) = made.item().parts
    assert isinstance(part, ToolPart)
    return part


@pytest.mark.spec("R-COD-18")
@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        (outcome(value={"n": 1}, stdout="seen", finished=True), False),
        (outcome(ok=False, error={"name": "TypeError", "message": "no", "line": 3}, note="gone"), True),
        ("The run was stopped.", True),
    ],
)
def test_a_live_call_and_the_stored_one_tell_the_same_of_code(text: str, is_error: bool) -> None:
    stored = tool_part("m", CALL, ToolResultBlock("c", "invoke", text, is_error=is_error))
    now = live(text, is_error=is_error)
    assert now.code == stored.code
    assert now.code is not None
    assert now.code.source == SOURCE
    assert now.summary == stored.summary == "const a = await ctx.manager.invoke('read-file', {path: 'a'});"


@pytest.mark.spec("R-COD-12", "R-COD-18")
def test_of_code_that_finished_the_result_is_shown_and_not_what_it_returned() -> None:
    shown = ran(CodeText("x"), outcome(value=8, finished=True, result={"n": 7}), is_error=False)
    assert (shown.value, shown.finished) == ('{\n  "n": 7\n}', True)
    assert ran(CodeText("x"), outcome(value=8, result=7), is_error=False).value == "8"


def test_the_outcome_is_read_as_far_as_it_can_be_read() -> None:
    code = CodeText("x")
    done = ran(code, outcome(value={"n": 1}, stdout="a\nb", finished=True), is_error=False)
    assert (done.value, done.stdout, done.finished, done.error) == ('{\n  "n": 1\n}', "a\nb", True, "")
    failed = ran(code, outcome(ok=False, error={"name": "TypeError", "message": "no", "line": 3}), is_error=True)
    assert (failed.error, failed.line, failed.value) == ("TypeError: no", 3, "")
    assert ran(code, outcome(value=None), is_error=False).value == ""
    assert ran(code, outcome(value=0), is_error=False).value == "0"
    assert ran(code, outcome(ok=False), is_error=True).error == "It failed."
    strange = ran(code, outcome(ok=False, error=["x"], stdout=7, note=None), is_error=True)
    assert (strange.error, strange.line, strange.stdout, strange.note) == ('[\n  "x"\n]', 0, "7", "")
    assert ran(code, outcome(ok=False, error={"name": "E", "line": True}), is_error=True).line == 0
    for text in ("nothing", "[" * 100_000, '{"ok": 1}', "[]"):
        assert ran(code, text, is_error=False).value == text
        assert ran(code, text, is_error=True).error == text


def test_only_the_call_that_runs_code_is_shown_as_code() -> None:
    assert code_of("invoke", {"code": "1"}) == CodeText("1")
    assert code_of("agent-code", {"code": "1"}) == CodeText("1")
    assert code_of("other", {"code": "1"}) is None
    assert code_of("invoke", {"code": 1}) is None
    assert code_of("invoke", None) is None


def test_its_summary_is_the_first_line_that_does_something() -> None:
    assert code_summary("'use strict';\n/* a\n * b */\n{\n  let x = 1;\n}") == "let x = 1;"
    assert code_summary("// only a remark") == "// only a remark"
    assert code_summary(" \n") == ""


def test_calls_of_code_that_is_still_running_are_told_as_they_end() -> None:
    nested = {"call_id": "n", "tool": "read_file"}
    start = ToolCallStarted(**AT, **nested, arguments={"path": "a"}, category="read", parent_call_id="c")
    end = ToolCallFinished(**AT, **nested, state="done", text="", is_error=False, code="", elapsed_ms=3, facts={})
    part = live(outcome(value=1), between=(start, end))
    assert part.nested == (NestedCall("read-file", "done", 3, "a"),)
