"""Locks on Linux and macOS: ``flock``, which belongs to the open file."""

from __future__ import annotations

import fcntl
import os
import sys

if sys.platform == "win32":
    raise ImportError("Windows has no locks of this kind")


def take(file: int) -> None:
    """Have it alone, until the file is closed. Raises BlockingIOError where somebody has it, or asks just now."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def share(file: int) -> None:
    """Have it with others who share it, until the file is closed. Raises BlockingIOError where somebody has it."""
    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def ask(file: int) -> None:
    """Raises BlockingIOError where somebody has it; who else asks at the same time is in nobody's way."""
    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    fcntl.flock(file, fcntl.LOCK_UN)


def read_at(file: int, most: int, place: int) -> bytes:
    """Bytes from a place on, wherever reading goes on otherwise."""
    return os.pread(file, most, place)


def write_at(file: int, content: bytes, place: int) -> None:
    """Over what stands at a place, wherever writing goes on otherwise."""
    os.pwrite(file, content, place)
