"""A file that the app writes is for the person alone (0600), its folder too (0700), whatever the system's usual rights
are, and after a crash there is the old one or the new one. Everything here blocks, and raises OSError.

Loaded before the first paint, so it imports next to nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

FILE, FOLDER = 0o600, 0o700
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

StrPath = str | os.PathLike[str]


def write_whole(path: StrPath, *content: bytes, mode: int = FILE, lasting: bool = True) -> None:
    """Replace a file in one step; through a link, its target. ``lasting``: it is on the disk before anything else is
    done, also when the machine loses its power."""
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    fresh = os.path.join(folder, f".{name}.{os.urandom(6).hex()}")
    try:
        _write(fresh, content, mode, lasting=lasting)
        os.replace(fresh, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise


def write_new(path: StrPath, content: bytes) -> None:
    """Write a file that is not there yet. Raises FileExistsError where one is; a half of it does not stay."""
    try:
        _write(path, (content,), FILE, lasting=True)
    except FileExistsError:
        raise
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise


def make_folder(path: StrPath) -> None:
    """Make it with all that is missing above it; one that is there stays as it is."""
    try:
        os.mkdir(path, FOLDER)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        make_folder(path)


def close_to_others(path: StrPath) -> None:
    """Take from everybody but the person what was copied: a file, or a folder with all in it. Links are passed over."""
    _close(os.fspath(path))
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            _close(os.path.join(folder, name))


def _close(path: str) -> None:
    if not os.path.islink(path):
        os.chmod(path, os.stat(path).st_mode & FOLDER)


def _write(path: StrPath, content: Iterable[bytes], mode: int, *, lasting: bool) -> None:
    with os.fdopen(os.open(path, _FRESH, FILE), "wb") as file:
        file.writelines(content)
        file.flush()
        if mode != FILE:
            os.chmod(path, mode)
        if lasting:
            os.fsync(file.fileno())


def mode_of(path: StrPath, usual: int = FILE) -> int:
    """The rights of a file that is there, as its owner set them; else the usual ones."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        return usual
