"""A run to try things in: a log in memory, a model and tools that count, and agents made of functions, hosted as the
app hosts agents in code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop.agents.loop.retry import RetryPolicy
from desktop.agents.skill.host import HOST, PERMISSIONS, Host
from desktop.domain.approval.judgement import Category
from desktop.domain.ids import AgentId
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, Usage
from desktop.domain.models import Finished, ModelRef, ModelRequest, StreamItem, TextDelta
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.effects import EffectRecord
from desktop.domain.runs.events import Event, RunTreeChanged
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.supervision import ExecutionBudget, Priority, SpawnBudget, Supervision
from desktop.domain.runs.tree import NodeFacts
from desktop.domain.tools import ToolResult
from desktop.pipeline.context import CallRequest, CallResult, Invocation, Trust
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import CallSettings, Pipeline
from desktop.pipeline.recovery.journal import call_journal, logged
from desktop.recovery.history import CallHistory
from desktop.recovery.past import NEVER_BEGUN, Past, Unknown
from desktop.recovery.words import NOBODY_KNOWS
from desktop.services.skills.world import SkillWorld
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.programmatic import RegisterToolOptions
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.model_queue import ModelQueue
from desktop.supervision.tasks import TaskOwner
from desktop.supervision.tree import RunTree
from desktop.workers.python_skill.run_context import RunContext
from tests.harness.skills import LIBRARY, open_fabric
from tests.harness.timeouts import WAIT_S
from tests.unit.pipeline.kit import FakeTool, Person, Table

ROOT = AgentId("root", "0")
FREE = {"type": "object", "additionalProperties": True}
Body = Callable[[RunContext, Sequence[Mapping[str, Any]]], Awaitable[Any]]


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
    """One run after another over the same log; ``done`` is what was really done. The agent that is tried has the place
    ``0.1`` below the run's own; its children are ``0.1.1`` and so on."""

    log: Any = field(default_factory=MemoryLog)
    run_id: str = "run"
    before: Sequence[str] = ()
    """The runs that this one goes on with, the oldest first, if these have other ids."""
    spawn: SpawnBudget = field(default_factory=SpawnBudget)
    budget: ExecutionBudget = field(default_factory=ExecutionBudget)
    answer: Callable[[ModelRequest], Awaitable[ChatMessage]] | None = None
    act: Callable[[str, Mapping[str, Any], RunMeta], Awaitable[ToolResult]] | None = None
    person: Trust | None = None
    layers: Sequence[Any] = ()
    chat_layers: Sequence[Any] = ()
    allowed: str = "*"
    folder: str = ""
    """Where a person's skills in files are, if there are any."""
    allowed_by_name: Mapping[str, str] = field(default_factory=dict)
    priority: Priority = Priority.NORMAL
    mask: Callable[[str], str] | None = None
    subscribe: Any = None
    done: list[str] = field(default_factory=list)
    told: list[NodeFacts] = field(default_factory=list)
    queue: ModelQueue = field(default_factory=ModelQueue)
    above: CancellationToken | None = None
    live: LiveRuns = field(init=False)
    tree: RunTree = field(init=False)
    token: CancellationToken = field(init=False)
    world: SkillWorld = field(init=False)
    events: list[Event] = field(default_factory=list)

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        """As a ``ModelClient``."""
        self.done.append(f"llm {request.messages[-1].text}")
        message = said(f"re {request.messages[-1].text}") if self.answer is None else await self.answer(request)
        if message.text:
            yield TextDelta(message.text)
        yield Finished(message.stop_reason or "end", message.tool_calls, message.usage, "m")

    def _tool(self, name: str) -> FakeTool:
        async def body(arguments: Mapping[str, Any], context: Any) -> ToolResult:
            self.done.append(f"{name} {arguments.get('of', '')}".strip())
            return await self.act(name, arguments, context.meta) if self.act is not None else ToolResult(f"{name} done")

        return FakeTool(name, Category.READ if name == "read" else Category.WRITE, FREE, body)

    def _publish(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, RunTreeChanged):
            self.told.extend(event.nodes)

    def _register(self, kinds: Mapping[str, Body]) -> None:
        """Agents in code, each with a list of its own."""
        for name, made in kinds.items():
            options = RegisterToolOptions(
                f"{name}-agent",
                made,
                name,
                params=FREE,
                role="agent",
                allowed_tools=self.allowed_by_name.get(name, self.allowed),
                category="read",
            )
            self.world.fabric.register_tool(options)

    async def run(self, body: Body, *, leave_open: bool = False, **kinds: Body) -> AgentOutcome:
        """The run, whose only work is the agent ``body``; a log that has lines of it is gone on with."""
        fabric = open_fabric([LIBRARY, *([SearchRoot(self.folder, "mine")] if self.folder else [])])
        owner, world = TaskOwner(), SkillWorld(fabric, Table(self._tool("read"), self._tool("write")))
        self.world = world
        self._register({"main": body, **kinds})
        redact = self.mask or (lambda text: text)
        journal = call_journal()
        self.live = LiveRuns(self.log, journal, self._publish, queue=self.queue, redact=redact, mask=self.mask)
        pipeline = Pipeline(
            world.table,
            owner.spawn,
            trust=self.person or Person(*["allow_once"] * 9_999),
            settings=CallSettings(lambda _name: 3600.0, margin_s=0.2),
            skills=world.side,
            layers=(self.live.calls, *self.layers),
            journal=logged(self.live.journaled),
            histories=self.live.histories,
        )
        world.runs.pipeline = pipeline
        place = Supervision.root(
            ROOT, session_id="t", spawn_budget=self.spawn, execution_budget=self.budget, priority=self.priority
        )
        self.token = self.above.child() if self.above is not None else CancellationToken()
        meta = RunMeta(self.run_id, self.token, "t", place)
        past = await self._past()
        self.tree = await self.live.open(meta, ROOT)
        host = Host(
            pipeline=pipeline,
            client=self,
            model=ModelRef("m", "m"),
            budget=self.tree.root.budget,
            system=lambda prompt, _tools: prompt,
            allowed_of=world.allowed,
            together=world.together,
            retry=RetryPolicy(retries=0),
            layers=(self.live.models, *self.chat_layers),
            spawn=owner.spawn,
            live=self.live,
            subscribe=self.subscribe,
        )
        everything = world.allowed("*")
        root = Invocation(meta, inherited={HOST: host, PERMISSIONS: everything}, shared=world.shared)
        call = CallRequest(
            ToolCallBlock("c", "main-agent", {"message": "go"}),
            Caller("native", ("assistant",), everything),
            root,
            self._heard,
            "m",
            past=past,
        )
        try:
            made = await asyncio.wait_for(pipeline.invoke(call), WAIT_S)
            outcome = self._outcome(made)
        except BaseException:
            await self.live.close(self.run_id, AgentOutcome("cancelled"), leave_open=leave_open)
            raise
        await self.live.close(self.run_id, outcome, leave_open=leave_open)
        return outcome

    def _heard(self, event: Event) -> None:
        self.events.append(event)
        self.live.hear(event)

    async def _past(self) -> Past:
        """What is known of the call from an earlier life, which goes on in this one."""
        records = [line for run_id in self.before or (self.run_id,) for line in await self.log.load(run_id)]
        if not any(record.agent == "m:c" for record in records):
            return NEVER_BEGUN
        self.live.histories.remember(self.run_id, CallHistory.of(records), {"m:c"})
        return Unknown(NOBODY_KNOWS)

    def _outcome(self, made: CallResult) -> AgentOutcome:
        node, result = self.tree.nodes.get("0.1"), made.result
        value = result.structured if result.structured is not None else result.text
        if not result.is_error:
            return AgentOutcome(
                "completed", value, usage=self.tree.root.budget.used, rounds=self.tree.root.budget.rounds
            )
        status: Any = node.state.value if node is not None and node.over else "failed"
        if result.code == "tool.aborted":
            status = "cancelled" if self.tree.root.stopped is None else "limit"
        limit = str(node.stopped or node.budget.broken() or "") if node is not None else ""
        return AgentOutcome(status, None, result.code, result.text, limit, rounds=self.tree.root.budget.rounds)


def unfinished(records: Sequence[EffectRecord]) -> list[EffectRecord]:
    """The log of a process that died when the agent had done all, and had not ended."""
    ends = ("main-agent", "agent-in-code")
    return [
        record
        for record in records
        if record.kind not in ("return", "end") and (record.name not in ends or record.phase == "begun")
    ]


def ask(text: str) -> ChatMessage:
    return ChatMessage("user", (TextBlock(text),))


def said(text: str, usage: Usage | None = None) -> ChatMessage:
    return ChatMessage("assistant", (TextBlock(text),), "end", usage or Usage(10, 5, cost_usd=0.01), "m/m")


def request(text: str = "hi") -> ModelRequest:
    return ModelRequest(ModelRef("m", "m"), (ask(text),))
