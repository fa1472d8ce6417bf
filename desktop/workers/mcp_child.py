"""The MCP host as a child of the app: what is run, with which environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.network_environment import network_environment

SERVICE = "mcp-host"


def environment(host: Mapping[str, str]) -> dict[str, str]:
    """The child's whole environment. Servers get none of it: their environment comes with the call."""
    return {**network_environment(host), "OTEL_SDK_DISABLED": "true"}


def mcp_host(*, secrets: Callable[[], Iterable[str]]) -> ChildProcess:
    """The MCP host, not started: the first server that is enabled starts it.

    ``secrets`` gives the values to keep out of what is told of its stderr.
    """
    script = Path(__file__).parent / "mcp_host" / "__main__.py"
    argv = (sys.executable, "-I", "-X", "utf8", str(script))
    spec = ChildSpec(SERVICE, argv, environment(os.environ), folder=os.sep, end_grace=2.5)
    return ChildProcess(spec, secrets=secrets)
