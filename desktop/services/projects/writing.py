"""Whether agents may change a file: what they may change is not started without a person's look at it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, GuardedFiles
from desktop.services.projects.service import ProjectService


@dataclass(frozen=True, slots=True)
class AgentsWriting:
    """In the boundary of every chat, and in the folders that chats work in."""

    projects: ProjectService
    files: GuardedFiles

    async def __call__(self, path: str) -> bool:
        """Whether they may change the file, or put another one at its place."""
        rows = await self.projects.recent()
        folders = ["", *(row.folder.path for row in rows if row.folder.path and not row.folder.closed)]
        return await asyncio.to_thread(lambda: any(self._in(folder, path) for folder in folders))

    def _in(self, folder: str, path: str) -> bool:
        files = self.files.within(WorkPlace(folder))
        return any(files.explain(one, Access.WRITE).allowed for one in _way_to(path))


def _way_to(path: str) -> Iterator[str]:
    """The file and the folders that it is reached by: each may be a link to elsewhere."""
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above
