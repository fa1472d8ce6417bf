"""Processes and those that they start: how one is started apart from ours, told to end, and ended with all of them."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from desktop.systems.windows.processes import (
        KILL,
        TELL,
        computed_s,
        let_go,
        signal_all,
        signal_one,
        start,
        start_blocking,
    )
else:
    from desktop.systems.posix.processes import (
        KILL,
        TELL,
        computed_s,
        let_go,
        signal_all,
        signal_one,
        start,
        start_blocking,
    )

__all__ = ["KILL", "TELL", "computed_s", "let_go", "signal_all", "signal_one", "start", "start_blocking"]
