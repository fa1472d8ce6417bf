"""Folders that a process uses, and folders that one process alone may change: locks of the system, which go with the
process however it ends. Windows lets nobody open a folder: there each raises OSError. Blocks for well under a
millisecond."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from desktop.files.private import StrPath
from desktop.systems import file_lock, open_flags


def hold(folder: StrPath) -> int:
    """Say that this process uses a folder, until the descriptor is closed or the process ends. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | open_flags.CLOEXEC)
    try:
        file_lock.share(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def alone(folder: StrPath) -> Iterator[None]:
    """Nobody else holds the folder, or gets it while the body runs. Raises BlockingIOError where somebody does."""
    descriptor = os.open(folder, os.O_RDONLY | open_flags.CLOEXEC)
    try:
        file_lock.take(descriptor)
        yield
    finally:
        os.close(descriptor)
