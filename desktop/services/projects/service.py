"""Choosing the folder that a thread works in. Choosing opens it to that thread's calls, and starts nothing."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.files.projects import ProjectFolder, ProjectLook, ProjectRow
from desktop.domain.threads import ThreadRecord
from desktop.services.projects.instructions import ProjectInstructions
from desktop.services.threads.service import ThreadService
from desktop.store.composer import StateRepository

RECENT = "projects.recent"
MAX_RECENT = 30
Judge = Callable[[str], ProjectFolder]
"""What a folder is that a person names. Blocks."""


async def _stays(_thread_id: str) -> None:
    """Where nothing of a thread hangs on its folder."""


class ProjectService:
    """``is_working`` says whether a run goes on in a thread: its folder stays until that is over. ``leaving`` is
    awaited before a thread gets another folder: what a person allowed in the one is not allowed in the next."""

    def __init__(
        self,
        threads: ThreadService,
        state: StateRepository,
        judge: Judge,
        is_working: Callable[[str], bool],
        instructions: ProjectInstructions,
        leaving: Callable[[str], Awaitable[None]] = _stays,
    ) -> None:
        self._threads = threads
        self._state = state
        self._judge = judge
        self._is_working = is_working
        self._leaving = leaving
        self.instructions = instructions
        self._writing = asyncio.Lock()

    async def judged(self, path: str) -> ProjectFolder:
        """A folder as it is now."""
        return await asyncio.to_thread(self._judge, path)

    async def usable(self, path: str) -> ProjectFolder:
        """The folder, if a thread can work in it. Raises KnownError saying why not."""
        folder = await self.judged(path)
        if folder.closed:
            name = folder.path or path
            raise KnownError(f"{name} {folder.closed}.", next_step="Choose another folder.", code="project.closed")
        return folder

    async def choose(self, thread_id: str, path: str) -> str:
        """Have a thread work in a folder from its next run on; "" for none. Where that really is. Raises KnownError."""
        if thread_id and self._is_working(thread_id):
            words = "The folder of a chat stays while it is at work."
            raise KnownError(words, next_step="Stop it, or wait until it is done.", code="project.at_work")
        folder = await self.usable(path) if path else None
        real = folder.path if folder is not None else ""
        if real:
            await self.instructions.met(real)
        if thread_id:
            await self.place(thread_id, real)
        if folder is not None:
            await self.used(folder.given)
        return real

    async def place(self, thread_id: str, real: str) -> None:
        """Have a thread work in a folder that was found to be usable; it is not remembered for others."""
        if (await self._threads.thread(thread_id)).project != real:
            await self._leaving(thread_id)
        await self._threads.set_project(thread_id, real)

    async def chosen_before(self, real: str) -> bool:
        """Whether a person has chosen this folder before, by its own name: a link says nothing of where it led then."""
        names = [given for given, _at in await self._recent()]
        return any(_in_full(given) == real for given in names)

    async def used(self, given: str) -> None:
        """Remember a folder by the name that the person gave it."""
        async with self._writing:
            kept = [one for one in await self._recent() if one[0] != given]
            await self._state.put(key=RECENT, value=[[given, time.time()], *kept][:MAX_RECENT])

    async def recent(self, known: Iterable[ThreadRecord] | None = None) -> list[ProjectRow]:
        """The folders that were used, the latest first, each as it is now; also those that cannot be used any more."""
        named = dict(await self._recent())
        threads = [one for one in (known if known is not None else await self._threads.threads()) if one.project]
        counts: dict[str, tuple[int, float]] = {}
        for thread in threads:
            number, at = counts.get(thread.project, (0, 0.0))
            counts[thread.project] = (number + 1, max(at, thread.updated_at))
        folders = await asyncio.to_thread(lambda: [self._judge(path) for path in dict.fromkeys((*named, *counts))])
        rows: dict[str, ProjectRow] = {}
        for folder in folders:
            number, at = counts.get(folder.path, counts.get(folder.given, (0, 0.0)))
            row = ProjectRow(folder, number, max(at, named.get(folder.given, 0.0)))
            before = rows.get(folder.path or folder.given)
            if before is None or (row.folder.given in named and before.folder.given not in named):
                rows[folder.path or folder.given] = row
        return sorted(rows.values(), key=lambda row: row.used_at, reverse=True)

    async def look(self, path: str) -> ProjectLook:
        """A folder before it is used: whether it can be, and what it brings."""
        rows = await self.recent()
        folder = await self.judged(path)
        row = next((row for row in rows if row.folder.path == folder.path), ProjectRow(folder))
        brought = () if folder.closed else await self.instructions.offers(folder.path)
        return ProjectLook(ProjectRow(folder, row.threads, row.used_at), brought)

    async def closed(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Why no thread can work in these, for those of them where that is so."""
        found = await asyncio.to_thread(lambda: {path: self._judge(path).closed for path in paths})
        return {path: why for path, why in found.items() if why}

    async def _recent(self) -> list[tuple[str, float]]:
        kept: Any = await self._state.get(key=RECENT, default=[])
        rows = kept if isinstance(kept, list) else []
        return [
            (row[0], float(row[1]))
            for row in rows
            if isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], (int, float))
        ]


def _in_full(given: str) -> str:
    """A name that a person gave, as a path; where its links lead is not asked."""
    return os.path.normpath(os.path.expanduser(given))
