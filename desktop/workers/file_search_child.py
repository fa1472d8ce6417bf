"""The file search as a child of the app: what is run, with which environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec

SERVICE = "file-search"

SCRIPT = Path(__file__).parent / "file_search" / "__main__.py"
_PASSED = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")


def file_search(*, script: Path = SCRIPT, environ: Mapping[str, str] | None = None) -> ChildProcess:
    """The file search, started by the first call and again by one that comes after it has ended for want of calls."""
    found = os.environ if environ is None else environ
    passed = {name: found[name] for name in _PASSED if name in found}
    argv = (sys.executable, "-I", "-X", "utf8", str(script))
    return ChildProcess(ChildSpec(SERVICE, argv, passed, folder=os.sep, on_demand=True))
