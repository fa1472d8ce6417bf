"""How much of a model's window the last request of each thread filled, kept for the next start."""

from __future__ import annotations

import logging

from desktop.domain.errors import KnownError
from desktop.domain.runs.events import ContextMeasured, Event, RunEnded
from desktop.store import Store
from desktop.supervision.bus import Bus

_log = logging.getLogger(__name__)


class ContextMeasures:
    """Hears of measures and stores the last one of a run when it is over."""

    def __init__(self, store: Store, bus: Bus) -> None:
        self._store = store
        self._measured: dict[str, int] = {}
        bus.listen(self._measure)

    def _measure(self, event: Event) -> None:
        if isinstance(event, ContextMeasured):
            self._measured[event.thread_id] = event.used
        elif isinstance(event, RunEnded):
            self._measured.pop(event.thread_id, None)

    async def keep(self, thread_id: str, leaf: str) -> None:
        """Store how much of the window is used; ``leaf`` is the message that it goes up to."""
        used = self._measured.get(thread_id)
        if used is None:
            return
        try:
            await self._store.state.put(key=f"context:{thread_id}", value={"used": used, "leaf": leaf})
        except KnownError as error:  # the next start then estimates it
            _log.info("the measure of the context is not kept: %s", error.code)
