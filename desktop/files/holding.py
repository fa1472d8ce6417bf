"""Folders that a process uses, and folders that one process alone may change: locks of the system, which go with the
process however it ends. POSIX only; blocks for well under a millisecond."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from desktop.domain.loading.lazy import lazy_module
from desktop.files.private import StrPath

if TYPE_CHECKING:
    import fcntl
else:
    fcntl = lazy_module("fcntl")


def hold(folder: StrPath) -> int:
    """Say that this process uses a folder, until the descriptor is closed or the process ends. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def alone(folder: StrPath) -> Iterator[None]:
    """Nobody else holds the folder, or gets it while the body runs. Raises BlockingIOError where somebody does."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
