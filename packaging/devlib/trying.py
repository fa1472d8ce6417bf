"""Starts packaging/trials as it has to be: as root, in a mount namespace of its own, so that nothing stays mounted."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .environment import ROOT, clean_environment, python
from .system import missing_programs
from .words import Stop

PROGRAMS = {
    "mmdebstrap": "mmdebstrap",
    "bwrap": "bubblewrap",
    "unshare": "util-linux",
    "Xvfb": "xvfb",
    "xdotool": "xdotool",
    "dbus-daemon": "dbus-daemon",
    "gnome-keyring-daemon": "gnome-keyring",
    "sshfs": "sshfs",
    "/usr/lib/openssh/sftp-server": "openssh-sftp-server",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
}
"""Program or file -> Debian package."""


def run_trials(packages: Path, store: Path, names: Sequence[str]) -> int:
    """The exit code of the trials: 1 when one did not go well. ``names``: what the person gave further."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        raise Stop(
            "Trials make trees of Debian and install packages in them, which only root on Linux can.",
            "Run this as root on a machine that you can spare, with everything it makes below --store.",
        )
    missing = missing_programs(PROGRAMS)
    if missing:
        raise Stop(f"Not found: {', '.join(sorted(missing))}.", f"apt-get install {' '.join(sorted(missing.values()))}")
    if not any(packages.glob("*ssent*")):
        raise Stop(f"There is no package in {packages}.", "Make some: `python3 packaging/dev.py package --out DIR`.")
    environment = {**clean_environment(), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'packaging'}"}
    command = ["unshare", "--mount", "--propagation", "private", str(python()), "-m", "trials", str(packages)]
    return subprocess.call([*command, "--store", str(store), *names], cwd=ROOT, env=environment)
