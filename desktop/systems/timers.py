"""Timers that end or interrupt a process that computes for too long."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from desktop.systems.windows.timers import interrupted_after, interrupts, watch
else:
    from desktop.systems.posix.timers import interrupted_after, interrupts, watch

__all__ = ["interrupted_after", "interrupts", "watch"]
