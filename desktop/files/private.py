"""A file that the app writes is for the person alone (0600), its folder too (0700), whatever the system's usual rights
are, and after a crash there is the old one or the new one. What was not finished then lies beside it, until
``remove_unfinished`` takes it away. Everything here blocks, and raises OSError.

Loaded before the first paint, so it imports next to nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

from desktop.files.removing import remove_tree
from desktop.systems import current, disk, open_flags

FILE, FOLDER = 0o600, 0o700
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | open_flags.CLOEXEC | open_flags.BINARY

StrPath = str | os.PathLike[str]

UNFINISHED = ".unfinished"
_DIGITS = 12
_NAME = 100
"""Bytes of a file's name that stay in that of its half: whatever length the disk takes, the half's is no longer."""


def unfinished(path: StrPath) -> str:
    """A free place beside a path, for what is to get that name once it is whole."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f"{_stem(name)}{os.urandom(_DIGITS // 2).hex()}{UNFINISHED}")


def _stem(name: str) -> str:
    """How the name of a file's half begins; of a long name the beginning, in whole characters."""
    raw = os.fsencode(name)
    return f".{name if len(raw) <= _NAME else raw[:_NAME].decode(errors='ignore')}."


def remove_unfinished(folder: StrPath, before: float, *, below: bool = False) -> None:
    """Take away what earlier processes had not finished by ``before`` (seconds since the epoch), while no other process
    writes here: in a folder, and beside the files that its links lead to; ``below``: in all folders below it, too."""
    left = [os.fspath(folder)]
    while left:
        try:
            entries = list(os.scandir(left.pop()))
        except OSError:
            continue
        for entry in entries:
            if _is_unfinished(entry.name):
                _remove(entry.path, before)
            elif entry.is_symlink():
                _remove_beside(os.path.realpath(entry.path), before)
            elif below and entry.is_dir() and not disk.is_junction(entry.path):
                left.append(entry.path)


def _remove_beside(target: str, before: float) -> None:
    folder, name = os.path.split(target)
    with contextlib.suppress(OSError):
        for other in os.listdir(folder):
            if other.startswith(_stem(name)) and _is_unfinished(other):
                _remove(os.path.join(folder, other), before)


def _is_unfinished(name: str) -> bool:
    """Whether ``unfinished`` has made this name."""
    stem, _, digits = name.removesuffix(UNFINISHED).rpartition(".")
    made = name.endswith(UNFINISHED) and len(digits) == _DIGITS and set(digits) <= set("0123456789abcdef")
    return made and len(stem) > 1 and stem.startswith(".")


def _remove(path: str, before: float) -> None:
    with contextlib.suppress(OSError):
        if os.lstat(path).st_mtime >= before:
            return
        if os.path.isdir(path) and not (os.path.islink(path) or disk.is_junction(path)):
            remove_tree(path)
        else:
            os.unlink(path)


def write_whole(path: StrPath, *content: bytes, mode: int = FILE, lasting: bool = True) -> None:
    """Replace a file in one step; through a link, its target. ``lasting``: it is on the disk before anything else is
    done, also when the machine loses its power."""
    target = os.path.realpath(path)
    fresh = unfinished(target)
    try:
        _write(fresh, content, mode, lasting=lasting)
        os.replace(fresh, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise


def write_new(path: StrPath, content: bytes) -> None:
    """Write a file that is not there yet, whole or not at all. Raises FileExistsError where one is."""
    fresh = unfinished(path)
    try:
        _write(fresh, (content,), FILE, lasting=True)
        name_new(fresh, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(fresh)


def name_new(fresh: StrPath, path: StrPath) -> None:
    """Give a file its name, and never to the loss of what has got that name meanwhile. Raises FileExistsError."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:  # a disk without a second name for a file
        if os.path.lexists(path):
            raise
        os.rename(fresh, path)


def on_disk(path: StrPath) -> None:
    """Everything in a folder is on the disk before anything else is done, and so are the names of what is in it. Links
    are not followed. Blocks; raises OSError."""
    for folder, _, files in os.walk(path):
        for name in files:
            whole = os.path.join(folder, name)
            if not os.path.islink(whole):
                _sync(whole)
        names_on_disk(folder)


def names_on_disk(folder: StrPath) -> None:
    """The names in a folder are on the disk; nothing where a system knows no such thing. Raises OSError."""
    if not current.WINDOWS:
        _sync(folder)


def _sync(path: StrPath) -> None:
    descriptor = os.open(path, os.O_RDWR if current.WINDOWS else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
