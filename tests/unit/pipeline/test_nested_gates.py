"""What a call makes in turn passes the gates for itself (R-TOOL-9)."""

from typing import Any

import pytest

from desktop.domain.judgement import Category
from desktop.domain.tools import ToolCallContext
from desktop.pipeline.names import Caller, ExactTools
from tests.unit.pipeline.kit import Bench, FakeTool, Person

CODE = Caller("code", ("assistant", "invoke"), ExactTools(("write-file", "read-file")))


class Nested:
    """``invoke``, which reads, and code in it that writes; the person answers each question in turn."""

    def __init__(self, *answers: str) -> None:
        self.person = Person(*answers)
        self.invocations: list[Any] = []
        self.writer = FakeTool("write-file", Category.WRITE)
        self.reader = FakeTool("read-file")
        outer = FakeTool("invoke", body=self._code)
        self.bench = Bench(outer, self.writer, self.reader, person=self.person, layers=[self])
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


@pytest.mark.spec("R-TOOL-9", "R-PRM-6")
async def test_that_the_outer_call_was_let_through_allows_nothing_inside_it() -> None:
    nested = Nested("deny", "deny")
    assert (await nested.bench.call("invoke")).state == "done"
    assert nested.writer.calls == []
    assert nested.reader.calls
