"""Results of a chat: what its calls wrote, as they wrote it. Nothing is read from where a file lies now, but whether it
still is what was written; and that only where the chat may read."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import stat
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import BinaryIO

from desktop.domain.errors import KnownError
from desktop.domain.files.pictures import PictureOpener
from desktop.domain.files.results import OpenResult, ResultFile, ResultOpener, ResultRefused, ResultVersion, results_of
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.safety import Access, GuardedFiles
from desktop.files.nameless import nameless_file
from desktop.services.changes.recording import NOT_KEPT
from desktop.store.changes import ChangeRepository
from desktop.store.kept_files import KeptFiles

GONE = "This version is not kept any more. Settings, Undo and changes, says for how long it is."
WRITTEN = "; this is what was written."
CLOSED = f"Its folder is closed to this chat now{WRITTEN}"
DAMAGED = "What was kept of this version is damaged."


class ResultService:
    """``changes`` and ``kept`` have what calls wrote, ``opener`` and ``pictures`` show it; ``files`` knows where a chat
    may read."""

    def __init__(
        self,
        changes: ChangeRepository,
        kept: KeptFiles,
        opener: ResultOpener,
        pictures: PictureOpener,
        files: GuardedFiles,
    ) -> None:
        self._changes, self._kept, self._files = changes, kept, files
        self._opener, self._pictures = opener, pictures

    async def of_thread(self, thread_id: str) -> list[ResultFile]:
        """What the calls of a thread wrote and can be shown."""
        records = await self._changes.of_thread(thread_id=thread_id)
        return await asyncio.to_thread(results_of, records)

    @asynccontextmanager
    async def opened(self, result: ResultFile, version: ResultVersion) -> AsyncIterator[OpenResult]:
        """A version, open. Raises ResultRefused."""
        async with AsyncExitStack() as held:
            file = await asyncio.to_thread(self._handle, version)
            held.callback(file.close)
            yield await held.enter_async_context(self._opener.open(file.fileno(), result.name, result.kind))

    async def content(self, version: ResultVersion) -> bytes:
        """All of a version. Raises ResultRefused."""
        return await asyncio.to_thread(self._content, version)

    async def picture(self, result: ResultFile, version: ResultVersion) -> bytes:
        """A picture made anew, so that nothing of what was written is decoded here. Raises ResultRefused, and
        PictureRefused for what is none."""
        made = await self._pictures.picture(await self.content(version), result.name)
        return await asyncio.to_thread(base64.b64decode, made.data)

    async def beginning(self, digest: str) -> bytes:
        """A file as it was before the first call; nothing where that is not kept."""
        try:
            return await asyncio.to_thread(self._content, ResultVersion(0, 0.0, 0, digest)) if digest else b""
        except ResultRefused:
            return b""

    async def now(self, result: ResultFile) -> str:
        """What became of a file since its last version, in words; "" where it is as it was written."""
        return await asyncio.to_thread(self._now, result) if result.is_file else ""

    # -- in threads ---------------------------------------------------------------------------------------------------

    def _handle(self, version: ResultVersion) -> BinaryIO:
        data = self._content(version)
        try:
            file = nameless_file()
            file.write(data)
            file.flush()
        except OSError as error:
            raise ResultRefused(f"It cannot be shown now: {error.strerror or 'the disk refuses it'}.") from None
        return file

    def _content(self, version: ResultVersion) -> bytes:
        if version.text:
            return version.text.encode("utf-8", "replace")
        if version.not_kept:
            raise ResultRefused(f"This version was not kept: {NOT_KEPT[version.not_kept]}.")
        try:
            with self._kept.open(version.digest) as stream:
                content = stream.read()
        except (KnownError, OSError, EOFError):
            raise ResultRefused(GONE) from None
        if hashlib.sha256(content).hexdigest() != version.digest:
            raise ResultRefused(DAMAGED)
        return content

    def _now(self, result: ResultFile) -> str:
        files = self._files.within(WorkPlace(result.project))
        if not files.explain(os.path.dirname(result.key), Access.READ).allowed:
            return CLOSED
        try:
            mode = os.lstat(result.key).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return f"The file is deleted since{WRITTEN}"
        except OSError:
            return f"The file cannot be read now{WRITTEN}"
        if not stat.S_ISREG(mode):  # where a link leads to is not looked at
            what = "link" if stat.S_ISLNK(mode) else "folder" if stat.S_ISDIR(mode) else "pipe, or something like it,"
            return f"There is a {what} at its place now{WRITTEN}"
        if not files.explain(result.key, Access.READ).allowed:
            return CLOSED
        return (
            "" if _digest(files, result.key) == result.versions[-1].digest else f"The file was changed since{WRITTEN}"
        )


def _digest(files: GuardedFiles, path: str) -> str:
    """SHA-256 of a file, as far as the chat may read it. Blocks."""
    try:
        found = hashlib.sha256()
        with files.open_read(path) as stream:
            while piece := stream.read(1 << 20):
                found.update(piece)
        return found.hexdigest()
    except (KnownError, OSError):
        return ""
