"""Keeps which versions of files threads have read, beside their work: what is not kept yet when Assent ends was not
read."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.files.reads import ReadFileVersion
from desktop.store.reads import ReadRepository

Known = Callable[[str, str], "ReadFileVersion | None"]
"""The version of a file that a thread knows now, by thread and path."""
logger = logging.getLogger(__name__)


class ReadsKeeper:
    """Implements ``domain.files.reads.KeptReads``. Made on the loop. ``holds_keys`` says of which files nothing but a
    digest is kept; ``known`` is set by whoever has the versions."""

    def __init__(
        self,
        store: ReadRepository,
        spawn: Callable[[Coroutine[Any, Any, Any], str], object],
        holds_keys: Callable[[str, bytes], bool],
    ) -> None:
        self._store, self._spawn, self._holds_keys = store, spawn, holds_keys
        self._loop = asyncio.get_running_loop()
        self._changed: dict[str, set[str]] = {}
        self._writing = False
        self.known: Known = lambda _thread_id, _path: None

    async def load(self, thread_id: str) -> Sequence[ReadFileVersion]:
        """What is kept of a thread; nothing where it cannot be read."""
        try:
            return await self._store.of_thread(thread_id=thread_id)
        except KnownError as error:
            logger.warning("what a thread has read is not known any more: %s", error.code)
            return ()

    def changed(self, thread_id: str, path: str) -> None:
        """Write it down soon."""
        if thread_id:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._note, thread_id, path)

    def _note(self, thread_id: str, path: str) -> None:
        self._changed.setdefault(thread_id, set()).add(path)
        if not self._writing:
            try:
                self._spawn(self._write(), "reads: kept")
                self._writing = True
            except RuntimeError:  # Assent is closing: what is not kept by now was not read
                self._changed.clear()

    async def _write(self) -> None:
        try:
            while self._changed:
                thread_id, paths = self._changed.popitem()
                versions = await asyncio.to_thread(self._versions, thread_id, paths)
                await self._store.put(thread_id=thread_id, versions=versions)
        except KnownError as error:
            logger.warning("what a thread has read is not kept: %s", error.code)
        finally:
            self._writing = False

    def _versions(self, thread_id: str, paths: set[str]) -> list[ReadFileVersion]:
        """Blocks."""
        found = [one for path in sorted(paths) if (one := self.known(thread_id, path)) is not None]
        return [
            replace(one, packed=b"") if one.packed and self._holds_keys(one.path, zlib.decompress(one.packed)) else one
            for one in found
        ]
