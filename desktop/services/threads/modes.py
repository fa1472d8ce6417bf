"""In which mode each thread works: asked each time, or up to the edge of its folder (R-ASK-1).

A thread has the mode that a person gave it. None takes one over: not a new one, not a branch, not what an agent makes.
A new chat in a folder begins at the edge where a person said so of new chats in that folder, and its head shows it.
Those that work for a thread work in its mode, because what decides is the thread that the person sees.
"""

from __future__ import annotations

from collections.abc import Callable

from desktop.domain.approval.thread_modes import ThreadMode
from desktop.domain.runs.events import ThreadChanged
from desktop.store import Store
from desktop.supervision.bus import Bus

FOLDERS = "modes.folders"
"""Where the folders are kept whose new chats begin at the edge."""
MAX_FOLDERS = 200
EXPLAINED = "modes.explained"
"""Where it is kept that a person was told what the edge is."""


class ThreadModes:
    """Implements ``domain.thread_modes.EdgeModes``. ``open`` it before the first call. Used on the loop, but for
    ``unconfined``."""

    def __init__(self, store: Store, bus: Bus, unconfined: Callable[[], str]) -> None:
        self._store, self._bus = store, bus
        self._unconfined = unconfined
        self._edge: set[str] = set()
        self._folders: list[str] = []

    async def open(self) -> None:
        """Read which threads work up to the edge, and in which folders new chats begin so."""
        self._edge = set(await self._store.threads.at_edge())
        kept = await self._store.state.get(key=FOLDERS, default=[])
        self._folders = [one for one in kept if isinstance(one, str) and one] if isinstance(kept, list) else []

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

    async def folder_left(self, thread_id: str) -> None:
        """A thread gets another folder: the edge that a person agreed to was that of the one before."""
        if self.mode(thread_id) == "edge":
            await self.set(thread_id, "ask")

    def usual(self, project: str) -> ThreadMode:
        """The mode in which new chats in a folder begin."""
        return "edge" if project and project in self._folders else "ask"

    async def set_usual(self, project: str, mode: ThreadMode) -> None:
        """Have new chats in a folder begin in a mode; those that there are stay as they are."""
        others = [one for one in self._folders if one != project]
        folders = [project, *others][:MAX_FOLDERS] if mode == "edge" else others
        if mode == "ask":
            self._folders = folders
        await self._store.state.put(key=FOLDERS, value=folders)
        self._folders = folders

    async def explained(self) -> bool:
        """Whether the person has been told what the edge is."""
        return await self._store.state.get(key=EXPLAINED, default=False) is True

    async def set_explained(self) -> None:
        """They have been told."""
        await self._store.state.put(key=EXPLAINED, value=True)
