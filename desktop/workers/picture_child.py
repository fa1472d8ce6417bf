"""The picture host as a child of the app: what is run, with which environment, for one picture."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec

SERVICE = "picture-host"
SCRIPT = Path(__file__).parent / "picture_host" / "__main__.py"
_PASSED = ("LANG", "LC_ALL", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")


def picture_host(
    handle: int, *, confined: tuple[str, str] = ("", ""), environ: Mapping[str, str] | None = None
) -> ChildProcess:
    """A process that opens the file which ``handle`` has open; the handle is the caller's to close, once the child is
    ready. It has one life: what a picture made of it ends with it.

    ``confined``: the file that shuts it in, and the filter of system calls; empty: nothing does."""
    found = os.environ if environ is None else environ
    passed = {name: found[name] for name in _PASSED if name in found}
    argv = (sys.executable, "-I", "-X", "utf8", str(SCRIPT), str(handle), *confined)
    return ChildProcess(ChildSpec(SERVICE, argv, passed, folder=os.sep, once=True, handles=(handle,)))
