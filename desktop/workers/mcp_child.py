"""The MCP host as a child of the app: what is run, with which environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec

SERVICE = "mcp-host"
# What a person's network needs, and where things are. Servers get none of it: their environment comes with the call.
_PASSED = (
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TZ",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "LOCALAPPDATA",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)


def environment(host: Mapping[str, str]) -> dict[str, str]:
    """The child's whole environment; this machine's own servers are never proxied."""
    passed = {name: host[name] for name in _PASSED if name in host}
    no_proxy = ",".join(filter(None, (host.get("no_proxy") or host.get("NO_PROXY"), "localhost,127.0.0.1,::1")))
    return {**passed, "OTEL_SDK_DISABLED": "true", "NO_PROXY": no_proxy, "no_proxy": no_proxy}


def mcp_host(*, secrets: Callable[[], Iterable[str]] = tuple, environ: Mapping[str, str] | None = None) -> ChildProcess:
    """The MCP host, not started: the first server that is enabled starts it.

    ``secrets`` gives the values to keep out of what is told of its stderr.
    """
    script = Path(__file__).parent / "mcp_host" / "__main__.py"
    argv = (sys.executable, "-I", "-X", "utf8", str(script))
    spec = ChildSpec(
        SERVICE, argv, environment(os.environ if environ is None else environ), folder=os.sep, end_grace=2.5
    )
    return ChildProcess(spec, secrets=secrets)
