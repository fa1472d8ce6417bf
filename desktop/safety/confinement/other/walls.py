"""Where nothing but ``sandbox-exec`` can hold a process: macOS and, until its wall was proved there, Windows."""

from __future__ import annotations

from collections.abc import Callable

from desktop.domain.files.copied_folders import LaidCopy
from desktop.domain.safety import ConfinementKind, ConfinementReport, ProcessSpec
from desktop.safety.confinement import reports, seatbelt
from desktop.safety.confinement.machine import Machine
from desktop.safety.confinement.profile import SandboxProfile
from desktop.safety.confinement.proof import refuses_outside


class OtherWalls:
    """``sandbox-exec`` where a machine has it; else nothing."""

    def tried(self, kind: ConfinementKind, here: Machine, folder: Callable[[str], str]) -> ConfinementReport | None:
        """What a kind holds here; None where it does not work. ``folder`` makes temporary ones of ours. Blocks."""
        if kind == "sandbox-exec" and here.sandbox_exec:
            private = folder("commands")
            if refuses_outside(lambda spec, profile: seatbelt.in_seatbelt(spec, profile, private)):
                return reports.seatbelt()
        return None

    def around(
        self, kind: ConfinementKind, spec: ProcessSpec, profile: SandboxProfile, folder: Callable[[], str]
    ) -> ProcessSpec | None:
        """The process inside; None: this kind is none of ours. ``folder`` makes its temporary one."""
        return seatbelt.in_seatbelt(spec, profile, folder()) if kind == "sandbox-exec" else None

    def around_copy(
        self,
        copy: LaidCopy,
        kind: ConfinementKind,
        spec: ProcessSpec,
        profile: SandboxProfile,
        folder: Callable[[], str],
    ) -> ProcessSpec | None:
        """No copy can be laid here."""
        return None

    def close(self) -> bool:
        """Nothing is held."""
        return False
