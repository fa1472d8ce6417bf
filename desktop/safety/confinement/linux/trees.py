"""A process with all that it started on Linux: the launcher adopts orphans, and /proc says who descends from whom."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from desktop.domain.safety import ProcessSpec
from desktop.safety.boundary.paths import real
from desktop.safety.confinement.linux.launcher import descendants
from desktop.safety.confinement.linux.memory import outgrown

if sys.platform != "linux":
    raise ImportError("for Linux alone")

__all__ = ["default_launcher", "end_leftovers", "held", "kill_tree", "outgrown", "signal_tree"]

_SUPERVISORS = ("bwrap",)


def default_launcher() -> tuple[str, ...]:
    """The command that runs launcher.py on its own."""
    return (sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py")))


def held(spec: ProcessSpec) -> ProcessSpec:
    """The same process, ended with everything below it when its parent dies; where nothing does that yet."""
    if spec.contained:
        return spec
    place = spec.cwd if spec.settled else real(spec.cwd)
    argv = (*default_launcher(), "plain", place, *spec.argv)
    return replace(spec, argv=argv, cwd=place, contained=True)


def kill_tree(root: int) -> None:
    """Send KILL to everything; but only TERM to the launcher or bubblewrap itself, upon which it leaves nothing
    behind: killed, it could no longer end what was started while we looked."""
    signal_tree(root, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(root, signal.SIGTERM)


def end_leftovers(root: int, *, ended: bool) -> None:
    """The last resort when waiting was cut short twice."""
    if not ended:
        signal_tree(root, signal.SIGKILL, group=True)


def signal_tree(root: int, number: int, *, group: bool = False) -> None:
    """Signal every descendant of ``root``; with ``group`` also ``root`` and its process group. Never raises."""
    found = descendants(root) if os.path.isdir("/proc/self") else []
    for process in reversed(found):
        if group or not _is_supervisor(process):
            with contextlib.suppress(OSError):
                os.kill(process, number)
    if group or not found:
        with contextlib.suppress(OSError):
            os.killpg(root, number)


def _is_supervisor(process: int) -> bool:
    """Whether it is bubblewrap's own process, which ends by itself when what it holds has ended."""
    try:
        return Path(f"/proc/{process}/comm").read_text().strip() in _SUPERVISORS
    except OSError:
        return False
