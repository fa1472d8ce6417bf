"""Debates on a real database, with the scripted model, prompts of a test's own and tools of the pipeline's kit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop.domain.debates import DebateSetup, DebateState, SideSetup, TurnRecord
from desktop.domain.models import ModelClient
from desktop.domain.runs.events import DebateChanged, SideTurnEnded
from desktop.domain.tools import ToolResult
from desktop.services.debates.service import DebateService
from desktop.skills.catalogue.roots import SearchRoot
from tests.harness.timeouts import WAIT_S
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import MODEL, ROOT, World

FREE = {"type": "object", "additionalProperties": True}
PROMPT = "---\nname: {name}\ndescription: {name}\nallowed-tools: {tools}\nmetadata:\n  tags: [debate]\n---\n{body}\n"


def prompt(folder: Path, name: str, tools: str = '""', body: str = "") -> Path:
    path = folder / f"{name}.skill.md"
    path.write_text(PROMPT.format(name=name, tools=tools, body=body or f"You are {name}."))
    return path


def setup(topic: str = "Tea or coffee?", **changes: Any) -> DebateSetup:
    """Two sides, ``pro`` and ``con``; ``a`` and ``b`` are changes to them."""
    a = replace(SideSetup("pro", "Pro", MODEL), **changes.pop("a", {}))
    b = replace(SideSetup("con", "Con", MODEL), **changes.pop("b", {}))
    return DebateSetup(topic, a, b, **{"max_turns": 4, **changes})


def answering(name: str, **structured: Any) -> FakeTool:
    """A tool with a structured result."""
    return FakeTool(name, params=FREE, body=lambda *_: ToolResult(f"did {name}", structured=structured or None))


def failing(name: str) -> FakeTool:
    return FakeTool(name, params=FREE, body=lambda *_: ToolResult("no", is_error=True))


class DebateWorld(World):
    """``prompts`` is the folder that the sides' skills are in."""

    def __init__(
        self, path: Path, client: ModelClient, tools: tuple[FakeTool, ...], options: dict[str, Any], allowed: str
    ) -> None:
        self.prompts = path / "prompts"
        self.prompts.mkdir(exist_ok=True)
        for name in ("pro", "con"):
            if not (self.prompts / f"{name}.skill.md").exists():
                prompt(self.prompts, name, allowed)
        roots = (SearchRoot(str(self.prompts), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
        super().__init__(path / "assent.db", client, tools, {"roots": roots, "supervised": True, **options})
        self.debates = DebateService(self.runtime, self.owner)

    async def run(self, made: DebateSetup) -> tuple[str, DebateState]:
        """Create, start, and wait for its end."""
        thread_id = await self.debates.create(made)
        return thread_id, await self.go_on(thread_id)

    async def go_on(self, thread_id: str) -> DebateState:
        await self.debates.start(thread_id)
        return await self.rest(thread_id)

    async def rest(self, thread_id: str) -> DebateState:
        """Wait until nothing runs."""
        assert await self.debates.wait(thread_id, 30)
        return await self.debates.state(thread_id)

    async def outcomes(self, thread_id: str) -> list[str]:
        return [turn.outcome for turn in await self.debates.turns(thread_id)]

    def told(self) -> list[DebateState]:
        return [event.state for event in self.events if isinstance(event, DebateChanged)]

    def ended(self) -> list[TurnRecord]:
        return [event.record for event in self.events if isinstance(event, SideTurnEnded)]


async def until(condition: Callable[[], Any] | Callable[[], Awaitable[Any]]) -> None:
    """Wait for a condition, generously."""
    async with asyncio.timeout(WAIT_S):
        while True:
            found = condition()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return
            await asyncio.sleep(0.002)


@asynccontextmanager
async def debate_world(
    path: Path, client: ModelClient, *tools: FakeTool, allowed: str = '""', **options: Any
) -> AsyncIterator[DebateWorld]:
    made = DebateWorld(path, client, tools, options, allowed)
    made.recovery = await made.store.open()
    try:
        yield made
    finally:
        await made.debates.close()
        await made.service.close()
        await made.store.close()
