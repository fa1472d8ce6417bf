"""Laying ready: what shall get a place is written whole beside it first, with its rights, and is on the disk."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
from collections.abc import Iterator, Sequence

from desktop.domain.errors import ToolFailure
from desktop.domain.files.changes import Contents, FileState
from desktop.safety.boundary.opening import failure_of
from desktop.safety.changes.checking import Checking
from desktop.safety.changes.handles import OpenFolders
from desktop.safety.changes.journal import ChangeStep
from desktop.safety.changes.plan import PlannedStep
from desktop.safety.changes.renames import Place
from desktop.safety.changes.states import CHUNK
from desktop.systems import disk, open_flags

_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | open_flags.NOFOLLOW | open_flags.CLOEXEC | open_flags.BINARY
_OPEN_FOLDER = 0o700


class Laying:
    """One change's folders in which things are laid ready, and what is in them. Blocks."""

    def __init__(self, folders: OpenFolders, checking: Checking, contents: Contents, *, many: bool) -> None:
        self._folders = folders
        self._checking = checking
        self._contents = contents
        self._many = many
        self._place_of: dict[str, int] = {}
        self._made: dict[str, tuple[int, int]] = {}
        self.places: tuple[str, ...] = ()

    def places_for(self, plan: Sequence[PlannedStep]) -> tuple[str, ...]:
        """Where things will be laid ready: a hidden folder in each folder that stays, on the same file system."""
        for step in plan:
            if step.act != "mode":
                self._place_of.setdefault(self._checking.laid_ready_in(step.change.path), len(self._place_of))
        self.places = tuple(os.path.join(folder, f".assent-{os.urandom(8).hex()}.tmp") for folder in self._place_of)
        return self.places

    def lay(self, plan: Sequence[PlannedStep]) -> list[ChangeStep]:
        """Write all that is new. Raises ToolFailure for what the disk says, or where a content is not what it should
        be; KnownError where it is not there."""
        for place in self.places:
            with _told(os.path.dirname(place)):
                name, at = self._folders.at(place)
                os.mkdir(name, _OPEN_FOLDER, dir_fd=at)
        steps = [self._laid(number, step) for number, step in enumerate(plan)]
        if self._many:
            disk.sync_all()
        for place in self.places:
            self._folders.sync(place)
            self._folders.sync(os.path.dirname(place))
        return steps

    def clear(self) -> None:
        """Nothing was changed: take away what was laid ready."""
        for place in self.places:
            with contextlib.suppress(OSError):
                clear_place(self._folders, place)

    def _laid(self, number: int, step: PlannedStep) -> ChangeStep:
        change = step.change
        seen = self._checking.seen[change.path]
        place = 0 if step.act == "mode" else self._place_of[self._checking.laid_ready_in(change.path)]
        if step.act in ("put", "replace"):
            with _told(change.path):
                self._made[change.path] = self._make(slot(self._folders, self.places[place], number), change.after)
        ours = self._made.get(change.path, (0, 0))
        return ChangeStep(step.act, change.path, place, change.before, change.after, seen.identity, ours)

    def _make(self, at: Place, state: FileState) -> tuple[int, int]:
        if state.kind == "link":
            os.symlink(state.target, at.name, dir_fd=at.folder)
        elif state.kind == "folder":
            os.mkdir(at.name, _OPEN_FOLDER, dir_fd=at.folder)
            os.chmod(at.name, state.mode | _OPEN_FOLDER, dir_fd=at.folder)
        else:
            self._write(at, state)
        status = os.stat(at.name, dir_fd=at.folder, follow_symlinks=False)
        return status.st_dev, status.st_ino

    def _write(self, at: Place, state: FileState) -> None:
        found = hashlib.sha256()
        descriptor = os.open(at.name, _FRESH, 0o600, dir_fd=at.folder)
        try:
            with self._contents.open(state.digest) as source:
                while piece := source.read(CHUNK):
                    found.update(piece)
                    _write_all(descriptor, piece)
            if found.hexdigest() != state.digest:
                raise ToolFailure("What was kept of a file is damaged, so nothing was changed.", code="changes.damaged")
            disk.set_mode(descriptor, state.mode)
            if not self._many:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def slot(folders: OpenFolders, place: str, number: int, kind: str = "") -> Place:
    """The name that a step has among what is laid ready; of its several, the one of this kind. Raises OSError."""
    return Place(*folders.at(os.path.join(place, f"{number}{kind}")))


def clear_place(folders: OpenFolders, place: str) -> None:
    """Remove a folder of what was laid ready, with all in it: files, links and empty folders. Raises OSError, also
    where a folder in it is not empty, which nothing of ours is."""
    try:
        name, at = folders.at(os.path.join(place, "."))
        names = os.listdir(os.path.dirname(name) if at is None else at)
    except FileNotFoundError:
        return
    for one in names:
        inner, at = folders.at(os.path.join(place, one))
        try:
            os.unlink(inner, dir_fd=at)
        except OSError as error:
            if error.errno not in (errno.EISDIR, errno.EPERM, errno.EACCES):
                raise
            os.rmdir(inner, dir_fd=at)
    folders.forget(place)
    name, at = folders.at(place)
    os.rmdir(name, dir_fd=at)


@contextlib.contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise failure_of(path, error) from error


def _write_all(descriptor: int, piece: bytes) -> None:
    view = memoryview(piece)
    while view:
        view = view[os.write(descriptor, view) :]
