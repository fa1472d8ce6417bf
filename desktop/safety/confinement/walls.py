"""What can hold a process on this system, to be tried in turn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Protocol

from desktop.domain.files.copied_folders import LaidCopy
from desktop.domain.safety import ConfinementKind, ConfinementReport, ProcessSpec
from desktop.safety.confinement.machine import Machine
from desktop.safety.confinement.other.walls import OtherWalls
from desktop.safety.confinement.profile import SandboxProfile

if sys.platform == "linux":
    from desktop.safety.confinement.linux.walls import LinuxWalls

if sys.platform == "win32":
    from desktop.safety.confinement.windows import trial

RELIED_ON: Mapping[str, bool] = {"linux": True, "darwin": True, "win32": False}
"""By system, whether commands run behind what confines there. That of Windows (``windows/``) is off: it was written
without a Windows at hand, and counts for nothing until ``test_windows_wall.py`` has found no hole in it there. Then it
still has to be laid around commands: so far it holds only its own trial."""


class Walls(Protocol):
    """Some kinds of confinement. One thread at a time tries them."""

    def tried(self, kind: ConfinementKind, here: Machine, folder: Callable[[str], str]) -> ConfinementReport | None:
        """What a kind holds here; None where it does not work. ``folder`` makes temporary ones of ours. Blocks."""
        ...

    def around(
        self, kind: ConfinementKind, spec: ProcessSpec, profile: SandboxProfile, folder: Callable[[], str]
    ) -> ProcessSpec | None:
        """The process inside; None: this kind is none of ours. ``folder`` makes its temporary one."""
        ...

    def around_copy(
        self,
        copy: LaidCopy,
        kind: ConfinementKind,
        spec: ProcessSpec,
        profile: SandboxProfile,
        folder: Callable[[], str],
    ) -> ProcessSpec | None:
        """The same with a copy over the folders that it writes, laid before anything holds it."""
        ...

    def close(self) -> bool:
        """Let go of what is held; whether there was something, so that all has to be tried again."""
        ...


def unproved_words() -> str:
    """What a wall does here that is not relied on yet, for who asks for a check; "" where there is none. Blocks."""
    if sys.platform == "win32":
        try:
            holes = trial.holes(trial.tried())
        except (OSError, ValueError) as error:
            return f" A first wall for Windows, not used yet, could not be tried: {error}."
        found = f"has holes: {', '.join(holes)}" if holes else "held in its trial"
        return f" A first wall for Windows, not used yet, {found}."
    return ""


def walls_here() -> tuple[Walls, ...]:
    """Those of this system."""
    if sys.platform == "linux":
        return LinuxWalls(), OtherWalls()
    return (OtherWalls(),)
