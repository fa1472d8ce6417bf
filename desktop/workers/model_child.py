"""The model host as a child of the app: what is run, with which environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.network_environment import network_environment

SERVICE = "model-host"
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
    """The child's whole environment; nothing in it could be a key (R-ENV-6)."""
    return {**network_environment(host), **_SET}


def model_host(*, secrets: Callable[[], Iterable[str]]) -> ChildProcess:
    """The model host, not started yet: call ``start()`` after first paint, ``stop()`` at the end.

    ``secrets`` gives the values to keep out of what is told of its stderr.
    """
    script = Path(__file__).parent / "model_host" / "__main__.py"
    argv = (sys.executable, "-I", "-X", "utf8", str(script))
    spec = ChildSpec(SERVICE, argv, environment(os.environ), folder=os.sep)
    return ChildProcess(spec, secrets=secrets)
