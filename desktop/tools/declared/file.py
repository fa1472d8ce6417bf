"""The declaring file of a running app: read, put in force at once, changed only here (R-CLI-14, R-FS-10, Q-17).

Every method blocks: use a thread.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Generic

from desktop.tools.declared.entries import D, DeclaredEntries, DeclaredList
from desktop.tools.person_file import CannotSaveTools, PersonFile, ToolsFile
from desktop.yaml_text.tree import MAX_BYTES


class DeclaredFile(ABC, Generic[D]):
    """What is in force is the last set that could be read."""

    def __init__(self, path: Path, holds: DeclaredList) -> None:
        self.path = path
        self._file = PersonFile(path, MAX_BYTES)
        self._holds = holds
        self._lock = threading.RLock()
        self._seen = ""
        self._listeners: list[Callable[[], None]] = []
        self.readings = 0
        """How often the file was read to be put in force."""

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Called after every change of what is in force, of its problems and of what is shown with it, in the thread
        that made it; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def retell(self) -> None:
        """Tell everybody; nothing is read."""
        for listener in tuple(self._listeners):
            listener()

    def read(self) -> ToolsFile:
        """The file; an absent one is empty. Raises CannotSaveTools when it cannot be read."""
        return self._file.read()

    @abstractmethod
    def check(self, text: str) -> DeclaredEntries[D]:
        """What a text would declare, while a person types; nothing changes."""

    @abstractmethod
    def _take(self, found: DeclaredEntries[D]) -> None:
        """Put it in force, all at once; where it is broken, only its problems."""

    def reload(self) -> None:
        """Put what the file declares in force; a broken file changes nothing but the problems."""
        with self._lock:
            self._seen = self._file.looks()
            self.readings += 1
            try:
                found = self.check(self.read().text)
            except CannotSaveTools as error:
                found = self._holds.broken(str(error))
            self._take(found)

    def reload_if_changed(self) -> None:
        """The same when the file looks different than at the last reload."""
        with self._lock:
            if self._file.looks() != self._seen:
                self.reload()

    def save(self, text: str, stamp: str, *, over: bool = False) -> ToolsFile:
        """Write the whole file and put it in force. ``stamp`` is what was read; ``over`` writes over other changes.

        Raises ToolsFileConflict, or CannotSaveTools for a text that is no such list or a disk that says no.
        """
        found = self.check(text)
        if found.broken:
            first = found.problems[0]
            raise CannotSaveTools(
                f"Line {first.line}, column {first.column}: {first.message}",
                next_step=f"Correct it; until then nothing is saved and the {self._holds.key} stay as they are.",
            )
        with self._lock:
            written = self._file.write(text, stamp, over=over)
            self.reload()
        return written
