"""What lies in the folder of a ``SKILL.md``: every file of it (S-SK-3). Listed, never read or run here."""

from __future__ import annotations

import os
from collections.abc import Iterator

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef

MAX_FILES = 500
MAX_DEPTH = 6
NOT_OURS = frozenset({"node_modules", "__pycache__", "dist"})
"""Folders that programs make; skill folders are searched without them too."""


@dataclass(frozen=True, slots=True)
class FolderFile:
    """``path`` is relative to the skill's folder, with forward slashes; ``size`` in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """The files in order of their paths, those of a folder before the folders in it. ``more``: there are files beyond
    the limits; ``unreadable`` are folders that refused."""

    files: tuple[FolderFile, ...] = ()
    more: bool = False
    unreadable: tuple[str, ...] = ()


def folder_files(definition: SkillDef) -> FolderFiles:
    """The files of a folder skill but its own ``SKILL.md``; none for other kinds. Blocks. Links and dot files are left
    out, and so are folders that are skills themselves."""
    if definition.kind != "folder":
        return FolderFiles()
    folder, own = os.path.split(definition.path)
    walk = _FolderWalk(folder, own)
    found: list[FolderFile] = []
    for file in walk.below("", 1):
        if len(found) == MAX_FILES:
            walk.more = True
            break
        found.append(file)
    return FolderFiles(tuple(found), walk.more, tuple(walk.unreadable))


class _FolderWalk:
    """Goes through the folders in order, and stops at the limits."""

    def __init__(self, root: str, own: str) -> None:
        self.more = False
        self.unreadable: list[str] = []
        self._root = root
        self._own = own

    def below(self, folder: str, depth: int) -> Iterator[FolderFile]:
        """The files of a folder, then those of the folders in it."""
        entries = self._entries(folder)
        if folder and any(entry.name in ("SKILL.md", "skill.md") for entry in entries):
            return
        inner: list[str] = []
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                inner += [] if entry.name in NOT_OURS else [path]
            elif entry.is_file(follow_symlinks=False) and path != self._own:
                yield FolderFile(path, self._size(entry))
        if inner and depth >= MAX_DEPTH:
            self.more = True
            return
        for path in inner:
            yield from self.below(path, depth + 1)

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
