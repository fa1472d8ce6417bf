"""What is posted to the inbox of an agent is for that agent, and for those that work in its run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import Denied
from desktop.domain.messages import ToolResultBlock
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.supervision.topics import Topics
from tests.harness.timeouts import WAIT_S
from tests.unit.services.kit import agent, world
from tests.unit.services.turns.test_chat_topics import register
from tests.unit.services.turns.test_persistent import PERSISTENT, idle, roots

LISTENING = "event-subscribe event-wait"
REFUSED = "is the inbox of an agent of another run"


@pytest.mark.parametrize("tool", ["event-subscribe", "event-wait"])
@pytest.mark.spec("R-PER-6", "R-AG-5")
async def test_no_agent_hears_what_is_posted_to_the_agent_of_another_chat(tmp_path: Path, tool: str) -> None:
    async def curious(ctx: Any, _args: Any) -> Any:
        return await ctx.manager.invoke(tool, {"topic": f"inbox.{kept}"})

    model = ScriptedModel([says("I wait."), calls("curious", {}), says("Then not.")])
    found = roots(tmp_path / "mine", PERSISTENT, f"curious {LISTENING}")
    async with world(tmp_path, model, agents=agent(prompt="keeper"), supervised=True, roots=found) as w:
        register(w, "curious", curious)
        kept, other = await w.thread(), await w.thread()
        await w.service.send(kept, "go")
        await idle(w)
        await w.service.send(other, "listen")
        await idle(w, 2)
        path = await w.service.path(other)
        (result,) = [block for message in path for block in message.blocks if isinstance(block, ToolResultBlock)]
        assert result.is_error
        assert REFUSED in result.text
        assert result.facts["state"] == "denied"
        assert w.skills.topics.heard("inbox.") == [f"inbox.{other}", f"inbox.{kept}"], "only each agent itself"


@pytest.mark.spec("R-PER-6", "R-AG-6")
async def test_a_skill_of_its_own_run_hears_what_is_posted_to_an_agent(tmp_path: Path) -> None:
    heard: list[Any] = []
    ready = asyncio.Event()

    async def listener(ctx: Any, _args: Any) -> str:
        inbox = ctx.nonlocals["agent"]["inbox"]
        made = await ctx.manager.invoke("event-subscribe", {"topic": inbox})
        ready.set()
        heard.append(await ctx.manager.invoke("event-wait", {**made, "timeout": 60}))
        return "heard"

    model = ScriptedModel([calls("listener", {}), says("I wait."), says("Heard.")])
    found = roots(tmp_path / "mine", PERSISTENT, f"listener {LISTENING}")
    async with world(tmp_path, model, agents=agent(prompt="keeper"), supervised=True, roots=found) as w:
        register(w, "listener", listener)
        thread = await w.thread()
        await w.service.send(thread, "go")
        async with asyncio.timeout(WAIT_S):
            await ready.wait()
        await w.skills.topics.post(f"inbox.{thread}", "news")
        await idle(w)
        assert heard[0]["event"]["data"] == "news"


@pytest.mark.spec("R-PER-6")
async def test_an_inbox_that_nobody_has_is_nobodys_to_hear() -> None:
    topics = Topics()
    with pytest.raises(Denied, match=REFUSED):
        topics.subscribe("inbox.later", "run")
    with pytest.raises(Denied, match=REFUSED):
        await topics.wait_for("inbox.later", "run", 0)
    assert (await topics.wait_for("news", "run", 0)) is None


@pytest.mark.spec("R-PER-6")
async def test_whoever_posts_to_an_agent_that_is_not_at_work_hears_that_nothing_was_kept(tmp_path: Path) -> None:
    async def poster(ctx: Any, _args: Any) -> Any:
        return await ctx.manager.invoke("event-emit", {"topic": f"inbox.{kept}", "data": "important"})

    found = roots(tmp_path / "mine", PERSISTENT, "poster event-emit")
    options: dict[str, Any] = {"agents": agent(prompt="keeper"), "supervised": True, "roots": found}
    async with world(tmp_path, ScriptedModel([says("I wait.")]), **options) as w:
        kept = await w.thread()
        await w.service.send(kept, "go")
        await idle(w)
    async with world(tmp_path, ScriptedModel([calls("poster", {}), says("Later, then.")]), **options) as w:
        register(w, "poster", poster)
        other = await w.thread()
        await w.service.send(other, "tell it")
        await idle(w)
        path = await w.service.path(other)
        (result,) = [block for message in path for block in message.blocks if isinstance(block, ToolResultBlock)]
        assert result.is_error
        assert f"No persistent agent is at work at inbox.{kept}" in result.text
        assert await w.store.queue.posted(inbox=kept, after=0) is None
