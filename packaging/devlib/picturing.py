"""Saves the pictures of packaging/shots: a process for light and one for dark, because each needs a core to itself."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from .environment import ROOT, clean_environment, python
from .words import Stop, say

MODES = ("light", "dark")


def save_pictures(folder: Path, names: Sequence[str]) -> int:
    """Saves the pictures, or those with one of the names in theirs, and returns 0, or else the first failing exit
    code. Stops where no picture has such a name."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**clean_environment(), "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT / "packaging")}
    commands = [[str(python()), "-m", "shots", mode, str(folder), *names] for mode in MODES]
    running = [subprocess.Popen(one, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) for one in commands]
    said = [process.communicate()[0] for process in running]
    failed = next((process.returncode for process in running if process.returncode), 0)
    if failed:
        return failed
    saved = sum(map(int, said))
    if not saved:
        raise Stop(
            f"No picture has {' or '.join(names)} in its name.",
            "Run it without names: each file is called by its name.",
        )
    say(f"{saved} pictures in {folder}")
    return 0
