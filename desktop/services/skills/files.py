"""The files of skills in use, behind the same door as those of the boundary: read, listed, and never written.

A skill is in use from the moment its text was given to a model, until the app ends. What of its folder is denied, or of
a pinned skill has not been seen, stays closed; no link leads out of it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import BinaryIO

from desktop.domain.errors import BoundaryViolation, KnownError, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.safety import Access, GuardedFiles, ListedEntry, PathVerdict, WriteOutcome
from desktop.domain.skills import SkillDef
from desktop.files.nameless import nameless_file
from desktop.safety.boundary.opening import listed_entry

MAX_READ = 1_000_000
"""Bytes of one file of a skill that can be read; a command may look into larger ones."""

ReadBeside = Callable[[SkillDef, str, int], bytes]
"""A file of a skill's folder by its name from there, of so many bytes at most. Raises KnownError."""


class SkillsInUse:
    """The folders of skills whose text was given to a model. Thread-safe."""

    def __init__(self, read: ReadBeside) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._folders: dict[str, SkillDef] = {}

    def add(self, definition: SkillDef) -> None:
        """From now on its files can be read. Blocks for a system call."""
        folder = os.path.realpath(os.path.dirname(definition.path))
        with self._lock:
            self._folders[folder] = definition

    def holding(self, resolved: str) -> tuple[SkillDef, str] | None:
        """The skill that a resolved path belongs to, and its folder."""
        with self._lock:
            folders = [one for one in self._folders if resolved == one or resolved.startswith(one + os.sep)]
            return (self._folders[found], found) if (found := max(folders, key=len, default="")) else None

    def places(self, relative: str) -> list[str]:
        """Where a relative path that exists would be in each of them."""
        with self._lock:
            folders = list(self._folders)
        return [path for folder in folders if os.path.exists(path := os.path.join(folder, relative))]

    def bytes_of(self, definition: SkillDef, name: str) -> bytes:
        """Raises KnownError for what is not of the skill, is too large, or has not been seen."""
        return self._read(definition, name, MAX_READ)


class FilesWithSkills:
    """Implements ``domain.safety.GuardedFiles`` for the reading tools: the boundary first, then skills in use.
    ``skills`` is set once there are any."""

    def __init__(self, files: GuardedFiles) -> None:
        self._files = files
        self.skills: SkillsInUse | None = None

    def within(self, place: WorkPlace) -> FilesWithSkills:
        """The same for calls that are made there."""
        if not place.project:
            return self
        made = FilesWithSkills(self._files.within(place))
        made.skills = self.skills
        return made

    def explain(self, path: str, access: Access) -> PathVerdict:
        """Judge a path as the boundary does; reading in the folder of a skill in use is allowed besides."""
        verdict = self._files.explain(path, access)
        if access is Access.WRITE or self.skills is None or self._is_there(verdict):
            return verdict
        found = self._of_skill(verdict, access) or self._beside(path, access)
        return verdict if found is None else found

    @staticmethod
    def _is_there(verdict: PathVerdict) -> bool:
        return verdict.allowed and verdict.identity != "absent"

    def _of_skill(self, verdict: PathVerdict, access: Access) -> PathVerdict | None:
        """The same place as a skill's, if only the boundary keeps it closed."""
        holding = self.skills.holding(verdict.resolved) if self.skills is not None and verdict.resolved else None
        if verdict.rule != "outside" or holding is None:
            return None
        name = holding[0].name
        sentence = f"{verdict.resolved} belongs to the skill {name}, which is in use; it can be read."
        return PathVerdict(
            True, verdict.given, verdict.resolved, f"skill {name}", sentence, access, identity=verdict.identity
        )

    def _beside(self, path: str, access: Access) -> PathVerdict | None:
        """A relative path that is not in the workspace, in the one skill in use that has it."""
        if self.skills is None or os.path.isabs(path) or path.startswith("~") or "\0" in path:
            return None
        places = [self._files.explain(place, access) for place in self.skills.places(path)]
        found = [verdict for place in places if (verdict := self._of_skill(place, access)) is not None]
        return found[0] if len(found) == 1 else None

    def open_read(self, path: str) -> BinaryIO:
        """A file of the boundary, or the content of a skill's file as the person has seen it."""
        verdict = self.explain(path, Access.READ)
        if not verdict.rule.startswith("skill ") or self.skills is None:
            return self._files.open_read(path)
        definition, folder = self._holding(verdict)
        if os.path.isdir(verdict.resolved):
            raise ToolFailure(f"{verdict.resolved} is a folder; list it instead.", code="file.is_folder")
        try:
            data = self.skills.bytes_of(definition, os.path.relpath(verdict.resolved, folder))
        except KnownError as error:
            raise ToolFailure(str(error), code="file.failed", next_step=error.next_step) from error
        stream = nameless_file()
        stream.write(data)
        stream.seek(0)
        return stream

    def _holding(self, verdict: PathVerdict) -> tuple[SkillDef, str]:
        found = self.skills.holding(verdict.resolved) if self.skills is not None else None
        if found is None:
            raise BoundaryViolation(verdict.sentence)
        return found

    def list_folder(self, path: str, limit: int) -> tuple[list[ListedEntry], int]:
        """The names in a folder of the boundary, or of a skill."""
        verdict = self.explain(path, Access.LIST)
        if not verdict.rule.startswith("skill "):
            return self._files.list_folder(path, limit)
        self._holding(verdict)
        try:
            with os.scandir(verdict.resolved) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            raise ToolFailure(f"{verdict.resolved}: {error.strerror}.", code="file.failed") from error
        return [listed_entry(entry) for entry in entries[:limit]], len(entries)

    def write_atomic(self, path: str, data: bytes, *, expected: str | None = None) -> WriteOutcome:
        """Within the boundary alone: nothing is written into a skill."""
        return self._files.write_atomic(path, data, expected=expected)
