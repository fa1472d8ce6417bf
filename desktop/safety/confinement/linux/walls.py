"""bubblewrap, and Landlock with a filter of system calls: tried, and laid around processes."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from desktop.domain.files.copied_folders import LaidCopy
from desktop.domain.safety import ConfinementKind, ConfinementReport, ProcessSpec
from desktop.safety.confinement import reports
from desktop.safety.confinement.asked_hosts import kept_packets
from desktop.safety.confinement.linux.bubblewrap import in_bubblewrap
from desktop.safety.confinement.linux.copied_folders import layered
from desktop.safety.confinement.linux.landlock import closed_ports, in_landlock, ports_shared
from desktop.safety.confinement.linux.syscall_filter import in_bubblewrap as filter_in_bubblewrap
from desktop.safety.confinement.linux.syscall_filter import program, supports
from desktop.safety.confinement.machine import Machine
from desktop.safety.confinement.process import default_launcher
from desktop.safety.confinement.profile import SandboxProfile
from desktop.safety.confinement.proof import refuses_outside

if sys.platform != "linux":
    raise ImportError("for Linux alone")


class LinuxWalls:
    """What holds processes here, found once by ``tried``. Whoever has it sees to it that one thread at a time tries."""

    def __init__(self) -> None:
        self._launcher = default_launcher()
        self._bwrap: tuple[str, ...] = ()
        self._filter = ""
        self._sealed = -1
        self._closing: tuple[str, ...] = ()
        self._inherited: tuple[int, ...] = ()

    def tried(self, kind: ConfinementKind, here: Machine, folder: Callable[[str], str]) -> ConfinementReport | None:
        """What a kind holds here; None where it does not work. ``folder`` makes temporary ones of ours. Blocks."""
        if kind == "bubblewrap" and here.bwrap:
            return self._try_bubblewrap(here.bwrap, here)
        if kind == "landlock" and here.landlock_abi and supports(here.processor):
            private = folder("commands")
            if refuses_outside(partial(in_landlock, self._launcher, private), hidden_inside=False):
                return reports.landlock(here.landlock_abi)
        return None

    def around(
        self, kind: ConfinementKind, spec: ProcessSpec, profile: SandboxProfile, folder: Callable[[], str]
    ) -> ProcessSpec | None:
        """The process inside; None: this kind is none of ours. ``folder`` makes its temporary one."""
        if kind == "bubblewrap":
            return in_bubblewrap(self._bwrap, self._filter, spec, profile, self._closing, self._inherited)
        if kind == "landlock":
            return in_landlock(self._launcher, folder(), spec, profile)
        return None

    def around_copy(
        self,
        copy: LaidCopy,
        kind: ConfinementKind,
        spec: ProcessSpec,
        profile: SandboxProfile,
        folder: Callable[[], str],
    ) -> ProcessSpec | None:
        """The same with a copy over the folders that it writes, laid before anything holds it."""
        apart = kind == "bubblewrap" and not profile.network
        layers = layered(copy, spec.cwd, report=copy.report, heard=kept_packets() if apart else b"")
        spec = replace(spec, too_much=copy.is_full)
        if kind == "bubblewrap":
            made = in_bubblewrap(
                self._bwrap,
                self._filter,
                spec,
                profile,
                self._closing,
                self._inherited,
                layers,
                counted=True,
                apart=apart,
            )
            return replace(made, inherited=(*made.inherited, copy.report))
        if kind == "landlock":
            made = in_landlock(self._launcher, folder(), spec, profile)
            return replace(made, argv=(*layers, *made.argv), inherited=(*made.inherited, copy.report))
        return None

    def close(self) -> bool:
        """Let go of the filter; whether there was one, so that all has to be tried again."""
        had = self._sealed >= 0
        if had:
            os.close(self._sealed)
            self._sealed, self._filter = -1, ""
        return had

    def _filter_made(self, processor: str) -> str:
        """Where the filter of system calls for bubblewrap can be opened; "" for a processor whose calls are not known.

        It lies in no folder: a command that may write in /tmp could otherwise empty it, and the next one be without.
        """
        if not supports(processor):
            return ""
        if self._sealed < 0:
            self._sealed = _sealed_file("assent-filter", program(processor, filter_in_bubblewrap()))
        return f"/proc/{os.getpid()}/fd/{self._sealed}"

    def _try_bubblewrap(self, found: str, here: Machine) -> ConfinementReport | None:
        user = ("--unshare-user",)
        self._filter = self._filter_made(here.processor)
        for extra in ((*user, "--disable-userns"), user, ()):
            base = (found, *extra)
            if refuses_outside(partial(in_bubblewrap, base, self._filter)):
                self._bwrap = base
                self._closing = self._closing_ports(here)
                return reports.bubblewrap(filtered=bool(self._filter), ports=bool(self._closing))
        return None

    def _closing_ports(self, here: Machine) -> tuple[str, ...]:
        """The command that closes the ports of screens to bubblewrap, where Landlock can; none, too, where bubblewrap
        has the rights of its file (setuid), which it would lose by it."""
        if here.landlock_abi < reports.PORTS_ABI or not self._filter:
            return ()
        ports, self._inherited = ports_shared(closed_ports(os.environ))
        closing = (*self._launcher, "ports", ports)
        wrap = partial(in_bubblewrap, self._bwrap, self._filter, closing=closing, inherited=self._inherited)
        return closing if refuses_outside(wrap, network=True) else ()


def _sealed_file(name: str, content: bytes) -> int:
    """The descriptor of a file in memory that nobody can change any more, this process included."""
    made = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(made, content)
    fcntl.fcntl(
        made, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    )
    return made
