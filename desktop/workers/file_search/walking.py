"""Goes through a folder tree, folder by folder at its handle: no link is followed, and nothing that is closed opened.

The order is the same each time: the files of a folder by name, then its folders. So a search that was cut can go on.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.systems import open_flags
from desktop.workers.file_search import limits
from desktop.workers.file_search.ignoring import FILE_NAME, GlobList

_FLAGS = os.O_RDONLY | open_flags.CLOEXEC | open_flags.NOFOLLOW | open_flags.NONBLOCK
_FLAGS |= open_flags.BINARY | open_flags.NOCTTY
_FOLDER = _FLAGS | open_flags.DIRECTORY
AT_HANDLES = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
REPOSITORY, EXCLUDES = ".git", ("info", "exclude")
"""The folder of a repository, and in it the list of what is left out there alone."""
_NEVER = frozenset((REPOSITORY, ".hg", ".svn"))
"""Folders of version control: what is in them is no file of the person's."""


@dataclass(frozen=True, slots=True)
class SearchGround:
    """Where a search may go, as the boundary said it. Paths as the system decodes them."""

    root: str
    """The folder, or the one file, absolute and without links."""
    top: str
    """The allowed folder that holds it: files above it are not read."""
    closed: Mapping[str, frozenset[str]]
    """Names that are closed, by the path of their folder."""
    closed_objects: frozenset[tuple[int, int]]
    """Device and inode of what is closed under whatever name."""
    ignored: bool
    """Whether what a ``.gitignore`` leaves out is looked at, too."""
    everywhere: GlobList
    """What the person has git leave out in every repository."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> SearchGround:
        """As it came over the pipe."""
        closed: dict[str, set[str]] = {}
        for path in given["closed"]:
            folder, name = os.path.split(unpacked(path))
            closed.setdefault(folder, set()).add(name)
        names = {folder: frozenset(found) for folder, found in closed.items()}
        objects = frozenset((int(device), int(inode)) for device, inode in given["closed_objects"])
        everywhere = GlobList.of_file(str(given.get("left_out", "")).encode("latin-1"))
        ignored = bool(given.get("ignored"))
        return cls(unpacked(given["root"]), unpacked(given["top"]), names, objects, ignored, everywhere)


def packed(path: str) -> str:
    """A path for the pipe, which takes no halves of characters: its bytes as Latin-1."""
    return os.fsencode(path).decode("latin-1")


def unpacked(path: object) -> str:
    """The path again."""
    return os.fsdecode(str(path).encode("latin-1"))


class FoundEntry(NamedTuple):
    """A file, or a folder, that the walk came to. A tuple, for there are hundreds of thousands."""

    path: str
    """Its path from the root on; "" for the root itself."""
    name: str
    """Its last part."""
    folder: OpenFolder
    """The folder that it is in; open only until the walk goes on."""
    is_folder: bool
    inode: int


class OpenFolder:
    """A folder at its handle."""

    def __init__(self, path: str, name: str = "", within: int = -1) -> None:
        self.path = path
        self.handle = -1
        if AT_HANDLES:
            self.handle = os.open(name or path, _FOLDER, dir_fd=within if name else None)
            status = os.fstat(self.handle)
        else:
            status = os.lstat(path)
            if not stat.S_ISDIR(status.st_mode):
                raise NotADirectoryError(path)
        self.device, self.inode = status.st_dev, status.st_ino

    def close(self) -> None:
        """Let go of it."""
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


class _Level(NamedTuple):
    """A folder that the walk is in: what there still is to go into."""

    folder: OpenFolder
    path: str
    names: Iterator[str]
    ignoring: Ignoring


class TreeWalk:
    """One walk. The counters say what it left aside."""

    def __init__(self, ground: SearchGround) -> None:
        self._ground = ground
        self._levels: list[_Level] = []
        self.files = 0
        """Files that it came to."""
        self.ignored = 0
        """Files and folders that a .gitignore left out."""
        self.too_deep = 0
        """Folders that it did not go into."""
        self.unread = 0
        """Files and folders that could not be read."""
        self.unreadable: list[str] = []
        """The first few of them."""

    def batches(self) -> Iterator[list[FoundEntry]]:
        """All files, and folders before what is in them, that are neither closed nor ignored: those of one folder at a
        time."""
        root = self._ground.root
        try:
            if stat.S_ISDIR(os.lstat(root).st_mode):
                yield from self._below(root)
            else:
                yield from self._one_file(root)
        except OSError:
            self.aside(root)
        finally:
            for level in self._levels:
                level.folder.close()

    def _one_file(self, root: str) -> Iterator[list[FoundEntry]]:
        where, name = os.path.split(root)
        folder = OpenFolder(where)
        try:
            self.files += 1
            yield [FoundEntry("", name, folder, False, os.lstat(root).st_ino)]
        finally:
            folder.close()

    def _below(self, root: str) -> Iterator[list[FoundEntry]]:
        above = Ignoring(()) if self._ground.ignored else Ignoring.above(self._ground)
        yield self._enter(OpenFolder(root), "", above)
        while self._levels:
            level = self._levels[-1]
            name = next(level.names, None)
            if name is None:
                self._levels.pop()
                level.folder.close()
            elif len(self._levels) >= limits.DEPTH:
                self.too_deep += 1
            elif (inner := self._opened(level, name)) is not None:
                below = level.path + name
                yield [FoundEntry(below, name, level.folder, True, inner.inode)]
                yield self._enter(inner, below + os.sep, level.ignoring)

    def _opened(self, level: _Level, name: str) -> OpenFolder | None:
        try:
            inner = OpenFolder(os.path.join(level.folder.path, name), name, level.folder.handle)
        except OSError:
            self.aside(level.path + name)
            return None
        if (inner.device, inner.inode) not in self._ground.closed_objects:
            return inner
        inner.close()
        return None

    def _enter(self, folder: OpenFolder, path: str, ignoring: Ignoring) -> list[FoundEntry]:
        """The files of a folder; its folders come afterwards."""
        ground, inner, files = self._ground, list[str](), list[FoundEntry]()
        try:
            with os.scandir(folder.handle if AT_HANDLES else folder.path) as found:
                entries = sorted(found, key=_by_name)
        except OSError:
            folder.close()
            self.aside(path)
            return files
        if not ground.ignored:
            names = {entry.name for entry in entries if entry.name in (FILE_NAME, REPOSITORY)}
            if REPOSITORY in names:
                ignoring = ignoring.with_repository(ground, folder, len(path))
            if FILE_NAME in names:
                ignoring = ignoring.with_file(folder, len(path))
        self._levels.append(_Level(folder, path, iter(inner), ignoring))
        closed, objects, device = ground.closed.get(folder.path, _NOTHING), ground.closed_objects, folder.device
        for entry in entries:
            name, is_file = entry.name, _is(entry.is_file)
            if name in closed or not (is_file or (_is(entry.is_dir) and name not in _NEVER)):
                continue
            if ignoring and ignoring.leaves_out(path + name, is_folder=not is_file):
                self.ignored += 1
            elif not is_file:
                inner.append(name)
            elif not objects or (device, entry.inode()) not in objects:
                files.append(FoundEntry(path + name, name, folder, False, entry.inode()))
        self.files += len(files)
        return files

    def aside(self, path: str) -> None:
        """Note that something could not be read."""
        self.unread += 1
        if len(self.unreadable) < limits.ASIDE_SHOWN:
            self.unreadable.append(path)


_NOTHING: frozenset[str] = frozenset()


def _by_name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _is(asks: Callable[..., bool]) -> bool:
    """What an entry itself is; of one that is gone nothing is true."""
    try:
        return asks(follow_symlinks=False)
    except OSError:
        return False


def opened_file(entry: FoundEntry) -> tuple[int, os.stat_result] | None:
    """A regular file open for reading, with its state; None where it is no longer one. Raises OSError."""
    if AT_HANDLES:
        handle = os.open(entry.name, _FLAGS, dir_fd=entry.folder.handle)
    else:
        handle = os.open(os.path.join(entry.folder.path, entry.name), _FLAGS)
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode):
        return handle, status
    os.close(handle)
    return None


class Ignoring:
    """The lists of ``.gitignore`` on the way to a folder, each with how its own paths begin in those of the walk; and
    before them what is left out in the repository, and in all of them."""

    def __init__(self, lists: tuple[tuple[GlobList, int, str], ...]) -> None:
        self._lists = lists

    @classmethod
    def above(cls, ground: SearchGround) -> Ignoring:
        """Of the folders above the root, up to that of the repository and never above what is allowed."""
        here, folders = ground.root, list[str]()
        while not os.path.lexists(os.path.join(here, REPOSITORY)):
            if here == ground.top or os.path.dirname(here) == here:
                return cls(())  # no repository holds it
            here = os.path.dirname(here)
            folders.append(here)
        lists = list[tuple[GlobList, int, str]]()
        for path in reversed(folders):
            folder, prefix = OpenFolder(path), os.path.relpath(ground.root, path) + os.sep
            try:
                if path == here:
                    lists += [(globs, 0, prefix) for globs in _of_repository(ground, folder)]
                lists.append((_read(folder), 0, prefix))
            finally:
                folder.close()
        return cls(tuple(one for one in lists if one[0]))

    def with_repository(self, ground: SearchGround, folder: OpenFolder, start: int) -> Ignoring:
        """And what is left out in the repository that is in this folder."""
        found = [(globs, start, "") for globs in _of_repository(ground, folder) if globs]
        return Ignoring((*self._lists, *found)) if found else self

    def with_file(self, folder: OpenFolder, start: int) -> Ignoring:
        """And the one in this folder."""
        found = _read(folder)
        return Ignoring((*self._lists, (found, start, ""))) if found else self

    def __bool__(self) -> bool:
        return bool(self._lists)

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Whether a path of the walk is ignored: the nearest list that says anything of it decides."""
        for globs, start, prefix in reversed(self._lists):
            said = globs.decides(prefix + path[start:], is_folder=is_folder)
            if said is not None:
                return said
        return False


def _of_repository(ground: SearchGround, folder: OpenFolder) -> tuple[GlobList, GlobList]:
    """What is left out in all repositories, and in that of this folder. Of a linked work tree the list is elsewhere."""
    return ground.everywhere, _excludes(ground, folder)


def _excludes(ground: SearchGround, folder: OpenFolder) -> GlobList:
    within = list[OpenFolder]()
    try:
        for name in (REPOSITORY, EXCLUDES[0]):
            outer = within[-1] if within else folder
            within.append(OpenFolder(os.path.join(outer.path, name), name, outer.handle))
            if (within[-1].device, within[-1].inode) in ground.closed_objects:
                return GlobList(())
        closed = EXCLUDES[1] in ground.closed.get(within[-1].path, _NOTHING)
        return GlobList(()) if closed else _read(within[-1], EXCLUDES[1])
    except OSError:
        return GlobList(())
    finally:
        for one in within:
            one.close()


def _read(folder: OpenFolder, name: str = FILE_NAME) -> GlobList:
    """The list in a folder; an empty one where it cannot be read."""
    try:
        opened = opened_file(FoundEntry(name, name, folder, False, 0))
    except OSError:
        opened = None
    if opened is None:
        return GlobList(())
    with os.fdopen(opened[0], "rb") as stream:
        return GlobList.of_file(stream.read(limits.IGNORE_FILE))
