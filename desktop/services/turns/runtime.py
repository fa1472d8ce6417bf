"""What every run is made of, wired once by ``app``: store, bus, models, pipeline, skills, limits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from desktop.agents.loop.loop import DEFAULT_LIMIT
from desktop.agents.loop.retry import RetryPolicy
from desktop.agents.skill.discovery import Offers
from desktop.agents.skill.host import Host
from desktop.domain.code import CodeEngine
from desktop.domain.events import RunWaiting
from desktop.domain.limits import Limit
from desktop.domain.middleware import AgentContext, ChatContext, Middleware, Start, StartedBy
from desktop.domain.models import ModelClient, ModelRef
from desktop.domain.run_meta import RunMeta
from desktop.domain.safety import SettingsProvider
from desktop.domain.supervision import ExecutionBudget, SpawnBudget
from desktop.domain.tools import Tool
from desktop.pipeline.pipeline import Pipeline
from desktop.services.definitions.book import AgentBook
from desktop.services.skills.world import SkillWorld
from desktop.services.threads.context import ContextService
from desktop.services.turns.prompts import system_text
from desktop.store import Store
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.bus import Bus
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.tasks import RunSlots

THREAD_LIMIT = Limit("rounds of a chat", 5_000, "the default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Everything a run needs, wired by ``app``.

    ``code`` is the sandbox of code mode, None: there is none; ``context`` keeps what is pinned and summarised, and
    ``summaries`` says whether any are made, ``titles`` whether the model gives chats their
    titles; ``tool_mode`` says what a person chose for an agent by
    name, or ""; ``context_window`` knows a model's window in tokens, or None, ``priced`` whether
    one's cost will be told; ``safety`` gives the boundaries that the
    system text names; ``mask`` takes known secrets out of what a person wrote; ``bounds`` and ``spawn_budget`` bound
    each run tree from its start (``set_by`` says where a person finds the former), ``usual_rounds`` an
    answer, ``thread_rounds`` all answers of a thread;
    ``agent_layers`` and ``chat_layers`` are middleware, outermost first; ``live`` has the trees and journals of
    runs; ``spawn`` starts an owned task; ``sleep`` waits seconds after an
    error; ``offers`` is how much is offered to a model beside what its list names.
    """

    store: Store
    bus: Bus
    client: ModelClient
    pipeline: Pipeline
    agents: AgentBook
    skills: SkillWorld
    slots: RunSlots = field(default_factory=RunSlots)
    context_window: Callable[[ModelRef], int | None] = lambda _ref: None
    priced: Callable[[ModelRef], bool] = lambda _ref: True
    safety: SettingsProvider | None = None
    bounds: Callable[[], ExecutionBudget] = ExecutionBudget
    set_by: str = "the run's budget"
    usual_rounds: Callable[[], Limit] = lambda: DEFAULT_LIMIT
    thread_rounds: Callable[[], Limit] = lambda: THREAD_LIMIT
    spawn_budget: SpawnBudget = field(default_factory=SpawnBudget)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    code: CodeEngine | None = None
    context: ContextService | None = None
    summaries: Callable[[], bool] = lambda: False
    titles: Callable[[], bool] = lambda: False
    tool_mode: Callable[[str], str] = lambda _agent: ""
    spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]] | None = None
    redact: Callable[[str], str] = lambda text: text
    mask: Callable[[str], str] = lambda text: text
    agent_layers: Sequence[Middleware[AgentContext]] = ()
    chat_layers: Sequence[Middleware[ChatContext]] = ()
    live: LiveRuns | None = None
    offers: Callable[[], Offers] = Offers
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @property
    def budget(self) -> ExecutionBudget:
        """The budget of a run tree that begins now."""
        return self.bounds()

    def tracker(self, parent: BudgetTracker | None = None) -> BudgetTracker:
        """What counts for it."""
        return BudgetTracker(self.bounds(), parent=parent, where=self.set_by)


def waits(bus: Bus, meta: RunMeta, why: str) -> None:
    """A layer has what runs there wait, or, "", lets it go on."""
    bus.publish(RunWaiting(thread_id=meta.thread_id, run_id=meta.run_id, waiting=bool(why), why=why))


def host_of(
    runtime: Runtime,
    model: ModelRef,
    budget: BudgetTracker,
    environment: Mapping[str, str] | None = None,
    by: StartedBy = "model",
) -> Host:
    """What a run, or a skill that a person tries, lends to the agents in it: this model, and the app's own limits."""
    skills = runtime.skills

    def system(prompt: str, tools: Sequence[Tool]) -> str:
        safety = runtime.safety() if runtime.safety is not None else None
        return system_text(prompt, tools, safety, environment or {})

    async def begins(start: Start, meta: RunMeta) -> None:
        context = AgentContext(meta, agent=start.name, waits=partial(waits, runtime.bus, meta), start=start)
        await skills.levels.begins(context)

    return Host(
        pipeline=runtime.pipeline,
        client=runtime.client,
        model=model,
        budget=budget,
        system=system,
        allowed_of=skills.allowed,
        together=skills.together,
        context_window=runtime.context_window,
        retry=runtime.retry,
        layers=runtime.chat_layers,
        code=runtime.code,
        redact=runtime.redact,
        spawn=runtime.spawn,
        summaries=runtime.summaries,
        live=runtime.live,
        offers=runtime.offers,
        begins=begins,
        by=by,
        subscribe=runtime.bus.subscribe,
    )
