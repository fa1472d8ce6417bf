"""In which mode each thread works: asked each time, or up to the edge of its folder (R-ASK-1).

A thread has the mode that a person gave it. None takes one over: not a new one, not a branch, not what an agent makes.
Those that work for a thread work in its mode, because what decides is the thread that the person sees.
"""

from __future__ import annotations

from collections.abc import Callable

from desktop.domain.approval.thread_modes import ThreadMode
from desktop.domain.runs.events import ThreadChanged
from desktop.store import Store
from desktop.supervision.bus import Bus

EXPLAINED = "modes.explained"
"""Where it is kept that a person was told what the edge is."""


class ThreadModes:
    """Implements ``domain.thread_modes.EdgeModes``. ``open`` it before the first call. Used on the loop, but for
    ``unconfined``."""

    def __init__(self, store: Store, bus: Bus, unconfined: Callable[[], str]) -> None:
        self._store, self._bus = store, bus
        self._unconfined = unconfined
        self._edge: set[str] = set()

    async def open(self) -> None:
        """Read which threads work up to the edge."""
        self._edge = set(await self._store.threads.at_edge())

    def mode(self, thread_id: str) -> ThreadMode:
        """The mode of a thread now."""
        return "edge" if thread_id in self._edge else "ask"

    def unconfined(self) -> str:
        """Why commands cannot be confined on this machine, or "". Blocks."""
        return self._unconfined()

    async def set(self, thread_id: str, mode: ThreadMode) -> None:
        """Have a thread work in a mode, from its next call on. Asking counts at once, the edge once it is kept."""
        if mode == "ask":
            self._edge.discard(thread_id)
        await self._store.threads.set_mode(thread_id=thread_id, mode=mode)
        if mode == "edge":
            self._edge.add(thread_id)
        self._bus.publish(ThreadChanged(thread_id=thread_id, run_id="", what="mode"))

    async def explained(self) -> bool:
        """Whether the person has been told what the edge is."""
        return await self._store.state.get(key=EXPLAINED, default=False) is True

    async def set_explained(self) -> None:
        """They have been told."""
        await self._store.state.put(key=EXPLAINED, value=True)
