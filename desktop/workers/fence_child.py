"""The fence host as a child of the app: what is run, with which environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec

SERVICE = "fence-host"
SCRIPT = Path(__file__).parent / "fence_host" / "__main__.py"
_PASSED = ("LANG", "LC_ALL", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")


def fence_host(*, confined: tuple[str, str] = ("", ""), environ: Mapping[str, str] | None = None) -> ChildProcess:
    """The fence host, started by the first call and again by one that comes after it has ended for want of calls.

    ``confined``: the file that shuts it in, and the filter of system calls; empty: nothing does."""
    found = os.environ if environ is None else environ
    passed = {name: found[name] for name in _PASSED if name in found}
    argv = (sys.executable, "-I", "-X", "utf8", str(SCRIPT), *confined)
    return ChildProcess(ChildSpec(SERVICE, argv, passed, folder=os.sep, on_demand=True))
