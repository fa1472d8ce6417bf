"""The environment of a child that talks to other computers: where things are, and what a person's network needs."""

from __future__ import annotations

from collections.abc import Mapping

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


def network_environment(host: Mapping[str, str]) -> dict[str, str]:
    """What such a child gets of ours. This machine's own servers are never proxied."""
    passed = {name: host[name] for name in _PASSED if name in host}
    no_proxy = ",".join(filter(None, (host.get("no_proxy") or host.get("NO_PROXY"), "localhost,127.0.0.1,::1")))
    return {**passed, "NO_PROXY": no_proxy, "no_proxy": no_proxy}
