"""The model host as a child of the app: what is run, with which environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec

SERVICE = "model-host"
# What a person's network needs, and where things are. Nothing that could be a key (R-ENV-6).
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
_SET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else its import fetches a file
    "LITELLM_MODE": "PRODUCTION",  # else its import reads .env files into the environment
    "LITELLM_TELEMETRY": "False",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "DO_NOT_TRACK": "1",
    "OR_APP_NAME": "Assent",  # OpenRouter is told which program asks; else the library names itself
    "OR_SITE_URL": "app://assent",
}


def environment(host: Mapping[str, str]) -> dict[str, str]:
    """The child's whole environment, from the allowlist above; this machine's own servers are never proxied."""
    passed = {name: host[name] for name in _PASSED if name in host}
    no_proxy = ",".join(filter(None, (host.get("no_proxy") or host.get("NO_PROXY"), "localhost,127.0.0.1,::1")))
    return {**passed, **_SET, "NO_PROXY": no_proxy, "no_proxy": no_proxy}


def model_host(
    *, secrets: Callable[[], Iterable[str]] = tuple, environ: Mapping[str, str] | None = None
) -> ChildProcess:
    """The model host, not started yet: call ``start()`` after first paint, ``stop()`` at the end.

    ``secrets`` gives the values to keep out of what is told of its stderr.
    """
    script = Path(__file__).parent / "model_host" / "__main__.py"
    argv = (sys.executable, "-I", "-X", "utf8", str(script))
    spec = ChildSpec(SERVICE, argv, environment(os.environ if environ is None else environ), folder=os.sep)
    return ChildProcess(spec, secrets=secrets)
