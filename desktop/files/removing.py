"""A folder is removed with all in it, also where what wrote there has made that hard: a program that a model started,
say. Folders without rights, folders deeper than functions may call each other or a path may be long, links put in the
place of folders meanwhile. Blocks."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable

from desktop.systems import disk, open_flags

_ENTER = os.O_RDONLY | open_flags.DIRECTORY | open_flags.NOFOLLOW | open_flags.CLOEXEC
_HOLD = open_flags.PATH | open_flags.DIRECTORY | open_flags.CLOEXEC
_ALL = 0o700
_HAS_DIR_FD = os.open in os.supports_dir_fd


def remove_tree(path: str) -> None:
    """A folder with all in it, as far as that is possible. A link in its place stays, and what it leads to."""
    with contextlib.suppress(OSError):
        if _HAS_DIR_FD:
            _by_descriptors(os.path.abspath(path))
        else:
            _by_paths(path)


class _OnTheWay:
    """One that is being emptied: which it is, and its folders that are still to be removed."""

    def __init__(self, name: str, descriptor: int, left: Iterable[str]) -> None:
        self.name, self.known_as, self.left = name, _identity(descriptor), list(left)


def _by_descriptors(path: str) -> None:
    """Goes down and up by one open folder, so that neither the depth nor the length of the path counts."""
    above, name = os.path.split(path)
    here = os.open(above, _HOLD)
    try:
        way = [_OnTheWay("", here, [name])]
        while True:
            if way[-1].left:
                name = way[-1].left.pop()
                below = _entered(name, here)
                if below is not None:
                    here = _exchanged(here, below)
                    way.append(_OnTheWay(name, here, _emptied(here)))
            elif len(way) > 1:
                name = way.pop().name
                here = _exchanged(here, os.open("..", _HOLD, dir_fd=here))
                if _identity(here) != way[-1].known_as:
                    return  # somebody moved the folder: this is none of what is to be removed
                with contextlib.suppress(OSError):
                    os.rmdir(name, dir_fd=here)
            else:
                return
    finally:
        os.close(here)


def _exchanged(old: int, new: int) -> int:
    os.close(old)
    return new


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _entered(name: str, at: int) -> int | None:
    """A folder with all rights, open; None where that cannot be."""
    try:
        return _given_rights(os.open(name, _ENTER, dir_fd=at))
    except PermissionError:
        with contextlib.suppress(OSError):
            os.chmod(name, _ALL, dir_fd=at)
            return _given_rights(os.open(name, _ENTER, dir_fd=at))
    except OSError:
        pass
    return None


def _given_rights(descriptor: int) -> int:
    with contextlib.suppress(OSError):
        if os.fstat(descriptor).st_mode & _ALL != _ALL:
            disk.set_mode(descriptor, _ALL)
    return descriptor


def _emptied(folder: int) -> list[str]:
    """Removes what is no folder; the names of the others."""
    below: list[str] = []
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.name)
                else:
                    os.unlink(entry.name, dir_fd=folder)
    return below


def _by_paths(path: str) -> None:
    """Where no folder can be held open: on Windows."""
    folders = [path]
    for folder in folders:  # which grows, as ``os.walk`` does not
        with contextlib.suppress(OSError):
            for entry in list(os.scandir(folder)):
                if entry.is_dir(follow_symlinks=False) and not disk.is_junction(entry.path):
                    folders.append(entry.path)
                else:
                    _unlink(entry.path)
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _unlink(path: str) -> None:
    """Also what is only to be read, as git makes its files: Windows keeps those."""
    with contextlib.suppress(OSError):
        try:
            os.unlink(path)
        except PermissionError:
            os.chmod(path, stat.S_IWRITE)
            os.unlink(path)
