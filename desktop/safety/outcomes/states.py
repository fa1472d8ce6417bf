"""What is at a path, read without following a link and without waiting for a pipe."""

from __future__ import annotations

import hashlib
import os
import stat

from desktop.domain.errors import ToolFailure
from desktop.domain.files.changes import ABSENT, FileState
from desktop.systems import open_flags

_PIECE = 1 << 20
PERMISSIONS = 0o1777
"""The rights that are taken over: never those to run as somebody else."""


def status_of(path: str) -> os.stat_result | None:
    """What is there, a link itself; None: nothing. Raises ToolFailure."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from error


def is_special(status: os.stat_result) -> bool:
    """Whether it is a pipe, a socket or a device."""
    mode = status.st_mode
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def state_of(path: str, status: os.stat_result | None, *, mask: int = 0o7777) -> FileState:
    """The state of what ``status_of`` found; a pipe, socket or device counts as absent. Raises ToolFailure."""
    if status is None or is_special(status):
        return ABSENT
    if stat.S_ISDIR(status.st_mode):
        return FileState("folder", mode=stat.S_IMODE(status.st_mode) & mask)
    try:
        if stat.S_ISLNK(status.st_mode):
            return FileState("link", target=os.readlink(path))
        size, digest = digest_of(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    return FileState("file", mode=stat.S_IMODE(status.st_mode) & mask, size=size, digest=digest)


def digest_of(path: str) -> tuple[int, str]:
    """Size and SHA-256 of a regular file. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | open_flags.NOFOLLOW | open_flags.CLOEXEC | open_flags.NONBLOCK)
    size, found = 0, hashlib.sha256()
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is no file any more")
        while piece := os.read(handle, _PIECE):
            size += len(piece)
            found.update(piece)
    finally:
        os.close(handle)
    return size, found.hexdigest()


def looks(status: os.stat_result | None) -> tuple[int, ...]:
    """What tells that somebody changed a real file since it was looked at, without reading it."""
    if status is None:
        return ()
    if stat.S_ISDIR(status.st_mode):
        return (status.st_dev, status.st_ino, status.st_mode)
    return (status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _unreadable(path: str, error: OSError) -> ToolFailure:
    return ToolFailure(f"{path} could not be looked at: {error.strerror or error}.", code="file.failed")
