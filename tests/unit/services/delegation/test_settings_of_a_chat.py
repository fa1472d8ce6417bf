"""What was said for a chat holds for the agents that it calls, also when they go on in another process."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.domain.model_settings import ModelSettings
from desktop.models.scripted import ScriptedModel, says
from desktop.services.delegation.retention import KEPT, forget_children
from tests.harness.timeouts import until
from tests.unit.services.delegation.test_resuming import (
    AGENTS,
    ASKS_HELPER,
    BOSS,
    SKILLS,
    EffectRequest,
    Pen,
    go_on,
    write,
)
from tests.unit.services.delegation.test_tools import house

SAID = ModelSettings(temperature=0.5, seed=7)


async def cut_off(path: Path, kept: str) -> str:
    """A chat with settings whose called agent was at work when the process ended."""
    pen, model = Pen("h1"), ScriptedModel([ASKS_HELPER, write("h1")])
    async with house(path, model, *AGENTS, tools=(pen.tool,), skills=SKILLS, kept=kept) as h:
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.set_model_settings(thread, SAID)
        await h.world.service.send(thread, "Please.")
        await until(pen.reached)
    return thread


@pytest.mark.spec("R-MOD-1")
async def test_a_called_agent_that_goes_on_with_its_caller_keeps_them(tmp_path: Path) -> None:
    thread = await cut_off(tmp_path, "run")
    model = ScriptedModel([says("helped"), says("done")])
    async with house(
        tmp_path, model, *AGENTS, tools=(Pen().tool,), skills=SKILLS, kept="run", person=EffectRequest()
    ) as h:
        assert await go_on(h, thread) == ["helped"]
    assert [request.settings for request in model.requests] == [SAID, SAID]


@pytest.mark.spec("R-MOD-1")
async def test_a_called_agent_that_a_person_goes_on_with_in_its_own_chat_keeps_them(tmp_path: Path) -> None:
    await cut_off(tmp_path, "permanent")
    model = ScriptedModel([says("helped"), says("again")])
    async with house(
        tmp_path, model, *AGENTS, tools=(Pen().tool,), skills=SKILLS, kept="permanent", person=EffectRequest()
    ) as h:
        await forget_children(h.world.runtime)
        (child,) = [one for one in await h.world.store.threads.list_all() if one.label == KEPT]
        await h.world.service.continue_answer(child.thread_id)
        await h.world.settled(child.thread_id)
        assert await h.world.service.model_settings(child.thread_id) == SAID
    assert [request.settings for request in model.requests] == [SAID]
