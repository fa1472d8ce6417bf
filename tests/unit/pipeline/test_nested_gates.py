"""What a call makes in turn passes the gates for itself (R-TOOL-9)."""

from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.tools import ToolCallContext
from desktop.pipeline.names import Caller, ExactTools
from tests.unit.pipeline.kit import Bench, FakeTool, Person

CODE = Caller("code", ("assistant", "invoke"), ExactTools(("write-file", "read-file")))


class Nested:
    """``invoke``, and code in it that writes; the person answers each question in turn, if there is one."""

    def __init__(self, *answers: str, outer: Category = Category.READ, attended: bool = True) -> None:
        self.person = Person(*answers)
        self.invocations: list[Any] = []
        self.writer = FakeTool("write-file", Category.WRITE)
        self.reader = FakeTool("read-file")
        invoke = FakeTool("invoke", outer, body=self._code)
        person = self.person if attended else None
        self.bench = Bench(invoke, self.writer, self.reader, person=person, layers=[self])
        self.states: list[str] = []

    async def process(self, context: Any, call_next: Any) -> None:
        """A layer, to learn in which invocation the code runs."""
        if context.tool == "invoke":
            self.invocations.append(context.invocation)
        await call_next()

    async def _code(self, _args: object, _context: ToolCallContext) -> str:
        for tool in ("read-file", "write-file", "write-file", "bash"):
            outcome = await self.bench.call(tool, caller=CODE, parent=self.invocations[-1])
            self.states.append(outcome.state)
        return "the code ended"


@pytest.mark.spec("R-TOOL-9", "R-PRM-1")
async def test_code_is_read_and_each_write_it_makes_is_asked_about_for_itself() -> None:
    nested = Nested("allow_once", "deny")
    outcome = await nested.bench.call("invoke")
    assert (outcome.state, outcome.facts["category"]) == ("done", "read")
    assert nested.person.decided == ["invoke", "read-file", "write-file", "write-file"]
    assert [request.tool for request in nested.person.asked] == ["write-file", "write-file"]
    assert nested.states == ["done", "done", "denied", "failed"], "an unknown tool fails before anyone is asked"
    assert len(nested.writer.calls) == 1


@pytest.mark.spec("R-TOOL-9")
@pytest.mark.parametrize("answer", ["allow_once", "allow_run"])
async def test_that_a_person_allowed_the_outer_call_allows_nothing_inside_it(answer: str) -> None:
    nested = Nested(answer, "deny", "deny", outer=Category.WRITE)
    assert (await nested.bench.call("invoke")).state == "done"
    assert [request.tool for request in nested.person.asked] == ["invoke", "write-file", "write-file"]
    assert nested.states == ["done", "denied", "denied", "failed"]
    assert nested.writer.calls == []
    assert len(nested.reader.calls) == 1


@pytest.mark.spec("R-TOOL-9", "R-PRM-6")
async def test_where_nobody_can_be_asked_code_may_read_and_nothing_more() -> None:
    nested = Nested(attended=False)
    assert (await nested.bench.call("invoke")).state == "done"
    assert nested.states == ["done", "denied", "denied", "failed"]
    assert nested.writer.calls == []
    assert len(nested.reader.calls) == 1
    outside = Nested(attended=False, outer=Category.WRITE)
    assert (await outside.bench.call("invoke")).state == "denied"
    assert (outside.states, outside.reader.calls) == ([], [])
