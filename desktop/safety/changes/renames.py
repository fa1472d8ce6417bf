"""Giving names without ever losing what has the name: exchanging two, and taking one only if it is free.

Linux and macOS can do both in one step; elsewhere, and on file systems that cannot, it is done in two.
"""

from __future__ import annotations

import ctypes
import errno
import os
from functools import lru_cache
from typing import Any, NamedTuple

from desktop.systems import current

_NOREPLACE, _EXCHANGE = 1, 2
_MAC_SWAP, _MAC_EXCL = 2, 4
_UNABLE = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP)


class Place(NamedTuple):
    """A name in an open folder; without one, a whole path."""

    name: str
    folder: int | None


class Renames:
    """Renames in one step where the system can; not ``at_once``: as where it cannot. Blocks."""

    def __init__(self, *, at_once: bool = True) -> None:
        self._at_once = at_once

    def exchange(self, one: Place, other: Place) -> bool:
        """Each gets the other's name, in one step; False: that cannot be done here, and nothing was. Raises
        OSError."""
        return self._at_once and _renamed(one, other, _EXCHANGE, _MAC_SWAP)

    def name_free(self, source: Place, target: Place) -> None:
        """Rename to a name that nothing has. Raises FileExistsError, OSError."""
        if self._at_once and _renamed(source, target, _NOREPLACE, _MAC_EXCL):
            return
        try:
            os.stat(target.name, dir_fd=target.folder, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
            return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target.name)


def _renamed(source: Place, target: Place, linux: int, mac: int) -> bool:
    if source.folder is None or target.folder is None:
        return False
    call = _call()
    if call is None:
        return False
    flags = mac if current.MACOS else linux
    arguments = (
        ctypes.c_int(source.folder),
        ctypes.c_char_p(os.fsencode(source.name)),
        ctypes.c_int(target.folder),
        ctypes.c_char_p(os.fsencode(target.name)),
        ctypes.c_uint(flags),
    )
    while call(*arguments) != 0:
        code = ctypes.get_errno()
        if code in _UNABLE:
            return False
        if code != errno.EINTR:
            raise OSError(code, os.strerror(code), target.name)
    return True


@lru_cache(maxsize=1)
def _call() -> Any:
    """The function of the C library that renames with flags, or None where there is none."""
    if current.WINDOWS:
        return None
    library = ctypes.CDLL(None, use_errno=True)
    return getattr(library, "renameatx_np" if current.MACOS else "renameat2", None)
