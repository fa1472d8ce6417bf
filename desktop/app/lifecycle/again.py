"""The app in its own place, started again: the version that is current now."""

from __future__ import annotations

import os
import signal
import sys

from desktop.app.home.installation import this_installation


def start_again() -> int:
    """Become a new start of the app with the same arguments; the home is let go of with this process's files. Returns
    only where nothing is known that starts it, or it cannot be run: 0, the end that the person wanted anyway."""
    command = this_installation().command
    if not command or os.name != "posix":
        return 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # were not to disturb the end; would be inherited
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(command[0], [*command, *sys.argv[1:]])
    except OSError:
        return 0
