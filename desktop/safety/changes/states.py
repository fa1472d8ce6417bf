"""What is at a path now, read at the handle: kind, rights, and a file's bytes by their digest."""

from __future__ import annotations

import errno
import hashlib
import os
import stat

from desktop.domain.files.changes import ABSENT, FileState
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.boundary import paths
from desktop.safety.boundary.opening import PathWalker
from desktop.safety.changes.handles import OpenFolders
from desktop.systems import open_flags

READ_FLAGS = os.O_RDONLY | open_flags.NOFOLLOW | open_flags.CLOEXEC | open_flags.NONBLOCK | open_flags.BINARY
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class SeenState:
    """What was found at a path, and which thing it was."""

    state: FileState | None
    """None: nothing that a change can name."""
    identity: tuple[int, int] = (0, 0)
    """Device and inode; zeros where nothing is."""
    what: str = ""
    """What it is, in words, where ``state`` is None."""
    has_more_names: bool = False
    """Whether it is a file with another name, which may lie anywhere."""


NOTHING = SeenState(ABSENT)


class StateReader:
    """Reads states through folders that are held open."""

    def __init__(self, folders: OpenFolders) -> None:
        self._folders = folders

    def seen(self, path: str) -> SeenState:
        """What is at a path whose folders have no link among them; one that has, or a missing folder, has nothing in
        it. Blocks. Raises OSError for what cannot be read."""
        try:
            name, at = self._folders.at(path)
            status = os.stat(name, dir_fd=at, follow_symlinks=False)
        except OSError as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError) or is_link_error(error):
                return NOTHING
            raise
        return self._of(path, name, at, status)

    def _of(self, path: str, name: str, at: int | None, status: os.stat_result) -> SeenState:
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISDIR(status.st_mode):
            return _seen(FileState("folder", mode), status)
        if stat.S_ISLNK(status.st_mode):
            return _seen(FileState("link", target=os.readlink(name, dir_fd=at)), status)
        if not stat.S_ISREG(status.st_mode):
            return _seen(None, status, paths.special_kind(path, status.st_mode))
        try:
            descriptor = os.open(name, READ_FLAGS, dir_fd=at)
        except OSError as error:
            if is_link_error(error) or isinstance(error, FileNotFoundError):  # another one since the look before
                return self.seen(path)
            raise
        try:
            now = os.fstat(descriptor)
            if not stat.S_ISREG(now.st_mode):
                return _seen(None, now, paths.special_kind(path, now.st_mode))
            size, digest = digest_of(descriptor)
            return _seen(FileState("file", stat.S_IMODE(now.st_mode), size, digest), now)
        finally:
            os.close(descriptor)

    def names_in(self, path: str) -> list[str]:
        """What lies in a folder. Blocks. Raises OSError."""
        name, at = self._folders.at(os.path.join(path, "."))
        return os.listdir(os.path.dirname(name) if at is None else at)


def state_of(path: str, walker: PathWalker | None = None) -> FileState | None:
    """The state of one path, read at the handle; None for what a change cannot name. Blocks. Raises OSError."""
    with OpenFolders(walker or PathWalker()) as folders:
        return StateReader(folders).seen(path).state


def digest_of(descriptor: int) -> tuple[int, str]:
    """Bytes and SHA-256 of what is left to read. Blocks."""
    found, size = hashlib.sha256(), 0
    while piece := os.read(descriptor, CHUNK):
        found.update(piece)
        size += len(piece)
    return size, found.hexdigest()


def is_link_error(error: OSError) -> bool:
    """Whether a link stood where none was to be followed."""
    return error.errno in _LINK_ERRORS


_LINK_ERRORS = (errno.ELOOP, errno.EXDEV)
"""EXDEV is what ``openat2`` says of a way that leads out."""


def _seen(state: FileState | None, status: os.stat_result, what: str = "") -> SeenState:
    several = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
    return SeenState(state, (status.st_dev, status.st_ino), what, several)
