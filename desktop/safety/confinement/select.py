"""What confines the processes of tools on this machine, so that the boundary binds them like the file tools (C-33).

bubblewrap where it works, else Landlock with a filter of system calls (Linux), ``sandbox-exec`` (macOS), else nothing;
each says plainly what it does not hold. Writable are the allowed folders only; denied paths and Assent's own data are
not visible; the network is off unless the settings allow it. Approving a call never lifts any of it.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.files.copied_folders import LaidCopy
from desktop.domain.files.work_place import NOWHERE, WorkPlace
from desktop.domain.safety import Access, Confinement, ConfinementKind, ConfinementReport, ProcessSpec, SettingsProvider
from desktop.files.temporary import TemporaryFolder
from desktop.safety.boundary import paths
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement import reports
from desktop.safety.confinement.machine import Machine
from desktop.safety.confinement.profile import SYSTEM, SandboxProfile, own_places, profile_for
from desktop.safety.confinement.program_cache import cache_of, pointed_at, remove_others
from desktop.safety.confinement.proof import refuses_outside
from desktop.safety.confinement.walls import RELIED_ON, walls_here

__all__ = ["KINDS", "ConfinementWithin", "Kind", "Machine", "SystemConfinement", "refuses_outside"]

Kind = ConfinementKind
KINDS: tuple[Kind, ...] = ("bubblewrap", "landlock", "sandbox-exec")


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
        self._caches = caches
        self._look = machine
        self._lock = threading.Lock()
        self._walls = walls_here()
        self._report: ConfinementReport | None = None
        self._folders: dict[str, TemporaryFolder] = {}

    def probe(self) -> ConfinementReport:
        """Find the first kind that really refuses a write outside; the answer is kept."""
        with self._lock:
            if self._report is None:
                here = self._look()
                relied_on = self._walls if RELIED_ON.get(here.platform, False) else ()
                tried = (walls.tried(kind, here, self._folder_made) for kind in self._kinds for walls in relied_on)
                found = (report for report in tried if report is not None)
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
        if kind == "none":
            return spec
        found = (made for walls in self._walls if (made := walls.around(kind, spec, profile, self._place(private))))
        return _held(next(found, None))

    def _wrapped_over(self, copy: LaidCopy, kind: Kind, spec: ProcessSpec, profile: SandboxProfile) -> ProcessSpec:
        """The same with a copy over the folders that it writes, laid before anything holds it."""
        folder = self._place("rehearsals")
        found = (made for walls in self._walls if (made := walls.around_copy(copy, kind, spec, profile, folder)))
        return _held(next(found, None))

    def _place(self, use: str) -> Callable[[], str]:
        return lambda: self._folder(use)

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
            for walls in self._walls:
                if walls.close():
                    self._report = None
            for folder in self._folders.values():
                folder.close()
            self._folders.clear()

    def _folder(self, use: str) -> str:
        """A temporary folder of ours, made when first needed."""
        with self._lock:
            return self._folder_made(use)

    def _folder_made(self, use: str) -> str:
        if use not in self._folders:
            self._folders[use] = TemporaryFolder(use)
        return self._folders[use].path


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


def _held(spec: ProcessSpec | None) -> ProcessSpec:
    """What was to be held and is not does not run."""
    if spec is None:
        raise ToolFailure("Nothing confines commands here, so none runs in a copy.", code="tool.not_started")
    return spec


def _placed(policy: BoundaryPolicy, spec: ProcessSpec) -> ProcessSpec:
    """Where it starts, without links: whoever starts it looks whether it is still that folder."""
    real = paths.real(spec.cwd)
    if not os.path.isdir(real):
        raise ToolFailure(f"The workspace {spec.cwd} does not exist.", code="tool.not_started")
    if real != spec.cwd and not policy.explain(real, Access.LIST).allowed:
        raise BoundaryViolation(f"{spec.cwd} leads to {real}, outside the allowed folders; nothing was started.")
    return replace(spec, cwd=real, settled=True)
