"""The keyring host as a child of the app: what is run, with which environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from desktop.workers.child import ChildProcess, ChildSpec

SERVICE = "keyring-host"
SCRIPT = Path(__file__).parent / "keyring_host" / "__main__.py"
# What keyring and its backends need to find the person's keyring and to ask to have it unlocked. No secret is in it.
_PASSED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "USERNAME",
    "USERDOMAIN",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_TYPE",
    "DESKTOP_SESSION",
    "KDE_FULL_SESSION",
    "KDE_SESSION_VERSION",
    "DISPLAY",
    "XAUTHORITY",
    "WAYLAND_DISPLAY",
    "PYTHON_KEYRING_BACKEND",
)


def environment(host: Mapping[str, str]) -> dict[str, str]:
    """The child's whole environment."""
    return {name: host[name] for name in _PASSED if name in host}


def keyring_host(
    *, secrets: Callable[[], Iterable[str]] = tuple, script: Path = SCRIPT, environ: Mapping[str, str] | None = None
) -> ChildProcess:
    """The keyring host, started by the first call and again by one that comes after it has ended for want of calls.

    ``secrets`` gives the values to keep out of what is told of its stderr.
    """
    argv = (sys.executable, "-I", "-X", "utf8", str(script))
    passed = environment(os.environ if environ is None else environ)
    return ChildProcess(ChildSpec(SERVICE, argv, passed, folder=os.sep, on_demand=True), secrets=secrets)
