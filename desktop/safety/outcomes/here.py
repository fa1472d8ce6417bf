"""Copies of folders for commands, where this system can make them."""

from __future__ import annotations

import sys

if sys.platform == "linux":
    from desktop.safety.outcomes.copies import Copies
else:
    from desktop.safety.outcomes.no_copies import NoCopies as Copies

__all__ = ["FOLDER", "Copies"]

FOLDER = "copies"
"""In the home, for nothing else."""
