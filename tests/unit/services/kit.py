"""A conversation service on a real database, with the scripted model and tools of the pipeline's kit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from desktop.agents.loop.retry import RetryPolicy
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.models import ModelClient
from desktop.domain.runs.events import Event, RunEnded
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.threads import MessageRecord, Recovery
from desktop.pipeline.pipeline import CallSettings, Pipeline
from desktop.pipeline.recovery.journal import call_journal, logged
from desktop.pipeline.table import Registered
from desktop.services.chats.service import ConversationService
from desktop.services.definitions.book import AgentBook
from desktop.services.skills.world import SkillWorld
from desktop.services.turns.runtime import Runtime
from desktop.settings.groups.middleware import MiddlewareSettings
from desktop.skills.catalogue.roots import SearchRoot
from desktop.store import Store
from desktop.supervision.bus import Bus
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.tasks import RunSlots, TaskOwner
from tests.harness.definitions import load_agents
from tests.harness.skills import open_fabric
from tests.harness.timeouts import WAIT_S
from tests.unit.pipeline.kit import FakeTool, Person, Table

ROOT = Path(__file__).resolve().parents[3]
MODEL = "test/scripted"


def skill_world(
    registered: Registered, *roots: SearchRoot, middleware: Callable[[], MiddlewareSettings] = MiddlewareSettings
) -> SkillWorld:
    """The skills of these folders, beside tools that code registered."""
    fabric = open_fabric(roots)
    fabric.refresh()
    return SkillWorld(fabric, registered, middleware=middleware)


class World:
    """Everything around one service."""

    def __init__(self, path: Path, client: ModelClient, tools: Sequence[FakeTool], options: dict[str, Any]) -> None:
        self.store = Store(path)
        self.bus = Bus()
        self.events: list[Event] = []
        self.bus.listen(self.events.append)
        self.owner = TaskOwner()
        person: Person | None = options.pop("person", None)
        agents: AgentBook = options.pop("agents", None) or load_agents(ROOT / "resources/agents")
        registered = options.pop("registered", None) or Table(*tools)
        levelled: Any = options.pop("levels", None)
        roots = options.pop("roots", (SearchRoot(str(ROOT / "skills"), "library"),))
        middleware: MiddlewareSettings | None = options.pop("middleware", None)
        chosen = (lambda: middleware) if middleware is not None else MiddlewareSettings
        self.skills = levelled.skills() if levelled is not None else skill_world(registered, *roots, middleware=chosen)
        if middleware is not None:
            options |= {"agent_layers": (self.skills.levels.agent,)}
        self.skills.levels.told = self.bus.publish
        self.live = LiveRuns(self.store.effects, call_journal(), self.bus.publish, queue=options.pop("queue", None))
        self.bus.listen(self.live.hear)
        if options.pop("supervised", False):
            options |= {"live": self.live, "chat_layers": (self.live.models,)}
        if levelled is not None:
            levels = self.skills.levels
            options |= {"live": self.live, "chat_layers": (self.live.models, levels.chat)}
            options |= {"agent_layers": (levels.agent,)}
        budget = options.pop("budget", ExecutionBudget())
        pipeline = Pipeline(
            self.skills.table,
            self.owner.spawn,
            trust=person,
            settings=CallSettings(margin_s=0.05),
            skills=self.skills.side,
            layers=(self.live.calls,),
            journal=logged(self.live.journaled),
            histories=self.live.histories,
            outside=getattr(person, "outside", None),
        )
        self.skills.runs.pipeline = pipeline
        self.slots = options.pop("slots", None) or RunSlots()
        self.runtime = Runtime(
            store=self.store,
            bus=self.bus,
            client=client,
            pipeline=pipeline,
            agents=agents,
            skills=self.skills,
            slots=self.slots,
            retry=options.pop("retry", RetryPolicy(retries=0)),
            bounds=lambda: budget,
            **options,
        )
        self.service = ConversationService(self.runtime, self.owner)
        self.recovery = Recovery()

    async def thread(self, model: str = MODEL, agent: str = "assistant") -> str:
        return (await self.service.create_thread(agent=agent, model=model)).thread_id

    async def ask(self, thread_id: str, text: str, *blocks: Any) -> list[MessageRecord]:
        """Send, wait for the end of the run, and return what the thread shows."""
        await self.service.send(thread_id, text, blocks)
        return await self.settled(thread_id)

    async def settled(self, thread_id: str) -> list[MessageRecord]:
        assert await self.service.wait(thread_id, WAIT_S)
        await asyncio.sleep(0)
        return await self.service.path(thread_id)

    def ends(self) -> list[RunEnded]:
        return [event for event in self.events if isinstance(event, RunEnded)]

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]

    async def until(self, kind: type, count: int = 1) -> None:
        """Wait until so many events of a kind have come."""
        async with asyncio.timeout(WAIT_S):
            while sum(isinstance(event, kind) for event in self.events) < count:
                await asyncio.sleep(0.002)


@asynccontextmanager
async def world(path: Path, client: ModelClient, *tools: FakeTool, **options: Any) -> AsyncIterator[World]:
    made = World(path / "assent.db", client, tools, options)
    made.recovery = await made.store.open()
    try:
        yield made
    finally:
        await made.service.close()
        await made.store.close()


def agent(**changes: Any) -> AgentBook:
    """An agent book with one agent, the assistant with changes."""
    side = SideDefinition(**{"prompt": "assistant", **changes})
    return AgentBook({"assistant": AgentDefinition("assistant", side, title="Assistant")})
