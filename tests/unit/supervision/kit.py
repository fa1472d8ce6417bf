"""A run to try things in: a log in memory or a real store, ports that count, agents made of functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop.domain.agent import AgentOutcome, RunContext
from desktop.domain.cancellation import CancellationToken
from desktop.domain.effects import EffectRecord
from desktop.domain.ids import AgentId
from desktop.domain.messages import ChatMessage, TextBlock, Usage
from desktop.domain.models import ModelRef, ModelRequest
from desktop.domain.run_meta import RunMeta
from desktop.domain.run_tree import NodeFacts
from desktop.domain.supervision import ExecutionBudget, SpawnBudget, Supervision
from desktop.domain.tools import ToolResult
from desktop.recovery.effect_journal import EffectJournal
from desktop.supervision.hosting import AgentKinds, RunHost
from desktop.supervision.model_queue import ModelQueue
from desktop.supervision.run_context import EffectPorts
from desktop.supervision.tree import RunTree
from tests.harness.patience import PATIENCE_S

ROOT = AgentId("root", "0")
Body = Callable[[RunContext, Sequence[ChatMessage]], Awaitable[Any]]


class MemoryLog:
    """An ``EffectLog`` that outlives its run, as a file does. ``broken`` is raised by what is written from now on."""

    def __init__(self) -> None:
        self.records: list[EffectRecord] = []
        self.batches = 0
        self.broken: Exception | None = None

    def append(self, records: Sequence[EffectRecord]) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.broken is not None:
            future.set_exception(self.broken)
        else:
            self.records += records
            self.batches += 1
            future.set_result(None)
        return future

    async def load(self, run_id: str) -> list[EffectRecord]:
        return [record for record in self.records if record.run_id == run_id]

    def told(self) -> list[str]:
        return [" ".join(f"{r.agent}.{r.step} {r.kind} {r.name} {r.phase}".split()) for r in self.records]


@dataclass
class Bench:
    """One run after another over the same log; ``done`` is what was really done."""

    log: Any = field(default_factory=MemoryLog)
    run_id: str = "run"
    spawn: SpawnBudget = field(default_factory=SpawnBudget)
    budget: ExecutionBudget = field(default_factory=ExecutionBudget)
    answer: Callable[[ModelRequest], Awaitable[ChatMessage]] | None = None
    act: Callable[[str, Mapping[str, Any], RunMeta], Awaitable[ToolResult]] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    journal: dict[str, Any] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    told: list[NodeFacts] = field(default_factory=list)
    queue: ModelQueue = field(default_factory=ModelQueue)
    above: CancellationToken | None = None
    tree: RunTree = field(init=False)
    token: CancellationToken = field(init=False)

    async def _llm(self, request: ModelRequest, meta: RunMeta) -> ChatMessage:
        self.done.append(f"llm {request.messages[-1].text}")
        if self.answer is not None:
            return await self.answer(request)
        return said(f"re {request.messages[-1].text}")

    async def _tool(self, name: str, arguments: Mapping[str, Any], meta: RunMeta, waits: Any = None) -> ToolResult:
        self.done.append(f"{name} {arguments.get('of', '')}".strip())
        return await self.act(name, arguments, meta) if self.act is not None else ToolResult(f"{name} done")

    async def host(self, kinds: Mapping[str, Body]) -> RunHost:
        ports = EffectPorts(
            self._llm,
            self._tool,
            lambda name, _arguments: name.startswith("read"),
            lambda topic, event, key: self.done.append(f"emit {topic} {event} {key}"),
        )
        node = Supervision.root(ROOT, session_id="t", spawn_budget=self.spawn, execution_budget=self.budget)
        self.token = self.above.child() if self.above is not None else CancellationToken()
        self.tree = RunTree(ROOT, node, self.token, publish=self.told.extend)
        journal = EffectJournal(self.run_id, self.log, **self.journal)
        await journal.load()
        made = AgentKinds({name: _maker(body) for name, body in kinds.items()})
        meta = RunMeta(self.run_id, self.token, "t", node)
        return RunHost(
            tree=self.tree,
            meta=meta,
            journal=journal,
            ports=self.ports(ports),
            kinds=made,
            queue=self.queue,
            **self.options,
        )

    def ports(self, made: EffectPorts) -> EffectPorts:
        return made

    async def run(self, body: Body, **kinds: Body) -> AgentOutcome:
        host = await self.host(kinds)
        return await asyncio.wait_for(host.run(Made(ROOT, body), [ask("go")]), PATIENCE_S)


@dataclass(frozen=True)
class Made:
    """An agent that is no class of ours: only ``id`` and ``run``."""

    id: AgentId
    body: Body

    async def run(self, ctx: RunContext, inbox: Sequence[ChatMessage]) -> Any:
        return await self.body(ctx, inbox)


def _maker(body: Body) -> Callable[[AgentId], Made]:
    return lambda agent_id: Made(agent_id, body)


def ask(text: str) -> ChatMessage:
    return ChatMessage("user", (TextBlock(text),))


def said(text: str, usage: Usage | None = None) -> ChatMessage:
    return ChatMessage("assistant", (TextBlock(text),), "end", usage or Usage(10, 5, cost_usd=0.01), "m/m")


def request(text: str = "hi") -> ModelRequest:
    return ModelRequest(ModelRef("m", "m"), (ask(text),))


async def until(condition: Callable[[], bool]) -> None:
    """Wait, generously, for something that has to happen."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.001)
