"""Which skill files a folder holds, found by names and stamps alone (R-RES-6, R-RES-7).

Nothing is read here. A second scan of a folder that is known looks only at the stamps of its folders and files, and
lists again only the folders whose own stamp moved: 10,000 skills are checked in 20,000 calls of ``stat``.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import field
from typing import NamedTuple

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillProblem

MAX_DEPTH = 16
MAX_FILES = 50_000
MAX_FOLDERS = 50_000
RACY_NS = 2_000_000_000
"""Files younger than this when they were looked at may change once more within the clock's grain: they are read again
next time (as git does for its index)."""

SUFFIXES = (".skill.md", ".skill.py", ".skill.js", ".skill.ts")
FOLDER_FILES = ("SKILL.md", "skill.md")
NO_COMPANIONS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
BUILD_INDEX = ".skills-index.json"


class FileStamp(NamedTuple):
    """What tells whether a file is still the same. ``racy``: it may not be, even if all else agrees."""

    size: int
    mtime: int
    ctime: int
    inode: int
    racy: bool = False
    companion: bool = False

    def same(self, found: os.stat_result) -> bool:
        """Whether a file with these facts has not changed since."""
        return (
            not self.racy
            and found.st_mtime_ns == self.mtime
            and found.st_ctime_ns == self.ctime
            and found.st_size == self.size
            and found.st_ino == self.inode
        )


FolderStamp = tuple[int, int, int]
"""Modification and change time and inode of a folder; zeros: list it again in any case."""
UNKNOWN: FolderStamp = (0, 0, 0)


def is_skill_file(name: str) -> bool:
    """Whether a file of this name is a skill's."""
    return name in FOLDER_FILES or name.endswith(SUFFIXES)


@dataclass(frozen=True, slots=True)
class ScanRules:
    """How a folder is scanned. ``companions``: files beside a ``SKILL.md`` belong to it and are listed too.
    ``links_anywhere``: single files may be links that lead elsewhere. ``known``: folders, links resolved, into which a
    linked folder is followed."""

    ignored: Callable[[str, str], bool] = lambda _rel, _name: False
    companions: bool = False
    links_anywhere: bool = False
    known: tuple[str, ...] = ()


@dataclass(slots=True)
class FolderListing:
    """The state of one folder: paths below it with forward slashes, "" is the folder itself."""

    files: dict[str, FileStamp] = field(default_factory=dict)
    folders: dict[str, FolderStamp] = field(default_factory=dict)
    problems: dict[str, list[SkillProblem]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    """Files that are new or have to be read again."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Look at these files and folders only; whoever gives it knows that nothing else changed."""

    files: frozenset[str]
    folders: frozenset[str]


class Scan:
    """One walk over one folder."""

    def __init__(self, root: str, rules: ScanRules) -> None:
        self._root = root
        self._prefix = root.rstrip(os.sep) + os.sep
        self._rules = rules
        self._young = time.time_ns() - RACY_NS
        self._below: dict[str, list[str]] = {}
        self.found = FolderListing()

    def whole(self) -> FolderListing:
        """Everything, as if seen for the first time. A folder that is not there is empty."""
        self._walk("")
        return self.found

    def again(self, known: FolderListing, hint: Hint | None = None) -> FolderListing:
        """What there is now, with ``known`` as it was found last time."""
        stale = self._moved(known, hint)
        kept = self._kept_folders(known, stale)
        for rel, problems in known.problems.items():
            if rel in kept and rel not in stale:
                self.found.problems[rel] = problems
        self._look_at_files(known, kept, stale, None if hint is None else hint.files)
        self._below = _children(known.folders) if stale else {}
        for rel in sorted(stale & kept.keys()):
            if rel in self.found.folders:
                self._list(rel, known)
        return self.found

    # -- folders ------------------------------------------------------------------------------------------------------

    def _moved(self, known: FolderListing, hint: Hint | None) -> set[str]:
        """Known folders whose entries may have changed."""
        names: Iterable[str] = known.folders if hint is None else (rel for rel in known.folders if rel in hint.folders)
        moved, lstat, prefix = set(), os.lstat, self._prefix
        for rel in names:
            try:
                found = lstat(prefix + rel) if rel else os.stat(self._root)
                if stat.S_ISLNK(found.st_mode):
                    found = os.stat(prefix + rel) if not self._why_not(prefix + rel) else found
            except OSError:
                moved.add(rel)
                continue
            if known.folders[rel] != (found.st_mtime_ns, found.st_ctime_ns, found.st_ino):
                moved.add(rel)
        return moved if known.folders else {""}

    def _kept_folders(self, known: FolderListing, stale: set[str]) -> dict[str, FolderStamp]:
        """Known folders that are still folders, with all those above them."""
        if not stale:
            self.found.folders = dict(known.folders)
            return self.found.folders
        kept = self.found.folders
        for rel, stamp in known.folders.items() or [("", UNKNOWN)]:
            if rel and rel.rpartition("/")[0] not in kept:
                continue
            if rel not in stale or self._is_folder(rel):
                kept[rel] = stamp
        return kept

    def _is_folder(self, rel: str) -> bool:
        try:
            mode = (os.lstat(self._prefix + rel) if rel else os.stat(self._root)).st_mode
        except OSError:
            return False
        return stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and not self._why_not(self._prefix + rel))

    def _walk(self, rel: str) -> None:
        waiting = [rel]
        while waiting:
            waiting += self._list(waiting.pop(), None)

    def _list(self, rel: str, known: FolderListing | None) -> list[str]:
        """List one folder; with ``known``, walk into those below it that are new. Returns the folders to walk next."""
        self.found.folders[rel] = UNKNOWN
        try:
            stamp = self._stamp(rel)
            with os.scandir(self._prefix + rel if rel else self._root) as entries:
                below = [path for entry in entries if (path := self._entry(rel, entry, known))]
        except FileNotFoundError:
            del self.found.folders[rel]
            return []
        except OSError as error:
            self._report(rel, f"the folder cannot be read: {error.strerror}", "scan.unreadable")
            return []
        if rel not in self.found.problems:
            self.found.folders[rel] = stamp
        return self._descend(rel, below, known)

    def _descend(self, rel: str, below: list[str], known: FolderListing | None) -> list[str]:
        if below and rel.count("/") + 1 >= MAX_DEPTH:
            self._report(rel, f"folders deeper than {MAX_DEPTH} are not searched", "scan.depth")
            return []
        if len(self.found.folders) + len(below) > MAX_FOLDERS:
            self._report(rel, f"more than {MAX_FOLDERS} folders; the rest is not searched", "scan.count")
            return []
        if known is None:
            return below
        for path in below:
            if path not in self.found.folders:
                self._walk(path)
        self._drop_lost(rel, set(below))
        return []

    def _drop_lost(self, rel: str, present: set[str]) -> None:
        """Folders that were below ``rel`` and are none any more (deleted, moved, now a link, now ignored)."""
        for path in self._below.get(rel, ()):
            if path in present or path not in self.found.folders:
                continue
            for listed in (self.found.folders, self.found.files, self.found.problems):
                for inner in [inner for inner in listed if inner == path or inner.startswith(path + "/")]:
                    del listed[inner]

    def _stamp(self, rel: str) -> FolderStamp:
        found = os.stat(self._prefix + rel if rel else self._root)
        if max(found.st_mtime_ns, found.st_ctime_ns) > self._young:
            return UNKNOWN
        return (found.st_mtime_ns, found.st_ctime_ns, found.st_ino)

    # -- entries ------------------------------------------------------------------------------------------------------

    def _entry(self, folder: str, entry: os.DirEntry[str], known: FolderListing | None) -> str:
        """Note a file; for a folder that is to be searched, return its path."""
        name = entry.name
        rel = f"{folder}/{name}" if folder else name
        if self._rules.ignored(rel, name):
            return ""
        if entry.is_dir(follow_symlinks=False) or (entry.is_symlink() and _leads_to_folder(entry)):
            return rel if self._may_enter(folder, entry) else ""
        wanted = is_skill_file(name)
        if wanted or (self._rules.companions and name not in NO_COMPANIONS):
            self._file(folder, rel, entry, wanted, known)
        return ""

    def _may_enter(self, folder: str, entry: os.DirEntry[str]) -> bool:
        """A folder is searched; a link to one only where it stays in a known folder."""
        why = self._why_not(entry.path) if entry.is_symlink() else ""
        if why:
            self._report(folder, f"{entry.name} is a link to a folder; {why}", "scan.link", "warning")
        return not why

    def _why_not(self, path: str) -> str:
        """Why a linked folder is not followed, or "". Links in folders that were reached by one are not, so that no
        folder is gone through without end."""
        real, root = os.path.realpath(path), os.path.realpath(self._root)
        above = os.path.relpath(os.path.dirname(path), self._root)
        if os.path.realpath(os.path.dirname(path)) != os.path.normpath(os.path.join(root, above)):
            return "it lies in a folder that was reached by a link, and is not followed"
        if real == root or real.startswith(root.rstrip(os.sep) + os.sep):
            return f"it leads to {real}, which is searched where it lies"
        if _is_inside(root, (real,)):
            return f"it leads to {real}, around this folder, and is not followed"
        if not _is_inside(real, self._rules.known):
            return f"it leads to {real}, outside of the folders that are known, and is not followed"
        return ""

    def _file(self, folder: str, rel: str, entry: os.DirEntry[str], wanted: bool, known: FolderListing | None) -> None:
        if entry.is_symlink() and not self._may_follow(folder, entry):
            return
        try:
            found = entry.stat()
        except OSError:
            return  # gone since it was listed
        if not stat.S_ISREG(found.st_mode):
            return
        if len(self.found.files) >= MAX_FILES:
            self._report("", f"more than {MAX_FILES} files; the rest is not listed", "scan.count")
            return
        self._note(rel, found, not wanted, None if known is None else known.files.get(rel))

    def _may_follow(self, folder: str, entry: os.DirEntry[str]) -> bool:
        real, inside = os.path.realpath(entry.path), os.path.realpath(self._root).rstrip(os.sep) + os.sep
        if self._rules.links_anywhere or real.startswith(inside):
            return True
        self._report(folder, f"{entry.name} is a link that leads out of the folder", "scan.link", "warning")
        return False

    def _look_at_files(
        self, known: FolderListing, kept: dict[str, FolderStamp], stale: set[str], only: frozenset[str] | None
    ) -> None:
        """Known files of folders that did not change."""
        look, prefix, files = os.stat, self._prefix, self.found.files
        whole = not stale and len(kept) == len(known.folders)
        for rel, stamp in known.files.items():
            if not whole:
                folder = rel.rpartition("/")[0]
                if folder in stale or folder not in kept:
                    continue
            if only is not None and rel not in only:
                files[rel] = stamp
                continue
            try:
                found = look(prefix + rel)
            except OSError:
                continue  # deleted; the folder's stamp will tell, or told already
            if stamp.same(found):
                files[rel] = stamp
            else:
                self._note(rel, found, stamp.companion, stamp)

    def _note(self, rel: str, found: os.stat_result, companion: bool, before: FileStamp | None) -> None:
        if before is not None and before.same(found):
            self.found.files[rel] = before
            return
        racy = max(found.st_mtime_ns, found.st_ctime_ns) > self._young
        self.found.files[rel] = FileStamp(
            found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, racy, companion
        )
        self.found.changed.add(rel)

    def _report(self, rel: str, message: str, code: str, severity: str = "error") -> None:
        path = self._prefix + rel if rel else self._root
        problem = SkillProblem(path, message, severity="warning" if severity == "warning" else "error", code=code)
        listed = self.found.problems.setdefault(rel, [])
        if problem not in listed:
            listed.append(problem)
        self.found.folders[rel] = UNKNOWN


def _is_inside(path: str, folders: Iterable[str]) -> bool:
    return any(path == one or path.startswith(one.rstrip(os.sep) + os.sep) for one in folders)


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads to itself


def _children(folders: Iterable[str]) -> dict[str, list[str]]:
    """The folders directly below each."""
    below: dict[str, list[str]] = {}
    for rel in folders:
        if rel:
            below.setdefault(rel.rpartition("/")[0], []).append(rel)
    return below


def parents(rel: str) -> Iterator[str]:
    """The folders above a path, nearest first, "" last."""
    while rel:
        rel = rel.rpartition("/")[0]
        yield rel


def owning_skill(rel: str, known: Container[str]) -> str | None:
    """The ``SKILL.md``, of those that are known, which a file beside or below it belongs to: the nearest one."""
    for folder in parents(rel):
        for name in FOLDER_FILES:
            main = f"{folder}/{name}" if folder else name
            if main in known:
                return main
    return None
