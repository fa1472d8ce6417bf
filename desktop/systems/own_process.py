"""What the system tells of this process: since when it is, and what memory it has."""

from __future__ import annotations

import os
import sys
import time


def since_start_ms(at_ns: int) -> float:
    """Milliseconds from the start of this process to ``at_ns`` (of ``time.monotonic_ns``), interpreter included.

    As the kernel counts, in steps of 10 ms. 0 where that is not known.
    """
    if sys.platform != "linux":
        return 0.0
    with open("/proc/self/stat", encoding="ascii") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    now_ns, boot_ns = time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return (boot_ns - (now_ns - at_ns)) / 1e6 - ticks / os.sysconf("SC_CLK_TCK") * 1000


def pss_kb() -> int:
    """Proportional memory of this process in KiB; 0 where that is not known."""
    try:
        with open("/proc/self/smaps_rollup", encoding="ascii") as file:
            text = file.read()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)
