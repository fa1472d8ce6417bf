"""Limits of a process on Linux and macOS: ``resource``."""

from __future__ import annotations

import contextlib
import os
import resource
import sys

if sys.platform == "win32":
    raise ImportError("Windows has no limits of this kind")


def no_core_files(*, for_good: bool = False) -> None:
    """A core file of this process would hold keys. Unless ``for_good`` what it starts may have them again. Raises
    OSError, ValueError."""
    hard = 0 if for_good else resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def bound(name: str, most: int) -> None:
    """So much of it and never more: ``name`` as ``resource`` calls it, without RLIMIT. Raises OSError, ValueError."""
    resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def bound_memory(most: int) -> None:
    """So many bytes of memory for this process, or less where it had less. Raises OSError, ValueError."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def free_memory_of(process: int) -> None:
    """Our own limit of memory is not that of a process that we started. Linux only; on macOS it has ours."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            resource.prlimit(process, resource.RLIMIT_DATA, (hard, hard))


def physical_memory() -> int:
    """Bytes of memory that the computer has; 0 where it does not say."""
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return 0
    return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
