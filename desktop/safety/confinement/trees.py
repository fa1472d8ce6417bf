"""A process with all that it started: what holds it together on this system, and what ends it."""

from __future__ import annotations

import sys

if sys.platform == "linux":
    from desktop.safety.confinement.linux.trees import (
        default_launcher,
        end_leftovers,
        held,
        kill_tree,
        outgrown,
        signal_tree,
    )
else:
    from desktop.safety.confinement.other.trees import (
        default_launcher,
        end_leftovers,
        held,
        kill_tree,
        outgrown,
        signal_tree,
    )

__all__ = ["default_launcher", "end_leftovers", "held", "kill_tree", "outgrown", "signal_tree"]
