"""The app in its own place, started again: the version that is current now."""

from __future__ import annotations

import os
from pathlib import Path

from desktop.app.home.installation import own_start, this_installation
from desktop.systems import current, ending_signals


def start_again(home: Path) -> int:
    """Become a new start of the app over the same home, named whole: what was given may be named from the folder that
    is left. A link is not followed a second time. The home is let go of with this process's files. Returns only where
    it cannot be run: 0, the end that the person wanted anyway."""
    there = this_installation()
    command = there.command or own_start()
    if current.WINDOWS:
        return 0
    ending_signals.as_usual()  # they were not to disturb the end; that would be inherited
    try:
        if not there.command:  # by this very Python, which looks for the code where it stands
            os.chdir(there.code)
        os.execv(command[0], [*command, "--home", os.fspath(home)])
    except OSError:
        return 0
