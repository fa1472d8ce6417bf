"""The web host and the update host as children of the app, which both ask other computers: what is run, with which
environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.network_environment import network_environment

SERVICE = "web-host"
SCRIPT = Path(__file__).parent / "web_host" / "__main__.py"
UPDATE_SERVICE = "update-host"
UPDATE_SCRIPT = Path(__file__).parent / "update_host" / "__main__.py"


def web_host(
    *, launcher: str = "", environ: Mapping[str, str] | None = None, secrets: Callable[[], Iterable[str]] = tuple
) -> ChildProcess:
    """The web host, started by the first call and again by one that comes after it has ended for want of calls.

    ``launcher``: the file that shuts it in; "": nothing does. ``secrets`` gives the values to keep out of what is told
    of its stderr."""
    found = os.environ if environ is None else environ
    argv = (sys.executable, "-I", "-X", "utf8", str(SCRIPT), launcher)
    spec = ChildSpec(SERVICE, argv, network_environment(found), folder=os.sep, on_demand=True)
    return ChildProcess(spec, secrets=secrets)


def update_host(
    folders: Sequence[str], *, launcher: str = "", environ: Mapping[str, str] | None = None
) -> ChildProcess:
    """A process that looks for a new version or fetches it, and writes in these folders alone. It has one life, for one
    call. ``launcher``: the file that shuts it in; "": nothing does."""
    found = os.environ if environ is None else environ
    argv = (sys.executable, "-I", "-X", "utf8", str(UPDATE_SCRIPT), launcher, *folders)
    return ChildProcess(ChildSpec(UPDATE_SERVICE, argv, network_environment(found), folder=os.sep, once=True))
