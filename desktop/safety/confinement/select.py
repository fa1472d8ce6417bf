"""What confines the processes of tools on this machine, so that the boundary binds them like the file tools (C-33).

bubblewrap where it works, else Landlock with a filter of system calls (Linux), ``sandbox-exec`` (macOS), else nothing;
each says plainly what it does not hold. Writable are the allowed folders only; denied paths and Assent's own data are
not visible; the network is off unless the settings allow it. Approving a call never lifts any of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.files.copied_folders import LaidCopy
from desktop.domain.files.work_place import NOWHERE, WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, Confinement, ConfinementKind, ConfinementReport, ProcessSpec, SettingsProvider
from desktop.safety.boundary import paths
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement import reports, seatbelt
from desktop.safety.confinement.asked_hosts import kept_packets
from desktop.safety.confinement.bubblewrap import in_bubblewrap
from desktop.safety.confinement.copied_folders import layered
from desktop.safety.confinement.landlock import PORTS_ABI, closed_ports, in_landlock, ports_shared, usable_abi
from desktop.safety.confinement.process import default_launcher
from desktop.safety.confinement.profile import SYSTEM, SandboxProfile, own_places, profile_for
from desktop.safety.confinement.program_cache import cache_of, pointed_at, remove_others
from desktop.safety.confinement.syscall_filter import in_bubblewrap as filter_in_bubblewrap
from desktop.safety.confinement.syscall_filter import program, supports

_PROBE_TIMEOUT_S = 10.0
_PLATFORM: str = sys.platform

Kind = ConfinementKind
KINDS: tuple[Kind, ...] = ("bubblewrap", "landlock", "sandbox-exec")


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is to confine with, as far as it can be looked up."""

    platform: str = _PLATFORM
    bwrap: str | None = None
    sandbox_exec: str | None = None
    landlock_abi: int = 0
    processor: str = ""

    @classmethod
    def here(cls) -> Machine:
        """The facts of this machine. Blocks for some system calls."""
        linux = _PLATFORM == "linux"
        return cls(
            bwrap=shutil.which("bwrap") if linux else None,
            sandbox_exec=seatbelt.PROGRAM if _PLATFORM == "darwin" and os.path.exists(seatbelt.PROGRAM) else None,
            landlock_abi=usable_abi(ctypes.CDLL(None, use_errno=True)) if linux else 0,
            processor=os.uname().machine if hasattr(os, "uname") else "",
        )


def _look_for_program(spec: ProcessSpec, profile: SandboxProfile, kind: Kind) -> None:
    """Raises ToolFailure where what is to be run is there, and hidden inside the sandbox: it would end with 127 and no
    reason. Blocks."""
    found = shutil.which(spec.argv[0], path=spec.env.get("PATH", os.defpath)) if spec.argv else None
    if found is None:
        return
    program = os.path.join(spec.cwd, found)
    why = next((why for path in (program, paths.real(program)) if (why := profile.hides(path, kind))), "")
    if why:
        raise ToolFailure(
            f"{program} {why}: it cannot be run from there.",
            code="tool.hidden",
            next_step="Put the program elsewhere, such as below your home folder, or add the folder in which it lies "
            "to the allowed ones under Settings, Filesystem boundaries.",
        )


class SystemConfinement:
    """Implements ``domain.safety.Confinement``. ``kinds`` in order of preference, for tests and settings; in ``caches``
    programs have folders of their own ("": they have none).

    ``probe`` and ``wrap`` block; ``wrap`` probes first if nobody has.
    """

    def __init__(
        self,
        policy: BoundaryPolicy,
        settings: SettingsProvider,
        *,
        kinds: tuple[Kind, ...] = KINDS,
        caches: str = "",
        machine: Callable[[], Machine] = Machine.here,
    ) -> None:
        self._policy = policy
        self._settings = settings
        self._kinds = kinds
        self._launcher = default_launcher()
        self._caches = caches
        self._look = machine
        self._lock = threading.Lock()
        self._bwrap: tuple[str, ...] = ()
        self._report: ConfinementReport | None = None
        self._folders: dict[str, tempfile.TemporaryDirectory[str]] = {}
        self._filter = ""
        self._sealed = -1
        self._closing: tuple[str, ...] = ()
        self._inherited: tuple[int, ...] = ()

    def probe(self) -> ConfinementReport:
        """Find the first kind that really refuses a write outside; the answer is kept."""
        with self._lock:
            if self._report is None:
                here = self._look()
                found = (report for kind in self._kinds if (report := self._try(kind, here)) is not None)
                self._report = next(found, None) or reports.nothing(here.platform)
            return self._report

    def within(self, place: WorkPlace) -> Confinement:
        """The same for processes of calls that are made there."""
        return ConfinementWithin(self, place) if place.project else self

    def wrap(
        self,
        spec: ProcessSpec,
        *,
        narrow: tuple[str, ...] | None = None,
        network: bool | None = None,
        writes: bool = True,
        grants: bool = True,
        cache: str = "",
        opened: tuple[str, ...] = (),
        own: tuple[str, ...] = (),
        copy: LaidCopy | None = None,
        place: WorkPlace = NOWHERE,
    ) -> ProcessSpec:
        """The same process inside the sandbox as the settings are now. Raises ToolFailure when they cannot be built.

        ``narrow``: beside the allowed folders it sees only the system's programs and libraries and these paths (code
        skills, R-SK-14). ``network`` instead of the setting's. Not ``writes``: what it may write otherwise it can only
        read (calls that are judged as reading). Not ``grants``: what was opened for this session is not open to it.
        ``cache``: whose cache it gets; what only reads gets none. ``opened``: denied paths that this process reads.
        ``own``: what is its own, and which it writes whatever else it may. ``copy``: what lies over the folders.
        ``place``: where the call is made that it belongs to.
        """
        kind, policy = self.probe().kind, self._policy.within(place)
        profile = profile_for(policy, self._settings, grants=grants, opened=opened)
        if network is not None:
            profile = replace(profile, network=network)
        if narrow is not None:
            profile = replace(profile, seen=tuple(path for path in (*SYSTEM, *narrow) if os.path.exists(path)))
        profile = profile if writes else profile.reading()
        if own:
            kept = own_places(own, policy.lists())
            profile = replace(profile, again_writable=(*profile.again_writable, *kept))
        if cache and (writes or own) and (folder := self.cache_folder(cache)):
            profile = replace(profile, again_writable=(*profile.again_writable, folder))
            spec = replace(spec, env=pointed_at(spec.env, folder))
        spec = _placed(policy, spec)
        if narrow is None:
            _look_for_program(spec, profile, kind)
        if copy is not None:
            return self._wrapped_over(copy, kind, spec, profile)
        return self._wrapped(kind, spec, profile, "commands" if writes else "readers")

    def _wrapped(self, kind: Kind, spec: ProcessSpec, profile: SandboxProfile, private: str) -> ProcessSpec:
        if kind == "bubblewrap":
            return in_bubblewrap(self._bwrap, self._filter, spec, profile, self._closing, self._inherited)
        if kind == "landlock":
            return in_landlock(self._launcher, self._folder(private), spec, profile)
        if kind == "sandbox-exec":
            return seatbelt.in_seatbelt(spec, profile, self._folder(private))
        return spec

    def _wrapped_over(self, copy: LaidCopy, kind: Kind, spec: ProcessSpec, profile: SandboxProfile) -> ProcessSpec:
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
            made = in_landlock(self._launcher, self._folder("rehearsals"), spec, profile)
            return replace(made, argv=(*layers, *made.argv), inherited=(*made.inherited, copy.report))
        raise ToolFailure("Nothing confines commands here, so none runs in a copy.", code="tool.not_started")

    def wrap_apart(
        self, spec: ProcessSpec, *, folder: str, readable: tuple[str, ...] = (), network: bool = False
    ) -> ProcessSpec:
        """A program of the app's own need, such as git: of the disk it sees the system's programs and libraries and
        ``readable``, and it writes in ``folder`` alone, whatever folders are allowed to tools."""
        kind = self.probe().kind
        folder = paths.real(folder)
        seen = tuple(dict.fromkeys(path for path in (*SYSTEM, *readable) if os.path.exists(path)))
        profile = SandboxProfile((folder,), (), (), (), network, seen=seen)
        spec = replace(spec, cwd=folder, settled=True)
        return self._wrapped(kind, spec, profile, "apart")

    def drop_caches(self, prefix: str, kept: Iterable[str]) -> list[str]:
        """Remove the caches of programs that begin so, but those kept."""
        return remove_others(self._caches, prefix, kept) if self._caches else []

    def profile(self, *, grants: bool = True, place: WorkPlace = NOWHERE) -> SandboxProfile:
        """What a confined process may reach now, by the lists of folders that bind the file tools, too."""
        return profile_for(self._policy.within(place), self._settings, grants=grants)

    def cache_folder(self, cache: str) -> str:
        """Whose cache ``wrap`` gives a process, made when first needed; "" where it has none."""
        return cache_of(self._caches, cache) if self._caches else ""

    def close(self) -> None:
        """Remove the temporary folders and the filter; ``probe`` would make them again."""
        with self._lock:
            if self._sealed >= 0:
                os.close(self._sealed)
                self._sealed, self._filter, self._report = -1, "", None
            for folder in self._folders.values():
                with contextlib.suppress(OSError):
                    folder.cleanup()
            self._folders.clear()

    def _folder(self, use: str) -> str:
        """A temporary folder of ours, made when first needed."""
        with self._lock:
            return self._folder_made(use)

    def _folder_made(self, use: str) -> str:
        if use not in self._folders:
            self._folders[use] = tempfile.TemporaryDirectory(prefix=f"assent-{use}-")
        return os.path.realpath(self._folders[use].name)

    def _filter_made(self, processor: str) -> str:
        """Where the filter of system calls for bubblewrap can be opened; "" for a processor whose calls are not known.

        It lies in no folder: a command that may write in /tmp could otherwise empty it, and the next one be without.
        """
        if not supports(processor):
            return ""
        if self._sealed < 0:
            self._sealed = _sealed_file("assent-filter", program(processor, filter_in_bubblewrap()))
        return f"/proc/{os.getpid()}/fd/{self._sealed}"

    # -- what works here, under the lock ------------------------------------------------------------------------------

    def _try(self, kind: Kind, here: Machine) -> ConfinementReport | None:
        if kind == "bubblewrap" and here.bwrap:
            return self._try_bubblewrap(here.bwrap, here)
        if kind == "landlock" and here.landlock_abi and supports(here.processor):
            private = self._folder_made("commands")
            if refuses_outside(partial(in_landlock, self._launcher, private), hidden_inside=False):
                return reports.landlock(here.landlock_abi)
        if kind == "sandbox-exec" and here.sandbox_exec:
            private = self._folder_made("commands")
            if refuses_outside(lambda spec, profile: seatbelt.in_seatbelt(spec, profile, private)):
                return reports.seatbelt()
        return None

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
        if here.landlock_abi < PORTS_ABI or not self._filter:
            return ()
        ports, self._inherited = ports_shared(closed_ports(os.environ))
        closing = (*self._launcher, "ports", ports)
        wrap = partial(in_bubblewrap, self._bwrap, self._filter, closing=closing, inherited=self._inherited)
        return closing if refuses_outside(wrap, network=True) else ()


class ConfinementWithin:
    """Implements ``domain.safety.Confinement`` for the processes of one place: what holds them is the same."""

    def __init__(self, confinement: SystemConfinement, place: WorkPlace) -> None:
        self._confinement = confinement
        self._place = place
        self.wrap = partial(confinement.wrap, place=place)
        self.probe = confinement.probe
        self.wrap_apart = confinement.wrap_apart
        self.drop_caches = confinement.drop_caches

    def within(self, place: WorkPlace) -> Confinement:
        """The same for processes of calls that are made there."""
        return self._confinement.within(place)


def _placed(policy: BoundaryPolicy, spec: ProcessSpec) -> ProcessSpec:
    """Where it starts, without links: whoever starts it looks whether it is still that folder."""
    real = paths.real(spec.cwd)
    if not os.path.isdir(real):
        raise ToolFailure(f"The workspace {spec.cwd} does not exist.", code="tool.not_started")
    if real != spec.cwd and not policy.explain(real, Access.LIST).allowed:
        raise BoundaryViolation(f"{spec.cwd} leads to {real}, outside the allowed folders; nothing was started.")
    return replace(spec, cwd=real, settled=True)


def _sealed_file(name: str, content: bytes) -> int:
    """The descriptor of a file in memory that nobody can change any more, this process included (Linux)."""
    made = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(made, content)
    fcntl.fcntl(
        made, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    )
    return made


def refuses_outside(
    wrap: Callable[[ProcessSpec, SandboxProfile], ProcessSpec], *, hidden_inside: bool = True, network: bool = False
) -> bool:
    """Prove that a kind of confinement works: a command inside may write in its folder, and can neither write beside it
    nor read what is hidden."""
    with tempfile.TemporaryDirectory(prefix="assent-probe-") as name:
        top = Path(os.path.realpath(name))
        inside, outside, hidden = (
            top / "inside",
            top / "outside",
            top / ("inside/hidden" if hidden_inside else "hidden"),
        )
        for folder in (inside, outside, hidden):
            folder.mkdir()
        (hidden / "file").write_text("secret")
        script = 'echo x > in.txt; echo x > "$1/out.txt"; cat "$2/file"; exit 0'
        spec = ProcessSpec(
            ("/bin/sh", "-c", script, "sh", str(outside), str(hidden)), str(inside), {"PATH": os.defpath}
        )
        try:
            wrapped = wrap(spec, SandboxProfile((str(inside),), (), (), (str(hidden),), network))
            done = subprocess.run(
                wrapped.argv,
                cwd=wrapped.cwd,
                env=dict(wrapped.env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PROBE_TIMEOUT_S,
                pass_fds=wrapped.inherited,
            )
        except (OSError, subprocess.SubprocessError):
            return False
        held = not (outside / "out.txt").exists() and b"secret" not in done.stdout
        return done.returncode == 0 and held and (inside / "in.txt").exists()
