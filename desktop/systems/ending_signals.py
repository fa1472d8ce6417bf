"""The signals by which a system, a terminal or a person ends the app in order."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from desktop.systems.windows.ending_signals import as_usual, hear, hear_interrupts, ignore
else:
    from desktop.systems.posix.ending_signals import as_usual, hear, hear_interrupts, ignore

__all__ = ["as_usual", "hear", "hear_interrupts", "ignore"]
