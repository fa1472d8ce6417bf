"""The agent of a chat is heard on topics, and found by its calls, like that of a called skill."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.runs.events import AgentTraced, RunStarted
from desktop.models.scripted import ScriptedModel, calls, fails, says
from desktop.skills.resolution.programmatic import RegisterToolOptions
from desktop.supervision.tasks import TaskOwner
from desktop.supervision.topics import TopicListener
from tests.harness.timeouts import WAIT_S
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import World, agent, world
from tests.unit.services.turns.test_own_provider import LISTED, opened, skills
from tests.unit.services.turns.test_persistent import HEAD, roots

FREE = {"type": "object", "additionalProperties": True}


def register(w: World, name: str, fn: Any) -> None:
    """A program's skill that reads."""
    w.skills.fabric.register_tool(RegisterToolOptions(name, fn, category="read", params=FREE, description=name))


def listen(w: World) -> list[TopicListener]:
    """Subscribe to each run as it begins."""
    found: list[TopicListener] = []

    def heard(event: Any) -> None:
        if isinstance(event, RunStarted) and not event.above:
            found.append(w.skills.topics.subscribe(f"run.{event.run_id}", "the test"))

    w.bus.listen(heard)
    return found


def told(w: World, listener: TopicListener) -> list[Mapping[str, Any]]:
    events = []
    while (event := w.skills.topics.take(listener)) is not None:
        events.append(event.data)
    return events


@pytest.mark.spec("R-TRC-3", "R-TRC-4", "R-TRC-5", "R-TRC-6", "R-TRC-8", "D-10")
async def test_a_chat_is_heard_on_the_topic_of_its_run_with_its_agent_s_calls_below_it(tmp_path: Path) -> None:
    inner = HEAD.format("inner", "look", "{}")
    rounds = [calls("inner", {}, text="I ask."), says("Inner done."), calls("look", {"path": "a"}), says("All done.")]
    found = roots(tmp_path / "mine", "{}", "look inner", inner=inner)
    options = {"roots": found, "agents": agent(prompt="keeper")}
    async with world(tmp_path, ScriptedModel(rounds), FakeTool("look"), **options) as w:
        listeners = listen(w)
        thread = await w.thread()
        await w.ask(thread, "go")
        every = told(w, listeners[0])
        own = [event for event in every if event["data"]["contextId"] == thread]
        assert [event["type"] for event in own] == [
            "agent-start",
            "turn-start",
            "agent-message",
            "tool-call",
            "tool-result",
            "turn-end",
            "turn-start",
            "tool-call",
            "tool-result",
            "turn-end",
            "turn-start",
            "agent-message",
            "turn-end",
            "agent-complete",
        ]
        assert own[-2]["data"]["result"] == "I ask.\n\nAll done."
        assert own[-1]["data"]["status"] == "done"
        assert own[-1]["data"]["rounds"] == 3
        assert {event["data"]["agent"] for event in own} == {"assistant"}
        assert [event["data"]["sequence"] for event in own] == list(range(1, 15))
        below = [event for event in every if event["data"]["contextId"] != thread]
        assert {(event["data"]["agent"], event["data"]["ancestorContextId"]) for event in below} == {("inner", thread)}
        traced = [event for event in w.events if isinstance(event, AgentTraced)]
        assert {event.ancestor_context_id for event in traced} == {""}, "in the thread's trace it is the first"


@pytest.mark.spec("R-TRC-4", "R-TRC-9")
async def test_failures_are_told_once_by_their_names_and_without_secrets(tmp_path: Path) -> None:
    rounds = [calls("look", {"path": "a"}), fails("model.key_refused", "The key s3cret is refused.")]
    options = {"roots": roots(tmp_path / "mine", "{}"), "agents": agent(prompt="keeper")}
    options["redact"] = lambda text: text.replace("s3cret", "•••")
    broken = FakeTool("look", body=lambda *_: 1 / 0)
    async with world(tmp_path, ScriptedModel(rounds), broken, **options) as w:
        listeners = listen(w)
        await w.ask(await w.thread(), "go")
        every = told(w, listeners[0])
        names = [event["type"] for event in every]
        assert (names.count("tool-error"), names.count("tool-result")) == (1, 0)
        assert (names.count("agent-error"), names.count("agent-complete")) == (1, 1)
        assert every[-1]["data"]["status"] == "failed"
        assert "s3cret" not in str(every)


@pytest.mark.spec("R-AG-6", "D-10")
async def test_calls_of_a_chat_find_its_agent_as_those_of_a_called_skill_do(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def look_around(ctx: Any, _args: Any) -> str:
        seen.append(dict(ctx.nonlocals["agent"]))
        return "ok"

    model = ScriptedModel([calls("look_around", {}), says("Done.")])
    options = {"roots": roots(tmp_path / "mine", "{}", "look-around"), "agents": agent(prompt="keeper")}
    async with world(tmp_path, model, **options) as w:
        register(w, "look-around", look_around)
        thread = await w.thread()
        await w.ask(thread, "go")
        inbox = f"inbox.{thread}"
        assert seen == [{"events": "", "contextId": thread, "ancestorContextId": "", "inbox": inbox}]


@pytest.mark.spec("R-TRC-7", "R-TRC-3")
async def test_a_skill_that_subscribed_is_called_with_what_the_agent_of_a_chat_does(tmp_path: Path) -> None:
    heard: list[str] = []

    async def subscribe(ctx: Any, _args: Any) -> Any:
        topic = f"run.{ctx.nonlocals['rootContextId']}"
        return await ctx.manager.invoke("event-subscribe", {"topic": topic, "ref": "listener"})

    async def listener(_ctx: Any, args: Any) -> None:
        heard.append(args["data"]["type"])

    model = ScriptedModel([calls("subscriber", {}), calls("look", {"path": "a"}), says("Done.")])
    options = {"roots": roots(tmp_path / "mine", "{}", "subscriber look"), "agents": agent(prompt="keeper")}
    owner = TaskOwner()
    async with world(tmp_path, model, FakeTool("look"), spawn=owner.spawn, **options) as w:
        register(w, "subscriber", subscribe)
        register(w, "listener", listener)
        await w.ask(await w.thread(), "go")
        async with asyncio.timeout(WAIT_S):  # it is called beside the run
            while not {"tool-call", "agent-message"} <= set(heard):
                await asyncio.sleep(0.002)
        await owner.close()


@pytest.mark.spec("R-PRV-2", "R-TRC-3")
async def test_a_provider_of_ones_own_in_a_chat_is_heard_too(tmp_path: Path, confinement: Any) -> None:
    async with opened(tmp_path, confinement, ScriptedModel([]), skills(tmp_path / "mine", LISTED)) as w:
        listeners = listen(w)
        await w.ask(await w.thread(), "go")
        names = [event["type"] for event in told(w, listeners[0])]
        assert names == [
            "agent-start",
            "turn-start",
            "agent-message",
            "tool-call",
            "tool-result",
            "tool-call",
            "tool-result",
            "turn-end",
            "turn-start",
            "agent-message",
            "turn-end",
            "agent-complete",
        ]
