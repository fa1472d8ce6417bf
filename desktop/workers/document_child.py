"""The document host and the result host as children of the app: what is run, with which environment, for one file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec

SERVICE, RESULT_SERVICE = "document-host", "result-host"
SCRIPT = Path(__file__).parent / "document_host" / "__main__.py"
RESULT_SCRIPT = Path(__file__).parent / "result_host" / "__main__.py"
_PASSED = ("LANG", "LC_ALL", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")


def document_host(
    handle: int, *, confined: tuple[str, str] = ("", ""), environ: Mapping[str, str] | None = None
) -> ChildProcess:
    """A process that reads the file which ``handle`` has open; the handle is the caller's to close, once the child is
    ready. It has one life: what a document made of it ends with it.

    ``confined``: the file that shuts it in, and the filter of system calls; empty: nothing does."""
    return _for_one_file(SERVICE, SCRIPT, handle, confined, {}, environ)


def result_host(
    handle: int, *, confined: tuple[str, str, str] = ("", "", ""), environ: Mapping[str, str] | None = None
) -> ChildProcess:
    """The same for a process that shows a result. ``confined`` ends with the filter for where Landlock holds it to the
    folders of fonts."""
    return _for_one_file(RESULT_SERVICE, RESULT_SCRIPT, handle, confined, {"RUST_BACKTRACE": "0"}, environ)


def _for_one_file(
    service: str,
    script: Path,
    handle: int,
    confined: tuple[str, ...],
    given: Mapping[str, str],
    environ: Mapping[str, str] | None,
) -> ChildProcess:
    found = os.environ if environ is None else environ
    passed = {name: found[name] for name in _PASSED if name in found} | dict(given)
    argv = (sys.executable, "-I", "-X", "utf8", str(script), str(handle), *confined)
    return ChildProcess(ChildSpec(service, argv, passed, folder=os.sep, once=True, handles=(handle,)))
