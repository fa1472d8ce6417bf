"""Processes and those that they start: how one is started apart from ours, told to end, and ended."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from desktop.systems.windows.processes import APART, KILL, TELL, computed_s, signal_all, signal_one
else:
    from desktop.systems.posix.processes import APART, KILL, TELL, computed_s, signal_all, signal_one

__all__ = ["APART", "KILL", "TELL", "computed_s", "signal_all", "signal_one"]
