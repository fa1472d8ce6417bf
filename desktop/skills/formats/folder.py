"""What lies beside a ``SKILL.md``: scripts/, references/ and assets/ (S-SK-3). Listed, never read or run here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from desktop.domain.skills import SkillDef

PARTS = ("scripts", "references", "assets")
MAX_FILES = 500
MAX_DEPTH = 5


@dataclass(frozen=True, slots=True)
class FolderFile:
    """``path`` is relative to the skill's folder, with forward slashes; ``size`` in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """In order of their paths. ``more``: there are files beyond the limits; ``unreadable`` are folders that refused."""

    files: tuple[FolderFile, ...] = ()
    more: bool = False
    unreadable: tuple[str, ...] = ()


def folder_files(definition: SkillDef) -> FolderFiles:
    """The files of a folder skill; none for other kinds. Blocks. Links and dot files are left out."""
    if definition.kind != "folder":
        return FolderFiles()
    walk = _Walk(os.path.dirname(definition.path))
    found: list[FolderFile] = []
    for file in walk.files():
        if len(found) == MAX_FILES:
            walk.more = True
            break
        found.append(file)
    return FolderFiles(tuple(found), walk.more, tuple(walk.unreadable))


class _Walk:
    """Goes through the folders in order, and stops at the limits."""

    def __init__(self, root: str) -> None:
        self.more = False
        self.unreadable: list[str] = []
        self._root = root

    def files(self) -> Iterator[FolderFile]:
        for part in PARTS:
            if not os.path.islink(os.path.join(self._root, part)):
                yield from self._below(part, 1)

    def _below(self, folder: str, depth: int) -> Iterator[FolderFile]:
        for entry in self._entries(folder):
            path = f"{folder}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if depth < MAX_DEPTH:
                    yield from self._below(path, depth + 1)
                else:
                    self.more = True
            elif entry.is_file(follow_symlinks=False):
                yield FolderFile(path, self._size(entry))

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self._root, folder)) as entries:
                visible = [entry for _, entry in zip(range(MAX_FILES * 2), entries, strict=False)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            self.unreadable.append(folder)
            return []
        self.more = self.more or len(visible) == MAX_FILES * 2
        return sorted((entry for entry in visible if entry.name[0] != "."), key=lambda entry: entry.name)

    @staticmethod
    def _size(entry: os.DirEntry[str]) -> int:
        try:
            return entry.stat(follow_symlinks=False).st_size
        except OSError:
            return 0
