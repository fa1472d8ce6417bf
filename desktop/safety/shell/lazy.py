"""The reader of shell commands, whose code (1 MB) is imported with the first command, in the reading thread.

Fails closed: a reader that cannot be imported raises, and what is not read is not run.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.safety import SettingsProvider, ShellReading
from desktop.safety.boundary.policy import BoundaryPolicy

if TYPE_CHECKING:
    from desktop.safety.shell import reader as shell_reader
    from desktop.safety.shell.reader import BashReader
else:
    shell_reader = lazy_module("desktop.safety.shell.reader")


class LazyShellReader:
    """A stand-in for ``BashReader`` that imports it when first used. Implements ``domain.safety.ShellReader``."""

    def __init__(self, policy: BoundaryPolicy, settings: SettingsProvider) -> None:
        self._policy = policy
        self._settings = settings
        self._reader: BashReader | None = None

    def within(self, place: WorkPlace) -> LazyShellReader:
        """The reader of commands that start there."""
        return _Within(self, place) if place.project else self

    async def read(self, command: str) -> ShellReading:
        """Judge a command that would start in the workspace."""
        return await asyncio.to_thread(self.read_now, command)

    def read_now(self, command: str) -> ShellReading:
        """Read a command. Blocks."""
        return self.warm().read_now(command)

    def warm(self) -> BashReader:
        """Import it, if need be. Blocks."""
        if self._reader is None:
            self._reader = shell_reader.BashReader(self._policy, self._settings)
        return self._reader


class _Within(LazyShellReader):
    """The same reader, of commands that start in a project."""

    def __init__(self, reader: LazyShellReader, place: WorkPlace) -> None:
        self._outer = reader
        self._place = place

    def within(self, place: WorkPlace) -> LazyShellReader:
        """The reader of commands that start there."""
        return self._outer.within(place)

    def warm(self) -> BashReader:
        """Import it, if need be. Blocks."""
        return self._outer.warm().within(self._place)
