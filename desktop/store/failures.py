"""From SQLite's and the file system's errors to ours: what happened in plain words, and the next step."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.domain.errors import (
    AssentError,
    BugError,
    HomeNotWritable,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreTooNew,
)
from desktop.domain.loading.lazy import lazy_module

if TYPE_CHECKING:
    import shutil
else:
    shutil = lazy_module("shutil")

_NO_SPACE = 1_000_000  # bytes; below it a failed write is taken for a full disk
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NOT_OURS = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}
_WORLD = {
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_NOLFS,
    sqlite3.SQLITE_INTERRUPT,
}

_NO_SHARED_MEMORY = {
    sqlite3.SQLITE_IOERR_SHMMAP,
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMLOCK,
}
"""How a disk fails that is healthy and cannot do what SQLite's write-ahead log needs."""


def translate(error: Exception, path: Path) -> Exception:
    """Our error for what went wrong at ``path``; what is already ours, or not of SQLite, stays as it is."""
    if isinstance(error, AssentError):
        return error
    if isinstance(error, sqlite3.Error):
        return _from_sqlite(error, path)
    if isinstance(error, OSError):
        return from_os(error, path)
    return error


def _from_sqlite(error: sqlite3.Error, path: Path) -> AssentError:
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if primary is None and isinstance(error, sqlite3.DataError | OverflowError):
        return StoreError(f"A value is too large for the database {path}: {error}.")
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _disk_is_full(path)):
        return full(path)
    if primary in _DAMAGED:
        return corrupt(path, str(error))
    if primary in _LOCKED:
        return locked(path)
    if primary in _NOT_OURS:
        return not_writable(path, str(error))
    if code in _NO_SHARED_MEMORY:
        return StoreError(
            f"The database {path} cannot be used on this disk: it is on a network, or of a kind that shares no memory.",
            next_step="Keep Assent's home on a disk of this computer: start with --home DIR.",
        )
    if primary in _WORLD:
        return StoreError(
            f"The database {path} could not be read or written: {error}.",
            next_step="Check that the disk is connected and healthy, then try again.",
        )
    return BugError(f"The database refused what we asked of it: {error}")


def from_os(error: OSError, path: Path) -> AssentError:
    """Our error for a file that could not be made, opened or copied."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return full(path)
    return not_writable(Path(error.filename) if error.filename else path, error.strerror or str(error))


def _disk_is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _NO_SPACE
    except OSError:
        return False


def full(path: Path) -> StoreFull:
    """The error where no space is left for the database."""
    return StoreFull(
        f"The disk is full, so {path} could not be written. Nothing that was saved is lost.",
        next_step="Free some space on this disk and try again; what is on screen is saved then.",
    )


def corrupt(path: Path, detail: str) -> StoreCorrupt:
    """The file is damaged; nobody repairs it unasked."""
    return StoreCorrupt(
        f"The database {path} is damaged ({detail}). It is kept exactly as it is.",
        next_step="Make a copy for rescue, then start with a new, empty database.",
    )


def too_new(path: Path, found: int, known: int) -> StoreTooNew:
    """The error for a database that a later release wrote."""
    return StoreTooNew(
        f"The database {path} was written by a newer Assent (format {found}; this one knows {known}). "
        "It was not touched.",
        next_step="Install the newer Assent again, or set the file aside and start with an empty one.",
    )


def locked(path: Path) -> StoreError:
    """The error for a database that another program holds."""
    return StoreError(
        f"Another program is using the database {path}.",
        next_step="Close the other program (a backup, a database viewer or a second Assent) and try again.",
        code="store.locked",
    )


def foreign(path: Path) -> StoreError:
    """The error for a SQLite file that Assent did not make."""
    return StoreError(
        f"{path} is a database of another program. It was not touched.",
        next_step="Move that file away, or start with another home folder.",
        code="store.foreign",
    )


def not_writable(path: Path, detail: str) -> HomeNotWritable:
    """The home folder, or a file in it, is not ours to write."""
    return HomeNotWritable(
        f"{path} cannot be written: {detail}.",
        next_step="Give yourself write permission for that folder, or start with another home folder.",
    )
