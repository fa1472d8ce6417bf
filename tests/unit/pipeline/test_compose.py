"""One onion for agent runs, model requests and tool calls."""

from __future__ import annotations

import pytest

from desktop.domain.errors import BugError
from desktop.domain.messages import ChatMessage
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import AgentContext, CallNext, ChatContext, FunctionContext, MiddlewareContext
from desktop.domain.tools import ToolResult
from desktop.pipeline.compose import compose

META = RunMeta("run", CancellationToken())


class Layer:
    def __init__(self, name: str, trail: list[str], times: int = 1, retries: bool = False) -> None:
        self.name, self.trail, self.times, self.retries = name, trail, times, retries

    async def process(self, context: MiddlewareContext, call_next: CallNext) -> None:
        self.trail.append(f"{self.name} in")
        for _ in range(self.times):
            await call_next()
        self.trail.append(f"{self.name} out")


def core(context: FunctionContext, trail: list[str]) -> CallNext:
    async def run() -> None:
        trail.append("core")
        context.result = ToolResult("done")

    return run


@pytest.mark.spec("R-INV-4", "R-MW-1", "R-MW-2", "R-MW-9")
async def test_the_first_layer_is_outermost_and_the_result_travels_through_the_context() -> None:
    trail: list[str] = []
    context = FunctionContext(META)
    await compose([Layer("a", trail), Layer("b", trail)])(context, core(context, trail))
    assert trail == ["a in", "b in", "core", "b out", "a out"]
    assert context.result == ToolResult("done")


@pytest.mark.spec("R-INV-5", "R-MW-5")
async def test_calling_next_twice_is_a_bug_unless_the_layer_declares_retries() -> None:
    trail: list[str] = []
    context = FunctionContext(META)
    with pytest.raises(BugError, match="twice"):
        await compose([Layer("twice", trail, times=2)])(context, core(context, trail))
    trail.clear()
    await compose([Layer("again", trail, times=2, retries=True)])(context, core(context, trail))
    assert trail.count("core") == 2


@pytest.mark.spec("R-MW-3")
@pytest.mark.parametrize("context", [AgentContext(META), ChatContext(META), FunctionContext(META)])
async def test_a_layer_that_stops_the_chain_must_have_set_the_result(context: MiddlewareContext) -> None:
    async def never() -> None:
        raise AssertionError("the core must not run")

    with pytest.raises(BugError, match="neither"):
        await compose([Layer("mute", [], times=0)])(context, never)

    class Answers:
        async def process(self, context: MiddlewareContext, call_next: CallNext) -> None:
            if isinstance(context, ChatContext):
                context.response = ChatMessage("assistant", ())
            else:
                context.result = "mine"

    await compose([Answers()])(context, never)


@pytest.mark.spec("R-MW-3")
async def test_a_layer_that_leaves_no_answer_of_a_model_is_named() -> None:
    class Junk(Layer):
        async def process(self, context: MiddlewareContext, call_next: CallNext) -> None:
            await call_next()
            context.response = "a text"

    async def answered() -> None:
        context.response = ChatMessage("assistant", ())

    context = ChatContext(META)
    with pytest.raises(BugError, match="the junk left a str"):
        await compose([Layer("outer", []), Junk("the junk", [])])(context, answered)


async def test_what_the_core_raises_passes_every_layer() -> None:
    async def broken() -> None:
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        await compose([Layer("a", [])])(FunctionContext(META), broken)
