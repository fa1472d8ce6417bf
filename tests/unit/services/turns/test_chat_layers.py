"""What layers around a run and around its model requests make of it reaches the thread (R-MW-3, R-MW-4, R-MW-9)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.messages import ChatMessage, TextBlock
from desktop.domain.models import ModelAnswer
from desktop.domain.runs.events import MessageClosed, RunEnded, RunWaiting, TextArrived
from desktop.domain.runs.middleware import MiddlewareTermination
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.presenter.transcript.items import TextPart
from desktop.presenter.transcript.live_answer import LiveAnswer
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.debates.kit import debate_world, setup
from tests.unit.services.kit import world


class Layer:
    """Does what it is told around what it wraps, and notes what it wrapped."""

    name = "the test's layer"

    def __init__(self, before=None, after=None):
        self.before, self.after, self.wrapped = before, after, []

    async def process(self, context, call_next):
        self.wrapped.append(getattr(context, "agent", context.level))
        if self.before is None or not self.before(context):
            await call_next()
        if self.after is not None:
            self.after(context)


def cached(context):
    context.response = ModelAnswer(ChatMessage("assistant", (TextBlock("from the cache"),), "end"))
    return True


def redacted(context):
    given = context.response
    blocks = (TextBlock(given.message.text.replace("secret", "***")), *given.message.tool_calls)
    context.response = replace(given, message=replace(given.message, blocks=blocks))


def shown(events) -> str:
    """What stands on the screen at the end."""
    live = LiveAnswer("a", "m")
    for event in events:
        live.apply(event)
    return "".join(part.markdown for part in live.item().parts if isinstance(part, TextPart))


@pytest.mark.spec("R-MW-3", "R-MW-9")
async def test_an_answer_that_a_layer_gives_in_the_place_of_the_model_stands_in_the_thread(tmp_path: Path) -> None:
    model = ScriptedModel([says("never")])
    async with world(tmp_path, model, chat_layers=(Layer(cached),)) as w:
        path = await w.ask(thread := await w.thread(), "hello")
        assert path[-1].text == "from the cache"
        assert "".join(e.text for e in w.events if isinstance(e, TextArrived)) == "from the cache"
        assert [hit.thread_id for hit in await w.store.search.messages(text="cache")] == [thread]


@pytest.mark.spec("R-MW-9", "R-CTX-3")
async def test_what_a_layer_makes_of_an_answer_replaces_what_had_streamed_in_the_thread_and_on_the_screen(
    tmp_path: Path,
) -> None:
    leak = [*says("a secret, "), *calls("look", {"path": "x"})]
    model = ScriptedModel([leak, says("the secret is out")])
    async with world(tmp_path, model, FakeTool("look"), chat_layers=(Layer(after=redacted),)) as w:
        path = await w.ask(await w.thread(), "hello")
        said = [message.text for message in path if message.role == "assistant"]
        assert "secret" not in "".join(said)
        assert said[-1] == "the *** is out"
        assert shown(w.events).endswith("the *** is out")
        assert "secret" not in shown(w.events)
        assert any(e.tool_calls and e.amended for e in w.events if isinstance(e, MessageClosed))
        assert await w.store.search.messages(text="secret") == []


@pytest.mark.spec("R-MW-3")
@pytest.mark.expects_log("the test's layer")
@pytest.mark.parametrize("junk", ["a text", 7, None])
async def test_a_layer_that_leaves_no_answer_is_named(tmp_path: Path, junk) -> None:
    def leave(context):
        context.response = junk

    async with world(tmp_path, ScriptedModel([says("x")]), chat_layers=(Layer(after=leave),)) as w:
        await w.ask(await w.thread(), "hello")
        assert w.ends()[0].reason == "error"


def noting(order: list[str], what: str) -> Layer:
    return Layer(lambda _context: order.append(f"{what} begins"), lambda _context: order.append(f"{what} ends"))


@pytest.mark.spec("R-MW-6")
async def test_all_requests_and_calls_of_a_chat_are_inside_its_agent_layers(tmp_path: Path) -> None:
    order: list[str] = []
    look = FakeTool("look", body=lambda _args, _context: order.append("call") or "seen")
    layers = {"agent_layers": (noting(order, "agent"),), "chat_layers": (noting(order, "request"),)}
    model = ScriptedModel([calls("look", {"path": "x"}), says("hi")])
    async with world(tmp_path, model, look, **layers) as w:
        await w.ask(await w.thread(), "hello")
        assert w.ends()[0].reason == "response"
    asked = ["request begins", "request ends"]
    assert order == ["agent begins", *asked, "call", *asked, "agent ends"]


@pytest.mark.spec("R-MW-4")
async def test_an_agent_layer_may_end_a_run_of_which_nothing_else_runs_then(tmp_path: Path) -> None:
    def halt(context):
        raise MiddlewareTermination("Not today.")

    model, inside = ScriptedModel([says("never")]), Layer()
    async with world(tmp_path, model, agent_layers=(Layer(halt), inside)) as w:
        path = await w.ask(await w.thread(), "hello")
        assert (w.ends()[0].reason, w.ends()[0].detail) == ("terminated", "Not today.")
        assert [message.text for message in path if message.role == "assistant"] in ([], [""])
    assert (model.requests, inside.wrapped) == ([], [])


@pytest.mark.spec("R-MW-3", "R-MW-9")
async def test_what_an_agent_layer_answers_itself_stands_in_the_thread(tmp_path: Path) -> None:
    def closed(context):
        context.result = "We are closed."
        return True

    async with world(tmp_path, ScriptedModel([says("never")]), agent_layers=(Layer(closed),)) as w:
        path = await w.ask(await w.thread(), "hello")
        assert [message.text for message in path] == ["hello", "We are closed."]
        assert w.ends()[0].reason == "response"


@pytest.mark.spec("R-MW-6")
async def test_the_turns_of_a_debate_are_inside_the_agent_layers_too(tmp_path: Path) -> None:
    order: list[str] = []

    class Model(ScriptedModel):
        async def stream(self, request, meta):
            order.append("request")
            async for item in super().stream(request, meta):
                yield item

    watching = noting(order, "turn")
    async with debate_world(tmp_path, Model([says("a"), says("b")]), agent_layers=(watching,)) as w:
        await w.run(setup(max_turns=2))
    assert watching.wrapped == ["debate", "debate"]
    assert order == ["turn begins", "request", "turn ends"] * 2


@pytest.mark.spec("R-MW-4")
async def test_an_agent_layer_may_end_a_debate_before_anything_is_asked(tmp_path: Path) -> None:
    def halt(context):
        raise MiddlewareTermination("Not today.")

    model = ScriptedModel([says("never"), says("never")])
    async with debate_world(tmp_path, model, agent_layers=(Layer(halt),)) as w:
        await w.run(setup(max_turns=2))
        assert [(e.reason, e.detail) for e in w.events if isinstance(e, RunEnded)] == [("terminated", "Not today.")]
    assert model.requests == []


async def test_a_layer_that_has_a_turn_or_an_answer_wait_says_why(tmp_path: Path) -> None:
    def waits(context):
        context.waits("for the moon")
        context.waits("")

    model = ScriptedModel([says("a"), says("b")])
    async with debate_world(tmp_path, model, agent_layers=(Layer(waits),)) as w:
        await w.run(setup(max_turns=2))
        said = [(event.waiting, event.why) for event in w.events if isinstance(event, RunWaiting)]
        assert said == [(True, "for the moon"), (False, "")] * 2
