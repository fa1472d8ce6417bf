"""What starts the current version is renewed, too: it lies above all versions, so that no update lays it down.

Every version carries the launcher of its time. A version that has started well by the one that is there puts its own in
that place if the number in it is higher, in one step, and only if it starts this version, too. An older version never
puts an older one back; so each launcher has to start each version, which tests hold for every one that was given out.
"""

from __future__ import annotations

import contextlib
import os
import re

from desktop.domain.errors import KnownError
from desktop.files.private import names_on_disk, unfinished, write_whole
from desktop.services.updates.installing import try_command
from desktop.services.updates.versions import Versions

OWN = "bin/assent-launcher"
"""In the folder of a version."""
_NUMBER = re.compile(rb"^# launcher ([1-9][0-9]{0,5})$", re.MULTILINE)
_MOST, _MODE = 64 * 1024, 0o755


def renew_launcher(versions: Versions) -> bool:
    """Put this version's launcher in the place of an older one; whether that was done. Blocks; raises OSError."""
    there = versions.launcher
    if versions.current != versions.running or os.path.islink(there) or not os.access(versions.top, os.W_OK):
        return False
    try:
        own = _read(os.path.join(versions.place(versions.running), OWN))
    except FileNotFoundError:
        return False
    if number_of(own) <= number_of(_read(there)):
        return False
    fresh = unfinished(there)
    try:
        write_whole(fresh, own, mode=_MODE)
        try_command(fresh, versions.running)
        os.replace(fresh, there)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(fresh)
        if isinstance(error, KnownError):  # the one that is there goes on starting it
            return False
        raise
    names_on_disk(versions.top)
    return True


def number_of(launcher: bytes) -> int:
    """Which one it is; 0: it does not say so."""
    found = _NUMBER.search(launcher)
    return int(found[1]) if found is not None else 0


def _read(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read(_MOST)
