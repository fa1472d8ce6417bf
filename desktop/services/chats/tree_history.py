"""Keeps how the agents of runs stand, so that the Run panel shows them after a restart: each is written when
it begins and when it ends, and now and then between. A run never waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Protocol

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import Event, RunEnded, RunTreeChanged
from desktop.domain.runs.tree import NodeFacts, NodeState, StoredRun
from desktop.services.turns.endings import CLOSING

AGAIN_S = 0.5
"""Seconds for which what is told of an agent that goes on is gathered: the last of it is written."""
MAX_ENDED = 200
"""Of agents that have ended the last ones stay, as in the tree itself."""
CUT_OFF = "Assent ended before it did."
LEFT = "its run is over"

_log = logging.getLogger(__name__)


class Keeps(Protocol):
    """Where they are written; the future is looked at only to report what could not be."""

    def keep(self, *, run_id: str, nodes: Sequence[NodeFacts], gone: Sequence[str] = ()) -> asyncio.Future[None]:
        """Write the agents ``nodes`` of a run, and remove those at the paths ``gone``."""
        ...


@dataclass(slots=True)
class _Known:
    """The agents of a run under way."""

    written: dict[str, float] = field(default_factory=dict)
    """When each was written."""
    ended: dict[str, None] = field(default_factory=dict)
    """Those that have ended, the oldest first."""
    waiting: dict[str, NodeFacts] = field(default_factory=dict)
    """What is to be written of them."""
    timer: asyncio.TimerHandle | None = None
    """Writes it."""
    failed: bool = False

    def at(self, path: str) -> float:
        """When it was written; long ago for one that never was."""
        return self.written.get(path, -AGAIN_S)


class TreeKeeper:
    """A listener of the bus. ``redact`` cleans what is said of an agent's end."""

    def __init__(
        self, kept: Keeps, redact: Callable[[str], str] = lambda text: text, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._kept = kept
        self._redact = redact
        self._clock = clock
        self._runs: dict[str, _Known] = {}

    def take(self, event: Event) -> None:
        """Agents that begin, end, or were not written for a while."""
        if isinstance(event, RunEnded):
            self._over(event.run_id)
        elif isinstance(event, RunTreeChanged) and event.thread_id:
            self._changed(event)

    def _over(self, run_id: str) -> None:
        run = self._runs.pop(run_id, None)
        if run is not None and run.timer is not None:
            run.timer.cancel()

    def _changed(self, event: RunTreeChanged) -> None:
        run, now = self._runs.setdefault(event.run_id, _Known()), self._clock()
        run.waiting.update((facts.path, facts) for facts in event.nodes)
        due = [facts for facts in event.nodes if facts.state.over or now - run.at(facts.path) >= AGAIN_S]
        self._write(event.run_id, run, due, now)
        if len(run.ended) == len(run.written) and not run.failed:
            self._over(event.run_id)
        elif run.waiting and run.timer is None:
            run.timer = asyncio.get_running_loop().call_later(AGAIN_S, self._write_waiting, event.run_id, run)

    def _write_waiting(self, run_id: str, run: _Known) -> None:
        run.timer = None
        self._write(run_id, run, tuple(run.waiting.values()), self._clock())

    def _write(self, run_id: str, run: _Known, due: Sequence[NodeFacts], now: float) -> None:
        for facts in due:
            run.waiting.pop(facts.path, None)
        if due and not run.failed:
            gone = _note(run, due, now)
            nodes = [replace(facts, detail=self._redact(facts.detail)) for facts in due]
            written = self._kept.keep(run_id=run_id, nodes=nodes, gone=gone)
            written.add_done_callback(lambda done: _complain(done, run_id, run))


def _note(run: _Known, due: Sequence[NodeFacts], now: float) -> list[str]:
    """Note what is written; returns the paths of ended agents that are too many by now."""
    for facts in due:
        run.written[facts.path] = now
        if facts.state.over:
            run.ended[facts.path] = None
    gone = list(run.ended)[: max(0, len(run.ended) - MAX_ENDED)]
    for path in gone:
        del run.ended[path], run.written[path]
    return gone


def _complain(done: asyncio.Future[None], run_id: str, run: _Known) -> None:
    """Log a failed write of the run's agents, once a run: a full disk costs the picture, not the run."""
    problem = None if done.cancelled() else done.exception()
    if problem is not None and not run.failed:
        run.failed = True
        _log.warning("the agents of run %s are not kept to its end: %s", run_id, problem)


def as_it_ended(kept: StoredRun) -> StoredRun:
    """Agents of a run that is over have ended: those that the end of the app cut off say so."""
    if not kept.over:
        return kept
    return replace(kept, nodes=tuple(_ended(facts, kept.reason == "interrupted") for facts in kept.nodes))


def _ended(facts: NodeFacts, interrupted: bool) -> NodeFacts:
    if facts.state.over and not (interrupted and facts.state is NodeState.CANCELLED and facts.detail == CLOSING):
        return facts
    state, detail = (NodeState.INTERRUPTED, CUT_OFF) if interrupted else (NodeState.CANCELLED, LEFT)
    return replace(facts, state=state, detail=detail, doing="", pause_asked=False, stopping=False)
