"""The gates in their final order, and what each refuses with."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.errors import BoundaryViolation, Denied, ToolFailure
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.middleware import CallNext, FunctionContext, MiddlewareTermination
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult
from desktop.pipeline.gates import NOT_ANSWERED
from desktop.pipeline.names import Caller, ExactTools
from desktop.pipeline.pipeline import CallSettings
from tests.harness.timeouts import WAIT_S
from tests.unit.pipeline.kit import Bench, FakeTool, Person


class OneCall:
    """A limit that the second call breaks."""

    def __init__(self) -> None:
        self.counted = 0

    def count_call(self) -> None:
        self.counted += 1

    def refuse_call(self) -> Limit | None:
        return Limit("maxSteps", 1, "the skill") if self.counted > 1 else None


def writer(**options: object) -> FakeTool:
    return FakeTool("write-file", Category.WRITE, **options)  # type: ignore[arg-type]


@pytest.mark.spec("R-INV-1", "R-LOOP-4")
@pytest.mark.parametrize("fails", [False, True])
async def test_a_call_passes_the_gates_runs_once_and_what_came_of_it_is_told_under_its_id(fails: bool) -> None:
    def content(args: Any, _context: ToolCallContext) -> ToolResult:
        return ToolResult(f"content of {args['path']}", is_error=fails)

    tool, person, limits = FakeTool(body=content), Person(), OneCall()
    bench = Bench(tool, person=person)
    outcome = await bench.call("read_file", {"path": "notes.txt"}, limits=limits)
    assert (tool.prechecks, person.decided, limits.counted) == (1, ["read-file"], 1)
    assert tool.calls == [{"path": "notes.txt"}]
    state = "failed" if fails else "done"
    assert (outcome.result.text, outcome.state) == ("content of notes.txt", state)
    assert bench.names == ["ToolCallStarted", "ToolCallFinished"]
    told = bench.events[-1]
    assert (told.call_id, told.result_message_id) == ("c1", "m2")
    assert (told.text, told.is_error, told.state) == ("content of notes.txt", fails, state)
    block = outcome.block(ToolCallBlock("c1", "read_file", {}))
    assert (block.call_id, block.text, block.is_error) == ("c1", "content of notes.txt", fails)
    assert outcome.facts["category"] == "read"
    assert outcome.facts["bytes"] == len("content of notes.txt")


@pytest.mark.spec("R-TOOL-2", "R-TOOL-3", "R-INV-17")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [({}, '"path" is a required'), ({"path": 3}, "path: 3 is not of type"), ({"path": "a", "mode": 1}, "mode")],
)
async def test_invalid_arguments_are_named_to_the_model_and_neither_run_nor_asked_about(arguments, named) -> None:
    tool, person = writer(), Person("allow_once")
    outcome = await Bench(tool, person=person).call("write_file", arguments)
    assert outcome.result.is_error
    assert outcome.result.code == "tool.validation"
    assert named in outcome.result.text
    assert (tool.calls, tool.prechecks, person.decided) == ([], 0, [])


@pytest.mark.spec("R-LOOP-13")
async def test_arguments_that_were_no_json_object_are_answered_with_the_parse_message() -> None:
    outcome = await Bench(FakeTool()).call("read_file", problem="Expecting ',' at line 1")
    assert "Expecting ','" in outcome.result.text
    assert outcome.state == "failed"


def rejecting(kind: str) -> tuple[FakeTool, Caller, object, object]:
    """A write call that one of the gates 6 to 9 rejects."""
    tool, caller, limits, arguments = writer(), Caller(), None, {"path": "a"}
    if kind == "denied.allowed_tools":
        caller = Caller(allowed=ExactTools(("read-file",)))
    elif kind == "tool.validation":
        arguments = {}
    elif kind == "denied.limit":
        limits = OneCall()
        limits.counted = 1
    elif kind == "denied.boundary":
        tool.checks = lambda _: PreCheck(Category.WRITE, denied=BoundaryViolation("outside the allowed folders"))
    else:
        tool.checks = lambda _: PreCheck(Category.ADMIN, denied=Denied("rm -rf /", code="denied.blocklist"))
    return tool, caller, limits, arguments


@pytest.mark.spec("R-INV-2", "R-INV-17", "R-BLK-1", "R-FS-7", "R-LIM-8")
@pytest.mark.parametrize(
    "code", ["denied.allowed_tools", "tool.validation", "denied.limit", "denied.boundary", "denied.blocklist"]
)
async def test_nobody_is_asked_about_a_call_that_an_earlier_gate_rejects(code: str) -> None:
    tool, caller, limits, arguments = rejecting(code)
    person = Person("allow_once")
    bench = Bench(tool, person=person)
    outcome = await bench.call("write_file", arguments, caller=caller, limits=limits)
    assert outcome.result.code == code
    assert person.decided == []
    assert tool.calls == []
    assert "ToolCallWaiting" not in bench.names


@pytest.mark.spec("R-INV-3", "R-VIS-1")
async def test_an_absent_list_allows_all_an_empty_one_nothing_and_names_are_exact() -> None:
    bench = Bench(FakeTool("read-file"), FakeTool("read-file-all"))
    for entries, allowed in ((None, True), ((), False), (("read-file",), True), (("*",), True), (("read",), False)):
        outcome = await bench.call("read_file", caller=Caller(allowed=ExactTools(entries)))
        assert (outcome.state == "done") is allowed, entries


@pytest.mark.spec("R-RES-20", "R-LOOP-3")
async def test_an_unknown_tool_is_answered_with_near_matches() -> None:
    outcome = await Bench(FakeTool("read-file"), writer()).call("read_fil")
    assert outcome.result.is_error
    assert "Did you mean read_file" in outcome.result.text


@pytest.mark.spec("R-VIS-6", "R-VIS-1")
async def test_a_hidden_tool_answers_only_callers_that_name_it_exactly() -> None:
    bench = Bench(FakeTool("inner", visibility="hidden"))
    assert (await bench.call("inner")).result.code == "denied.visibility"
    assert (await bench.call("inner", caller=Caller(allowed=ExactTools(("*",))))).result.code == "denied.visibility"
    assert (await bench.call("inner", caller=Caller(allowed=ExactTools(("inner",))))).state == "done"
    assert (await bench.call("inner", caller=Caller("skill"))).state == "done"


@pytest.mark.spec("Q-3")
async def test_code_of_a_model_may_use_only_plain_names() -> None:
    bench = Bench(FakeTool("read-file"))
    for ref in ("read_file", "inline://x", "../read-file", "Read-file", "file:///read-file", "a--b"):
        assert (await bench.call(ref, caller=Caller("code"))).result.code == "denied.untrusted_ref", ref
    assert (await bench.call("read-file", caller=Caller("code"))).state == "done"


@pytest.mark.spec("R-PRM-1", "R-TOOL-5", "R-PRM-4")
async def test_write_and_admin_ask_and_read_does_not() -> None:
    person = Person("allow_once", "deny")
    admin = FakeTool("bash", Category.ADMIN)
    bench = Bench(FakeTool(), writer(), admin, person=person)
    assert (await bench.call("read_file")).state == "done"
    assert person.asked == []
    assert (await bench.call("write_file")).state == "done"
    denied = await bench.call("bash")
    assert (denied.state, denied.result.code) == ("denied", "denied.permission")
    assert denied.result.text.startswith("Permission denied by user")
    assert bench.names[-4:] == ["ToolCallStarted", "ToolCallWaiting", "ToolCallAnswered", "ToolCallFinished"]
    assert admin.calls == []


@pytest.mark.spec("R-PRM-6")
async def test_without_anybody_to_ask_only_read_runs() -> None:
    bench = Bench(FakeTool(), writer())
    assert (await bench.call("read_file")).state == "done"
    assert (await bench.call("write_file")).result.code == "denied.permission"


@pytest.mark.spec("R-TOOL-4")
async def test_the_category_is_raised_by_the_precheck_and_never_lowered() -> None:
    raised = FakeTool("write-file", Category.WRITE, checks=lambda _: PreCheck(Category.ADMIN, "a system path"))
    lowered = FakeTool("bash", Category.WRITE, checks=lambda _: PreCheck(Category.READ))
    person = Person("allow_once", "allow_once")
    bench = Bench(raised, lowered, person=person)
    await bench.call("write_file")
    await bench.call("bash")
    assert [(r.category, r.raised_because) for r in person.asked] == [
        (Category.ADMIN, "a system path"),
        (Category.WRITE, ""),
    ]


@pytest.mark.spec("R-PRM-5", "R-INV-8")
async def test_what_was_approved_is_what_runs_whatever_middleware_does_to_the_arguments() -> None:
    class Meddles:
        async def process(self, context: FunctionContext, call_next: CallNext) -> None:
            context.arguments["path"] = "/etc/passwd"
            await call_next()

    tool = writer()
    await Bench(tool, person=Person("allow_once"), layers=[Meddles()]).call("write_file", {"path": "mine"})
    assert tool.calls == [{"path": "mine"}]


@pytest.mark.spec("R-PRM-5")
async def test_a_file_that_changed_while_the_person_thought_voids_the_approval_and_asks_again() -> None:
    identities = iter(["absent", "1:2:3", "1:2:3"])
    tool = writer(checks=lambda _: PreCheck(Category.WRITE, identity={"a": next(identities)}))
    person = Person("allow_once", "deny")
    outcome = await Bench(tool, person=person).call("write_file")
    assert [request.stale for request in person.asked] == [False, True]
    assert outcome.state == "denied"
    assert tool.calls == []


@pytest.mark.spec("R-LIM-4", "R-LIM-8", "R-LIM-5")
async def test_refused_calls_count_and_the_limit_names_itself() -> None:
    limits = OneCall()
    bench = Bench(FakeTool())
    assert (await bench.call("nothing", limits=limits)).result.is_error
    outcome = await bench.call("read_file", limits=limits)
    assert outcome.result.code == "denied.limit"
    assert "maxSteps 1 (set by the skill)" in outcome.result.text


@pytest.mark.spec("R-INV-16")
async def test_calls_nest_32_deep_and_no_deeper() -> None:
    bench = Bench(FakeTool())
    node = bench.root
    for _ in range(31):
        node = node.child("read-file", {})
    assert (await bench.call("read_file", parent=node)).state == "done"
    outcome = await bench.call("read_file", parent=node.child("read-file", {}))
    assert outcome.result.code == "denied.limit"


@pytest.mark.spec("R-INV-7", "R-CAN-8")
def test_scratch_stays_inherited_values_copy_and_shared_ones_are_shared() -> None:
    root = Bench().root
    root.local["mine"], root.inherited["topic"], root.shared["cache"] = 1, "a", {}
    child = root.child("t", {})
    child.inherited["topic"] = "b"
    child.shared["cache"] = "filled"
    assert child.local == {}
    assert (root.inherited["topic"], root.shared["cache"]) == ("a", "filled")
    assert child.meta.run_id == root.meta.run_id
    assert child.meta.trace_id != root.meta.trace_id


@pytest.mark.spec("R-TMO-1", "R-TMO-3", "R-TMO-4")
async def test_a_tool_over_its_time_is_left_behind_with_what_it_had() -> None:
    async def slow(_: object, __: ToolCallContext) -> ToolResult:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return ToolResult("half of it")
        raise AssertionError

    outcome = await Bench(FakeTool(body=slow, timeout_s=0.03)).call("read_file")
    assert outcome.result.code == "tool.timeout"
    assert "0.03 s" in outcome.result.text
    assert "half of it" in outcome.result.text


@pytest.mark.spec("R-PRM-10", "R-TMO-1")
async def test_time_that_a_person_takes_does_not_count_for_the_tool_around_the_question() -> None:
    person = Person("allow_once", wait=2.0)
    inner = writer()
    bench = Bench(inner, person=person)

    async def outer_body(_: object, context: ToolCallContext) -> str:
        parent = next(frame for frame in opened)
        return (await bench.call("write_file", parent=parent)).result.text

    opened: list = []

    class Remember:
        async def process(self, context, call_next: CallNext) -> None:
            if context.tool == "outer":
                opened.append(context.invocation)
            await call_next()

    outer = FakeTool("outer", body=outer_body, timeout_s=1.5)
    bench = Bench(outer, inner, person=person, layers=[Remember()], settings=CallSettings(margin_s=0.0))
    outcome = await bench.call("outer")
    assert outcome.state == "done", outcome.result.text
    assert inner.calls


@pytest.mark.spec("R-TMO-7", "R-CAN-10", "R-TOOL-6")
async def test_an_abort_ends_a_running_tool_at_once_even_one_that_ignores_it() -> None:
    release = asyncio.Event()

    async def stubborn(_: object, context: ToolCallContext) -> str:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    bench, loop = Bench(FakeTool(body=stubborn)), asyncio.get_running_loop()
    loop.call_later(0.02, bench.token.cancel, "stopped by the person")
    given_up = loop.call_later(WAIT_S, release.set)
    outcome = await bench.call("read_file")
    assert not release.is_set(), "the tool was waited for"
    assert (outcome.state, outcome.result.text) == ("aborted", "Operation aborted")
    given_up.cancel()
    release.set()
    await bench.owner.close()


@pytest.mark.spec("R-CAN-11")
async def test_a_cancelled_task_stays_cancelled_and_takes_its_tool_with_it() -> None:
    ended = asyncio.Event()

    async def waits(_: object, __: object) -> str:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()
        return ""

    bench = Bench(FakeTool(body=waits))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(bench.call("read_file"))
        await asyncio.sleep(0.02)
        task.cancel()
    assert task.cancelled()
    await asyncio.wait_for(ended.wait(), WAIT_S)


@pytest.mark.spec("R-PRM-9")
async def test_an_abort_while_a_person_is_asked_closes_the_question_and_nobody_is_told_of_a_no() -> None:
    class Waits:
        async def decide(self, call, asking) -> Decision:
            request = await _request(call)
            asking(request)
            await call.meta.cancellation.wait()
            return Decision("deny", request.digest, by="cancelled")

    tool = writer()
    bench = Bench(tool, person=Waits())  # type: ignore[arg-type]
    asyncio.get_running_loop().call_later(0.02, bench.token.cancel)
    outcome = await bench.call("write_file")
    assert (outcome.state, outcome.result.text) == ("aborted", NOT_ANSWERED)
    assert tool.calls == []
    assert bench.events[-2].decision.by == "cancelled"


@pytest.mark.spec("R-PRM-9", "R-CAN-11")
async def test_a_question_whose_call_was_cancelled_is_told_to_be_over() -> None:
    class Waits:
        async def decide(self, call, asking) -> Decision:
            asking(await _request(call))
            await asyncio.sleep(3600)
            raise AssertionError("nobody answered")

    tool = writer()
    bench = Bench(tool, person=Waits())  # type: ignore[arg-type]
    task = asyncio.ensure_future(bench.call("write_file"))
    async with asyncio.timeout(WAIT_S):
        while "ToolCallWaiting" not in bench.names:
            await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    answered = next(event for event in bench.events if type(event).__name__ == "ToolCallAnswered")
    assert (answered.request_id, answered.decision.choice, answered.decision.by) == ("r", "deny", "cancelled")
    assert (answered.decision.digest, tool.calls) == ("digest", [])


async def _request(call) -> PermissionRequest:
    person = Person("deny")
    seen: list[PermissionRequest] = []
    await person.decide(call, seen.append)
    return seen[0]


@pytest.mark.spec("R-LOOP-3", "R-FS-7")
@pytest.mark.parametrize(
    ("refusal", "code", "text"),
    [
        (PermissionError("/etc is not yours"), "denied.boundary", "/etc is not yours"),
        (PermissionError(), "denied.boundary", "Refused."),
        (ToolFailure("There is no file a.", code="file.not_found"), "file.not_found", "There is no file a."),
    ],
    ids=["another error", "another error without words", "one of ours"],
)
async def test_a_call_that_its_tool_refuses_beforehand_is_denied_in_the_words_of_the_refusal(
    refusal: Exception, code: str, text: str
) -> None:
    tool, person = writer(checks=lambda _args: PreCheck(Category.WRITE, denied=refusal)), Person("allow_once")
    outcome = await Bench(tool, person=person).call("write_file")
    assert (outcome.result.code, outcome.result.text.partition("\n")[0]) == (code, text)
    assert (tool.calls, person.asked) == ([], [])


@pytest.mark.spec("R-LOOP-3", "R-RET-3")
async def test_only_a_result_that_is_no_error_is_held_against_what_the_tool_declares() -> None:
    def body(args: Any, _context: object) -> ToolResult:
        return ToolResult("it said", is_error=args["path"] == "fails", structured={"n": "no number"})

    tool = FakeTool(body=body)
    tool.spec = replace(tool.spec, returns={"type": "object", "properties": {"n": {"type": "number"}}})
    failed = (await Bench(tool).call("read_file", {"path": "fails"})).result
    assert (failed.text, failed.is_error) == ("it said", True)
    other = (await Bench(tool).call("read_file", {"path": "works"})).result
    assert other.is_error
    assert other.text.startswith("read-file returned something else than it declares")


@pytest.mark.spec("R-LOOP-3")
async def test_whatever_a_tool_raises_becomes_content() -> None:
    def explode(_: object, __: object) -> str:
        raise ZeroDivisionError("by zero")

    outcome = await Bench(FakeTool(body=explode)).call("read_file")
    assert (outcome.result.is_error, outcome.state) == (True, "failed")
    assert "by zero" in outcome.result.text


@pytest.mark.spec("R-TMO-5")
@pytest.mark.parametrize("text", ["x" * 500, "ü" * 300, "👍" * 200])
async def test_output_over_the_limit_is_cut_at_a_character_with_both_sizes_named(text: str) -> None:
    bench = Bench(FakeTool(body=lambda *_: text), settings=CallSettings(output_limit=lambda: 101))
    result = (await bench.call("read_file")).result
    kept, notice = result.text.rsplit("\n", 1)
    assert text.startswith(kept)
    assert 97 < len(kept.encode()) <= 101
    assert str(len(text.encode())) in notice


@pytest.mark.spec("R-MW-4")
async def test_a_termination_at_function_level_is_an_error_result() -> None:
    class Halts:
        async def process(self, context: FunctionContext, call_next: CallNext) -> None:
            raise MiddlewareTermination("quota of the day is used up")

    tool = FakeTool()
    outcome = await Bench(tool, layers=[Halts()]).call("read_file")
    assert (outcome.result.is_error, outcome.result.text) == (True, "quota of the day is used up")
    assert tool.calls == []


@pytest.mark.spec("R-MW-7")
@pytest.mark.expects_log("an observing middleware failed")
async def test_user_middleware_stands_behind_the_gates_and_an_observer_before_them_changes_nothing() -> None:
    seen: list[str] = []

    class Watches:
        observe_only = True

        async def process(self, context: FunctionContext, call_next: CallNext) -> None:
            await call_next()
            seen.append(f"watched {context.tool}")
            context.result = ToolResult("forged")
            raise RuntimeError("an observer's own trouble")

    class Wraps:
        async def process(self, context: FunctionContext, call_next: CallNext) -> None:
            seen.append(f"wrapped {context.tool}")
            await call_next()

    bench = Bench(FakeTool(), layers=[Wraps(), Watches()])
    outcome = await bench.call("read_file", {})
    assert seen == []  # a refusal passes through the observer as an error
    outcome = await bench.call("read_file")
    assert outcome.result.text == "did read-file"
    assert seen == ["wrapped read-file", "watched read-file"]


@pytest.mark.spec("R-TOOL-7")
def test_the_schema_sent_is_the_object_that_validates() -> None:
    tool = FakeTool()
    pipeline = Bench(tool).pipeline
    schema = pipeline.schema(tool.spec)["parameters"]
    assert schema is pipeline.validator.schema(tool.spec)
    assert schema["additionalProperties"] is False
    assert "additionalProperties" not in tool.params


@pytest.mark.spec("R-SK-5", "R-TOOL-3")
async def test_a_tool_without_parameters_takes_none_and_an_open_schema_takes_any() -> None:
    anything = {"type": "object", "additionalProperties": True}
    bench = Bench(FakeTool("none", params={}), FakeTool("open", params=anything))
    assert (await bench.call("none", {})).state == "done"
    assert (await bench.call("none", {"a": 1})).result.code == "tool.validation"
    assert (await bench.call("open", {"a": 1})).state == "done"


async def test_a_broken_or_remote_schema_is_an_error_result_and_fetches_nothing() -> None:
    bench = Bench(FakeTool("a", params={"type": "nonsense"}), FakeTool("b", params={"$ref": "http://127.0.0.1:9/x"}))
    for name in ("a", "b"):
        assert (await bench.call(name, {})).result.code == "configuration"
