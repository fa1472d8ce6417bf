"""How long the thread of a called agent lives: not at all, until the run ends, until Assent is closed, until the person
deletes it (R-SUP-13, R-AAT-6). Whatever the process died of, the next start removes what was not to be kept; but while
the call of an agent may be gone on with, its thread is there for that. And how long a thread that the person deleted
is still on the disk."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from desktop.domain.runs.events import Event, RunEnded
from desktop.domain.runs.supervision import HistoryRetention
from desktop.services.turns.runtime import Runtime
from desktop.store import Store
from desktop.supervision.tasks import TaskOwner

CHILD = "called by an agent"
"""The label of a thread that an agent's call made. It is in no list, and gone at the next start (R-AAT-6)."""
KEPT = "called by an agent, kept"
"""The label of one that is in the list, as any chat."""
RUN = "run"
"""The default (R-AAT-6)."""
CLOSING = "closing"
"""``RUN``, but what is not to be kept may be looked at, and gone on with, until Assent is closed."""
DELETED_DAYS = 30
"""For so long a thread that the person deleted stays on the disk, out of every list."""
_MEANS: Mapping[str, HistoryRetention] = {
    "none": HistoryRetention.NONE,
    RUN: HistoryRetention.RUN,
    CLOSING: HistoryRetention.RUN,
    "permanent": HistoryRetention.PERMANENT,
}


class ChildThreads:
    """Removes threads when their time has come. ``kept`` is asked for each call: none, run, closing, permanent."""

    def __init__(self, runtime: Callable[[], Runtime], owner: TaskOwner, kept: Callable[[], str]) -> None:
        self._runtime = runtime
        self._owner = owner
        self._kept = kept
        self._with_run: dict[str, list[str]] = {}
        self._listening = False

    @property
    def kept(self) -> str:
        """How long the thread of an agent that is called now lives."""
        return self._kept()

    def retention(self, kept: str) -> HistoryRetention:
        """What is kept of a child thread, in the run tree's own words for it."""
        return _MEANS[kept]

    def over(self, thread_id: str, run_id: str, call_key: str, kept: str) -> None:
        """The agent has ended; the run that it worked for may go on. What came of the call ``call_key`` is known only
        once that run's log has it."""
        if kept not in ("none", RUN):
            return
        live = self._runtime().live
        if kept == "none" and live is None:
            self._begone([thread_id])
            return
        if kept == "none" and live is not None:
            live.journaled.after_outcome(run_id, call_key, lambda: self._begone([thread_id]))
        self._with_run.setdefault(run_id, []).append(thread_id)
        if not self._listening:
            self._listening = True
            self._runtime().bus.listen(self._heard)

    def _heard(self, event: Event) -> None:
        threads = self._with_run.pop(event.run_id, None) if isinstance(event, RunEnded) else None
        if threads:
            self._owner.spawn(self._purge_over(threads), "agents: threads of a run that is over")

    def _begone(self, threads: list[str]) -> None:
        self._owner.spawn(self._purge(threads), "agents: a thread that is not kept")

    async def _purge_over(self, threads: list[str]) -> None:
        needed = await still_needed(self._runtime().store)
        await self._purge([thread_id for thread_id in threads if thread_id not in needed])

    async def _purge(self, threads: list[str]) -> None:
        for thread_id in threads:
            await self._runtime().store.threads.purge(thread_id=thread_id)


async def still_needed(store: Store) -> frozenset[str]:
    """The threads of agents whose callers may be gone on with, or are at work."""
    return await store.called.threads(await store.effects.unfinished())


async def forget_children(runtime: Runtime, *, before: float = math.inf) -> int:
    """Purge the threads of calls of earlier starts, begun ``before`` this one (seconds since the epoch): what was not
    kept ends with its run (R-AAT-6, R-SUP-13), and that ends when nobody can go on with it."""
    threads = runtime.store.threads
    known, needed = await threads.deleted_with(label=CHILD), await still_needed(runtime.store)
    old = [one for one in known if one not in needed and (await threads.get(thread_id=one)).created_at < before]
    for thread_id in old:
        await threads.purge(thread_id=thread_id)
    return len(old)


async def forget_deleted(runtime: Runtime, *, now: float) -> int:
    """Purge what the person deleted more than ``DELETED_DAYS`` before ``now`` (seconds since the epoch); how many
    threads. Those of calls have a time of their own."""
    threads, needed = runtime.store.threads, await still_needed(runtime.store)
    old = [one for one in await threads.deleted_before(at=now - DELETED_DAYS * 86_400, but=CHILD) if one not in needed]
    for thread_id in old:
        await threads.purge(thread_id=thread_id)
    return len(old)
