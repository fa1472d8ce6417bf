"""The beginning and the end of a run, whatever works in it: a chat's agent, a called agent, a debate, a job.

Only ``RunFrame`` publishes ``RunStarted`` and ``RunEnded``, opens and closes the tree of a run with its journal, and
keeps its record. What happens between belongs to ``services/chats/run.py`` and ``services/debates/run.py``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.ids import AgentId
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Usage
from desktop.domain.model_settings import UNSAID, ModelSettings
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.events import RunEnded, RunStarted
from desktop.domain.runs.meta import RunMeta
from desktop.domain.threads import RunRecord
from desktop.pipeline.context import Invocation
from desktop.pipeline.names import AllowedTools
from desktop.services.turns.endings import Ending
from desktop.services.turns.runtime import Runtime
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.bus import Bus
from desktop.supervision.tree import RunTree, TreeNode, exhausted

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledBy:
    """The call that an agent was called by as a tool (R-AAT-4)."""

    meta: RunMeta
    """A span of the caller's, with the child's place in the run tree and the child token."""
    allowed: AllowedTools | None
    """The caller's list."""
    chain: tuple[str, ...]
    """Who a request for approval names first (R-AAT-9)."""
    budget: BudgetTracker
    """Bounds the whole tree, or where the agent is ``placed`` in that just this agent."""
    placed: bool = False
    """Whether the child has a node in the run tree."""
    below: Invocation | None = None
    """The call itself."""
    prompt_text: str = ""
    """The prompt with what the call gave it filled in."""
    call_key: str = ""
    """What names the call in the run's log."""
    settings: ModelSettings = UNSAID
    """What a person said for the caller's thread of how models are to answer."""


class RunFrame:
    """The frame of one run: ``begin``, ``open_tree``, then the work, ``close_tree``, ``store_end`` and ``tell_end``;
    ``forget`` whatever happens. A run with ``called_by`` is a part of its caller's, in whose tree it stands."""

    def __init__(self, runtime: Runtime, *, thread_id: str, run_id: str, called_by: CalledBy | None = None) -> None:
        self._runtime = runtime
        self._thread_id = thread_id
        self._run_id = run_id
        self._above = called_by
        self._place: Mapping[str, Any] = {}
        self.tree: RunTree | None = None

    async def begin(
        self, *, agent: str, model: str, user_message_id: str = "", continues: str = "", below: str, goes_on: bool
    ) -> None:
        """Tell and store that it has begun, ``below`` and ``goes_on`` as in ``RunRecord``. Raises what the store
        raises."""
        store, above, run_id = self._runtime.store, self._above, self._run_id
        self._runtime.bus.publish(
            RunStarted(
                thread_id=self._thread_id,
                run_id=run_id,
                agent=agent,
                model=model,
                user_message_id=user_message_id,
                above=above.meta.run_id if above is not None else "",
                continues=continues,
            )
        )
        self._place = {"below": below, "goes_on": goes_on}
        begun = RunRecord(run_id, self._thread_id, time.time(), agent, model, extra=self._place)
        await store.runs.start(record=begun)
        if above is not None and above.call_key:
            await store.called.add(run_id=run_id, tree_run_id=above.meta.run_id, call_key=above.call_key)

    async def open_tree(self, meta: RunMeta, agent_id: AgentId, *, where: str) -> BudgetTracker | None:
        """The budget of the tree that it is the root of; ``where`` says where its limits were set. None: it has no
        tree of its own. Raises what the store raises."""
        live = self._runtime.live
        if live is None or self._above is not None:
            return None
        self.tree = await live.open(meta, agent_id, where=where)
        return self.tree.root.budget

    def judged(self, ending: Ending, nodes: Iterable[TreeNode | None]) -> Ending:
        """The ending; where the time of the run or of one of ``nodes`` ran out, an ending by that limit (R-SUP-11)."""
        limit = next((node.stopped for node in nodes if node is not None and node.stopped is not None), None)
        if limit is None or ending.reason != "cancelled":
            return ending
        error = exhausted(limit)
        return Ending("budget", str(error), error.code, error.next_step, error.limit)

    async def close_tree(self, ending: Ending, *, cut_off: bool) -> None:
        """The tree is told how the run ended. The journal of one that the closing app ``cut_off`` stays open, to be
        gone on with. What there is to say of a full disk is said; the answer is still to be kept."""
        live, run_id = self._runtime.live, self._run_id
        if live is None or self._above is not None:
            return
        outcome = AgentOutcome(ending.status, detail=ending.detail)
        try:
            if self.tree is None:
                await live.never_began(run_id, outcome)
                return
            await live.close(run_id, outcome, leave_open=cut_off)
            if not cut_off:
                await self._runtime.store.effects.forget(run_id)
        except KnownError as error:
            _log.warning("the journal of run %s has no end: %s", run_id, error)

    def forget(self) -> None:
        """Nothing of its tree stays. Harmless for one that is closed, and for a part of another's."""
        if self._runtime.live is not None and self._above is None:
            self._runtime.live.forget(self._run_id)

    async def store_end(self, ending: Ending, usage: Usage, extra: Mapping[str, Any] | None = None) -> None:
        """Keep how it ended. Raises what the store raises."""
        extra = None if extra is None else {**self._place, **extra}
        await self._runtime.store.runs.end(
            run_id=self._run_id, reason=ending.reason, at=time.time(), detail=ending.detail, usage=usage, extra=extra
        )

    def tell_end(self, ending: Ending, usage: Usage) -> None:
        """Publish that the run has ended; its thread is free for another."""
        tell_end(self._runtime.bus, self._thread_id, self._run_id, ending, usage)


def tell_end(bus: Bus, thread_id: str, run_id: str, ending: Ending, usage: Usage) -> None:
    """Publish the end of a run, also of one that never got as far as a frame."""
    bus.publish(
        RunEnded(
            thread_id=thread_id,
            run_id=run_id,
            reason=ending.reason,
            detail=ending.detail,
            code=ending.code,
            next_step=ending.next_step,
            usage=usage,
            limit=ending.limit,
            retry_after=ending.retry_after,
        )
    )
