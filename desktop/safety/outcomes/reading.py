"""What a command did in its copy, as changes of the real files.

Nothing that it left is trusted: no link is followed, no pipe is opened, and what cannot be taken over is named. Where
an overlay caught the writes, a device of number 0 stands for what was deleted, and a mark on a folder says that what
the real one holds is not in it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache, partial
from typing import NamedTuple, TypeVar

from desktop.domain.errors import ToolFailure
from desktop.domain.files.changes import ABSENT, FileChange, FileState
from desktop.domain.files.outcomes import LeftOut, LeftOutKind, OutcomeReading
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.boundary.paths import is_within
from desktop.safety.outcomes.states import PERMISSIONS, is_special, looks, state_of, status_of

if sys.platform != "linux":
    raise ImportError("for Linux alone")

MAX_SHOWN, MAX_CHANGES = 100_000, 1_000_000
"""So many changes are looked at one by one; and so many where nobody looks at them."""
MAX_COUNTED = 1_000_000
"""Beyond, it is not even counted any more."""
OPAQUE, ORIGIN = "user.overlay.opaque", "user.overlay.origin"
_OWNER = 0o700
_LONGEST_PATH = 4096
_AS_OTHERS = 0o6000
_RUN_AS = 0o4000
_GROUP_OF_FOLDER = 0o2000

T = TypeVar("T")


@dataclass(slots=True)
class CopyFindings:
    """What is found of one copy, collected."""

    floor_ns: int
    """When the copy was made: a real file that changed later was changed by somebody else."""
    closed: tuple[str, ...]
    """Places that the command could not see, and that are not looked at here, either."""
    limit: int = MAX_SHOWN
    """How many changes are looked at."""
    room: int = 5_000_000_000
    """Bytes of the copy that are read: a file with holes takes no room on the disk, and reading it takes as long as if
    it had none."""
    changes: dict[str, FileChange] = field(default_factory=dict)
    """By path."""
    meanwhile: set[str] = field(default_factory=set)
    """The paths whose real file somebody else changed."""
    saved_at: dict[str, float] = field(default_factory=dict)
    """When that was."""
    left_out: list[LeftOut] = field(default_factory=list)
    """What cannot be taken over."""
    beyond: int = 0
    """How many are more than the limit."""
    sources: dict[str, str] = field(default_factory=dict)
    """Where the content of a digest lies in the copy."""
    seen: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """How the real files looked."""
    inodes: dict[tuple[int, int], str] = field(default_factory=dict)
    """The first name of a file in the copy that has several."""

    def leave_out(self, path: str, kind: LeftOutKind) -> None:
        """Name what is not taken over."""
        if len(self.left_out) < self.limit:
            self.left_out.append(LeftOut(path.encode("utf-8", "backslashreplace").decode(), kind))
        else:
            self.beyond += 1

    def is_full(self) -> bool:
        """Whether no more is looked at: then it is counted."""
        full = len(self.changes) >= self.limit
        self.beyond += full
        return full

    @property
    def goes_on(self) -> bool:
        """Whether there is still any use in counting."""
        return self.beyond < MAX_COUNTED

    def add(self, path: str, real: os.stat_result | None, after: FileState, *, vanished: bool = False) -> None:
        """One path, as it really is and as it is in the copy. Raises ToolFailure."""
        if self.is_full():
            return
        if real is not None and is_special(real):
            self.leave_out(path, "special")
            return
        before = state_of(path, real)
        if before == after:
            return
        self.changes[path] = FileChange(path, before, after)
        self.seen[path] = looks(real)
        if vanished or (real is not None and not stat.S_ISDIR(real.st_mode) and real.st_ctime_ns > self.floor_ns):
            self.meanwhile.add(path)
            self.saved_at.update({path: real.st_mtime} if real is not None else {})

    def delete(self, path: str, real: os.stat_result) -> None:
        """A real place that is not in the copy any more, with all that is in it."""
        if any(is_within(path, place) for place in self.closed):
            return
        waiting = [(path, real)]
        while waiting:
            here, status = waiting.pop()
            if not _is_text(here):
                self.leave_out(here, "name")
                continue
            self.add(here, status, ABSENT)
            if stat.S_ISDIR(status.st_mode) and self.goes_on:
                waiting += [(below, found) for below in _names(here) if (found := status_of(below)) is not None]

    def caught(self, path: str, real: os.stat_result | None, source: str, status: os.stat_result) -> None:
        """A file or link of the copy. Its rights are those that the command gave it, but none to run as others."""
        if real is not None and stat.S_ISDIR(real.st_mode):
            for below in _names(path):
                if (found := status_of(below)) is not None:
                    self.delete(below, found)
        if self.is_full():
            return
        if stat.S_ISREG(status.st_mode) and status.st_size > self.room:
            self.beyond += 1
            return
        self.room -= status.st_size
        after = _readable(source, status, lambda: state_of(source, status))
        if after.kind == "file":
            had = stat.S_IMODE(real.st_mode) if real is not None else 0
            mode = after.mode & PERMISSIONS | after.mode & _AS_OTHERS & had
            if mode != after.mode:
                self.leave_out(path, "setuid")
            after = replace(after, mode=mode)
            self.sources.setdefault(after.digest, source)
            if status.st_nlink > 1:
                first = self.inodes.setdefault((status.st_dev, status.st_ino), path)
                if first != path:
                    self.leave_out(path, "linked")
        vanished = real is None and has_mark(source, ORIGIN) and self._parent_changed(path)
        self.add(path, real, after, vanished=vanished)

    def folder(self, path: str, real: os.stat_result | None, status: os.stat_result, *, vanished: bool) -> None:
        """A folder of the copy."""
        mode = stat.S_IMODE(status.st_mode) & (PERMISSIONS | _GROUP_OF_FOLDER)
        if status.st_mode & _RUN_AS and not (real is not None and real.st_mode & _RUN_AS):
            self.leave_out(path, "setuid")
        elif status.st_mode & _RUN_AS:
            mode |= _RUN_AS
        self.add(path, real, FileState("folder", mode=mode), vanished=vanished)

    def _parent_changed(self, path: str) -> bool:
        above = status_of(os.path.dirname(path))
        return above is None or above.st_ctime_ns > self.floor_ns

    def reading(self) -> OutcomeReading:
        """All of it, with renames found, in order."""
        changes = _with_renames(self.changes)
        ordered = sorted(changes, key=lambda change: change.path.split(os.sep))
        left_out = sorted(self.left_out, key=lambda one: one.path)
        return OutcomeReading(tuple(ordered), frozenset(self.meanwhile), self.saved_at, tuple(left_out), self.beyond)


def read_overlay(found: CopyFindings, real_root: str, upper: str) -> None:
    """What an overlay over ``real_root`` caught in ``upper``. Raises ToolFailure."""
    top = status_of(upper)
    real = status_of(real_root)
    if top is None:
        raise ToolFailure(f"The copy of {real_root} is gone.", code="file.failed")
    if real is None or not stat.S_ISDIR(real.st_mode):
        raise ToolFailure(f"{real_root} is no folder any more.", code="file.failed")
    found.folder(real_root, real, top, vanished=False)
    waiting = [_UpperFolder(upper, real_root, top, True)]
    while waiting and found.goes_on:
        waiting += list(_overlay_folder(found, *waiting.pop()))


class _UpperFolder(NamedTuple):
    """A folder of the upper layer that is still to be looked at."""

    here: str
    """Where it is."""
    path: str
    """The place that it stands for."""
    status: os.stat_result
    """Its status."""
    is_real: bool
    """Whether there is a folder at that place: else nothing is in it, also where a link leads to one."""


def _overlay_folder(
    found: CopyFindings, here: str, path: str, status: os.stat_result, is_real: bool
) -> Iterator[_UpperFolder]:
    """One folder of the upper layer; the folders in it are still to be looked at."""
    opaque = has_mark(here, OPAQUE)
    names = _readable(here, status, lambda: _entries(here))
    if names is None:
        found.leave_out(path, "name")
        return
    if opaque and is_real:
        for below in _names(path):
            real = status_of(below)
            if os.path.basename(below) not in names and real is not None:
                found.delete(below, real)
    for name in names:
        below, place = os.path.join(here, name), os.path.join(path, name)
        caught = status_of(below) if _can_be_named(place, below) else None
        real = status_of(place) if caught is not None and is_real else None
        if caught is None:
            found.leave_out(place, "name")
        elif _overlay_entry(found, below, place, caught, real):
            yield _UpperFolder(below, place, caught, _is_folder(real))


def _overlay_entry(
    found: CopyFindings, below: str, place: str, caught: os.stat_result, real: os.stat_result | None
) -> bool:
    """One entry of the upper layer, and what is really there; whether it is a folder."""
    if stat.S_ISCHR(caught.st_mode) and caught.st_rdev == 0:
        if real is not None:
            found.delete(place, real)
    elif is_special(caught):
        found.leave_out(place, "special")
    elif stat.S_ISDIR(caught.st_mode):
        vanished = real is None and not has_mark(below, OPAQUE) and has_mark(below, ORIGIN)
        found.folder(place, real, caught, vanished=vanished)
        return True
    else:
        found.caught(place, real, below, caught)
    return False


def read_copy(found: CopyFindings, real_root: str, copy: str, manifest: Mapping[str, tuple[int, ...]]) -> None:
    """What is different in a whole copy of ``real_root``; ``manifest`` says by relative path how each entry of it
    looked when it was made. Raises ToolFailure."""
    left = set(manifest)
    waiting = [("", True)]
    while waiting and found.goes_on:
        inner, is_real = waiting.pop()
        here, path = (os.path.join(root, inner).rstrip(os.sep) for root in (copy, real_root))
        status = status_of(here)
        names = None if status is None else _readable(here, status, partial(_entries, here))
        if names is None:
            found.leave_out(path, "name")
            continue
        for name in names:
            relative, below, place = (os.path.join(above, name) for above in (inner, here, path))
            left.discard(relative)
            real = status_of(place) if is_real and _can_be_named(place) else None
            if _copy_entry(found, below, place, manifest.get(relative, ()), real):
                waiting.append((relative, _is_folder(real)))
    for relative in sorted(left):
        place = os.path.join(real_root, relative)
        real = status_of(place)
        if real is not None and place not in found.changes:
            found.delete(place, real)


def _copy_entry(
    found: CopyFindings, below: str, place: str, before: tuple[int, ...], real: os.stat_result | None
) -> bool:
    """One entry of a whole copy, which looked so when it was made, and what is really there; whether it is a folder."""
    caught = status_of(below) if _can_be_named(place, below) else None
    if caught is None:
        found.leave_out(place, "name")
        return False
    is_folder = stat.S_ISDIR(caught.st_mode)
    if looks(caught) == before:
        return is_folder
    if is_special(caught):
        found.leave_out(place, "special")
    elif is_folder:
        found.folder(place, real, caught, vanished=bool(before) and real is None)
    else:
        found.caught(place, real, below, caught)
    return is_folder


def seen_again(reading: OutcomeReading, seen: dict[str, tuple[int, ...]]) -> OutcomeReading:
    """The same reading, if no real file that it is about changed since; else with what they are now. ``seen`` is
    brought up to date. Raises ToolFailure."""
    changes, meanwhile, saved = [], set(reading.meanwhile), dict(reading.saved_at)
    plain = lru_cache(maxsize=64)(lambda folder: os.path.realpath(folder) == folder)
    for change in reading.changes:
        real = status_of(change.path) if plain(os.path.dirname(change.path)) else None
        now = looks(real)
        if now == seen.get(change.path, ()):
            changes.append(change)
            continue
        seen[change.path] = now
        before = state_of(change.path, real)
        if before != change.before:
            meanwhile.add(change.path)
            saved.update({change.path: real.st_mtime} if real is not None else {})
            change = replace(change, before=before)
        if before != change.after:
            changes.append(change)
    if tuple(changes) == reading.changes and meanwhile == reading.meanwhile:
        return reading
    return replace(reading, changes=tuple(changes), meanwhile=frozenset(meanwhile), saved_at=saved)


def _is_folder(real: os.stat_result | None) -> bool:
    return real is not None and stat.S_ISDIR(real.st_mode)


def has_mark(path: str, name: str) -> bool:
    """Whether the file system of the overlay put this mark on an entry. The command cannot: it does not see them."""
    try:
        marked = os.getxattr(path, name, follow_symlinks=False)
    except OSError:
        return False
    return name != OPAQUE or marked == b"y"


def _readable(source: str, status: os.stat_result, look: Callable[[], T]) -> T:
    """Look at an entry of the copy, also where the command took its owner's right to do so: it is ours."""
    wanted = _OWNER if stat.S_ISDIR(status.st_mode) else 0o400
    if not stat.S_ISLNK(status.st_mode) and status.st_mode & wanted != wanted:
        with contextlib.suppress(OSError):
            os.chmod(source, stat.S_IMODE(status.st_mode) | wanted)
    return look()


def _entries(folder: str) -> list[str] | None:
    """The names in a folder of the copy; None where its path is too long to be used."""
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise ToolFailure(f"The copy could not be read: {error.strerror or error}.", code="file.failed") from error


def _names(folder: str) -> list[str]:
    """What a real folder holds now; nothing where it is gone, no folder, or closed."""
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder), reverse=True)]
    except OSError:
        return []


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _can_be_named(*paths: str) -> bool:
    """Whether a place and what stands for it in the copy can be used under their paths at all."""
    return all(len(os.fsencode(path)) < _LONGEST_PATH and _is_text(path) for path in paths)


def _with_renames(changes: Mapping[str, FileChange]) -> list[FileChange]:
    """The same, each new file beside the deleted one whose content and rights it has: once each."""
    gone: dict[tuple[str, int], list[str]] = {}
    for path, change in sorted(changes.items(), reverse=True):
        if change.before.kind == "file" and change.before.size and change.after.kind == "absent":
            gone.setdefault((change.before.digest, change.before.mode), []).append(path)
    found = []
    for _, change in sorted(changes.items()):
        same = gone.get((change.after.digest, change.after.mode), [])
        if same and change.before.kind == "absent" and change.after.kind == "file":
            name = os.path.basename(change.path)
            best = next((path for path in same if os.path.basename(path) == name), same[-1])
            same.remove(best)
            change = replace(change, renamed_from=best)
        found.append(change)
    return found
