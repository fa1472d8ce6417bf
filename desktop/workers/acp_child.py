"""The ACP host as a child of the app: what is run, with which environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.network_environment import network_environment

SERVICE = "acp-host"


def environment(host: Mapping[str, str]) -> dict[str, str]:
    """The child's whole environment. Agents get none of it: their environment comes with the call."""
    return {**network_environment(host)}


def acp_host(*, secrets: Callable[[], Iterable[str]]) -> ChildProcess:
    """The ACP host, not started: the first chat with such an agent starts it.

    ``secrets`` gives the values to keep out of what is told of its stderr.
    """
    script = Path(__file__).parent / "acp_host" / "__main__.py"
    argv = (sys.executable, "-I", "-X", "utf8", str(script))
    spec = ChildSpec(SERVICE, argv, environment(os.environ), folder=os.sep, end_grace=2.5)
    return ChildProcess(spec, secrets=secrets)
