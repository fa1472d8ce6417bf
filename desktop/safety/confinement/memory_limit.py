"""How much memory a command and all that it starts may hold."""

from __future__ import annotations

from desktop.systems import limits

GIGABYTE = 1_000_000_000


def limit_of(gigabytes: float) -> int:
    """The limit in bytes; 0 gigabytes means half of what the computer has, and no limit (0) where that is not known."""
    return int(gigabytes * GIGABYTE) if gigabytes > 0 else limits.physical_memory() // 2
