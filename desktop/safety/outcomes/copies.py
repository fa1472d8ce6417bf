"""Copies of the folders that a command may write: made, watched, read, removed.

They lie in the app's home, a folder each. An overlay costs nothing to make, whatever the folder holds; where the file
system cannot lay one, small folders are copied as a whole; else there is none, and the request says why.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

from desktop.domain.errors import ToolFailure
from desktop.domain.files.changes import FileChange
from desktop.domain.files.copied_folders import CopyKind, CopyLayer
from desktop.domain.files.outcomes import ChangeSides, CommandTraces, NoCopy, OutcomeReading
from desktop.domain.files.work_place import NOWHERE, WorkPlace
from desktop.files.temporary import TemporaryFolder
from desktop.safety.boundary.autorun_places import is_data_of_git
from desktop.safety.boundary.mounts import Mounts
from desktop.safety.boundary.paths import is_within
from desktop.safety.boundary.policy import BoundaryPolicy, elevated_write
from desktop.safety.confinement.linux.copied_folders import layered
from desktop.safety.confinement.linux.landlock import usable_abi
from desktop.safety.confinement.profile import SandboxProfile
from desktop.safety.confinement.reports import SIGNALS_ABI
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.outcomes.copying import Manifest, copied
from desktop.safety.outcomes.layers import folders_to_copy
from desktop.safety.outcomes.reading import MAX_CHANGES, MAX_SHOWN, CopyFindings, read_copy, read_overlay, seen_again
from desktop.safety.outcomes.states import digest_of
from desktop.safety.outcomes.telling import CopyReport
from desktop.safety.outcomes.texts import figures_of, sides_of

if sys.platform != "linux":
    raise ImportError("for Linux alone")

MAX_WRITTEN = 4_000_000_000
"""Bytes that a command may write into its copy."""
RESERVED = 200_000_000
"""Bytes that stay free on the disk."""
_LOOK_FROM = 64_000_000
_COUNT_EVERY_S = 10.0
"""Seconds after which the files of a copy are counted whatever the disk says: others free space, too."""
_COUNT_SHARE = 20
"""How many times longer than a count takes the next one is waited for."""
_BLOCK = 512
_FEW = 200
_log = logging.getLogger(__name__)


class Copies:
    """Implements ``domain.outcomes.CommandCopies``. In ``root`` nobody else keeps anything; ``confinement`` says what a
    command may write. ``kinds`` in order of preference; a command writes ``most`` bytes into a copy."""

    def __init__(
        self,
        root: str,
        confinement: SystemConfinement,
        policy: BoundaryPolicy,
        *,
        kinds: tuple[CopyKind, ...] = ("overlay", "copy"),
        most: int = MAX_WRITTEN,
    ) -> None:
        self._root = root
        self._confinement = confinement
        self._policy = policy
        self._kinds = kinds
        self._most = most
        self._lock = threading.Lock()
        self._works: dict[CopyKind, str] = {}

    def refusal(self, place: WorkPlace = NOWHERE, *, grants: bool = True) -> str:
        """Why no copy can be made for a command there now, or ""."""
        try:
            self._plan(place, grants)
        except NoCopy as why:
            return str(why)
        return ""

    def make(self, place: WorkPlace = NOWHERE, *, grants: bool = True, cache: str = "") -> FolderCopy:
        """A new one. ``cache``: whose cache is copied, too; nothing of it is kept. Raises NoCopy."""
        kind, folders, profile = self._plan(place, grants)
        cached = self._confinement.cache_folder(cache) if cache else ""
        try:
            os.makedirs(self._root, mode=0o700, exist_ok=True)
            folder = tempfile.mkdtemp(dir=self._root)
        except OSError as error:
            raise NoCopy(f"There is no place for a copy: {error.strerror or error}.") from error
        made = FolderCopy(folder, kind, profile.hidden, self._policy.within(place), self._most)
        try:
            made.fill(folders, [cached] if cached else [])
        except OSError as error:
            made.drop()
            raise NoCopy(f"The copy could not be made: {error.strerror or error}.") from error
        except NoCopy:
            made.drop()
            raise
        return made

    def clear(self) -> None:
        """Remove what an earlier process left; the home is this process's alone."""
        try:
            left = [entry.path for entry in os.scandir(self._root) if entry.is_dir(follow_symlinks=False)]
        except OSError:
            return
        for path in left:
            remove(path)

    def _plan(self, place: WorkPlace, grants: bool) -> tuple[CopyKind, list[str], SandboxProfile]:
        """How, and of which folders. Raises NoCopy."""
        kind = self._confinement.probe().kind
        if kind not in ("bubblewrap", "landlock"):
            raise NoCopy("Nothing here confines commands.")
        if kind == "landlock" and usable_abi(ctypes.CDLL(None, use_errno=True)) < SIGNALS_ABI:
            raise NoCopy("Commands could end other programs of yours on this kernel.")
        profile = self._confinement.profile(grants=grants, place=place)
        folders = folders_to_copy(profile, os.path.realpath(self._root), Mounts())
        why = ""
        for made in self._kinds:
            why = self._probed(made)
            if not why:
                return made, folders, profile
        raise NoCopy(why or "Nothing here can make one.")

    def _probed(self, kind: CopyKind) -> str:
        """Try it for real, once: why it does not work here, or ""."""
        with self._lock:
            if kind not in self._works:
                self._works[kind] = self._try(kind)
            return self._works[kind]

    def _try(self, kind: CopyKind) -> str:
        """A command that changes, deletes and replaces must leave the real folder alone and be read rightly."""
        with TemporaryFolder("probe") as probe:
            real = os.path.join(probe.path, "real")
            os.makedirs(os.path.join(real, "old", "inner"))
            for path in ("a", "b", os.path.join("old", "c")):
                with open(os.path.join(real, path), "w") as file:
                    file.write(path)
            try:
                os.makedirs(self._root, mode=0o700, exist_ok=True)
                made = FolderCopy(tempfile.mkdtemp(dir=self._root), kind, (), self._policy, self._most)
            except OSError as error:
                return f"There is no place for a copy: {error.strerror or error}."
            try:
                made.fill([real], ())
                script = "echo x > a; rm b; rm -r old; mkdir old; echo y > old/d"
                argv = (*layered(made, real), "/bin/sh", "-c", script)
                done = subprocess.run(argv, cwd=real, stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
                if done.returncode != 0 or not made.began():
                    return done.stderr.decode("utf-8", "replace").strip()[:200] or "The copy could not be made."
                changed = [os.path.relpath(change.path, real) for change in made.read().changes]
            except (OSError, subprocess.SubprocessError, ToolFailure, NoCopy) as error:
                return f"The copy could not be made: {error}."
            finally:
                made.drop()
            whole = sorted(os.listdir(real)) == ["a", "b", "old"] and os.path.isdir(os.path.join(real, "old", "inner"))
            right = changed == ["a", "b", "old/c", "old/d", "old/inner"]
            return "" if whole and right else "A copy does not hold here what is written in it."


class FolderCopy:
    """Implements ``domain.outcomes.CommandCopy``, in a folder of its own."""

    def __init__(self, folder: str, kind: CopyKind, closed: tuple[str, ...], policy: BoundaryPolicy, most: int) -> None:
        self.folder = folder
        self.kind: CopyKind = kind
        self.made_at = time.time()
        self.layers: tuple[CopyLayer, ...] = ()
        self.mark = os.path.join(folder, "begun")
        self.largest = most
        self._closed = closed
        self._policy = policy
        self._floor_ns = time.time_ns()
        self._manifests: dict[str, Manifest] = {}
        self._folders: dict[str, tuple[int, int]] = {}
        self._free = _free(folder)
        self._count_at = time.monotonic() + _COUNT_EVERY_S
        self._found: CopyFindings | None = None
        self._kept: dict[str, str] = {}
        self._latest: OutcomeReading | None = None
        self._report = CopyReport()
        self._traces: CommandTraces | None = None

    def fill(self, folders: Sequence[str], caches: Sequence[str]) -> None:
        """Make its layers. Raises OSError, or NoCopy where it is too much to copy."""
        layers = []
        for number, real in enumerate((*folders, *caches)):
            made, work = (os.path.join(self.folder, f"{name}{number}") for name in ("made", "work"))
            os.mkdir(made, 0o700)
            self._folders[real] = _which(real)
            if self.kind == "overlay":
                os.mkdir(work, 0o700)
            elif number < len(folders):
                self._manifests[real] = copied(real, made, self._closed)
            os.chmod(made, stat.S_IMODE(os.stat(real).st_mode))
            layers.append(CopyLayer(real, made, work if self.kind == "overlay" else "", number < len(folders)))
        self.layers = tuple(layers)

    def began(self) -> bool:
        """Whether the command started in it."""
        return os.path.exists(self.mark)

    @property
    def report(self) -> int:
        """Where it is told how the command ended."""
        return self._report.descriptor

    def traces(self) -> CommandTraces:
        """What the command left running, and which hosts it asked for."""
        if self._traces is None:
            self._traces = self._report.read()
        return self._traces

    def is_full(self) -> bool:
        """Whether it holds more than it may, or the disk is nearly full of it."""
        self._free = max(self._free, free := _free(self.folder))
        taken, few = self._free - free, min(_LOOK_FROM, self.largest)
        fell = taken >= few and (taken >= self.largest or free <= RESERVED)
        if not fell and time.monotonic() < self._count_at:
            return False
        began = time.monotonic()
        held = sum(_held(layer.made) for layer in self.layers)
        self._count_at = began + max(_COUNT_EVERY_S, _COUNT_SHARE * (time.monotonic() - began))
        return held > self.largest or (free <= RESERVED and held > few)

    def read(self, *, shown: bool = True) -> OutcomeReading:
        """What the command did. Raises ToolFailure."""
        limit, room = MAX_SHOWN if shown else MAX_CHANGES, self.largest * 5 // 4
        found = CopyFindings(self._floor_ns, self._closed, limit, room)
        for layer in self.layers:
            if layer.counts and layer.work:
                read_overlay(found, layer.real, layer.made)
            elif layer.counts:
                read_copy(found, layer.real, layer.made, self._manifests[layer.real])
        self._found = found
        reading = found.reading()
        figures, uncounted = figures_of(reading.changes, self._source, self._kept) if shown else ({}, True)
        self._latest = replace(
            reading, raised=self._raised(reading, beforehand=not shown), figures=figures, uncounted=uncounted
        )
        return self._latest

    def _raised(self, reading: OutcomeReading, *, beforehand: bool = False) -> str:
        """Why taking it over would be admin: one of its files runs by itself later, or lies where only a folder opened
        for this session lets it. Who allowed a command ``beforehand`` allowed what git writes for every commit."""
        lists = self._policy.lists()
        allowed = [rule.resolved for rule in lists.allowed]
        for change in reading.changes:
            expected = beforehand and is_data_of_git(change.path)
            if not expected and (why := elevated_write(change.path, lists.workspace, lists.own_workspace)):
                return why
            if not any(is_within(change.path, folder) for folder in allowed):
                return f"only a folder opened for this session allows {change.path}"
        return ""

    def look_again(self, reading: OutcomeReading) -> OutcomeReading:
        """The reading, with what the real files are now."""
        for layer in self.layers:
            if _which(layer.real) != self._folders.get(layer.real):
                raise ToolFailure(f"{layer.real} is another folder now; nothing was taken over.", code="file.failed")
        reading = reading if self._latest is None else self._latest  # an older one says less than is known by now
        again = reading if self._found is None else seen_again(reading, self._found.seen)
        if again is reading:
            return reading
        before = {change.path: change.before for change in reading.changes}
        anew = [change for change in again.changes if before.get(change.path) != change.before]
        figures, _ = figures_of(anew, self._source, {})
        kept = {change.path for change in again.changes} - {change.path for change in anew}
        figures |= {path: found for path, found in reading.figures.items() if path in kept}
        self._latest = replace(again, raised=self._raised(again), figures=figures)
        return self._latest

    def sides(self, change: FileChange) -> ChangeSides:
        """The texts of a changed file, read anew."""
        sides, was = sides_of(change, self._source), self._kept.get(change.path)
        return replace(sides, was=was) if was is not None and was != sides.before else sides

    def _source(self, digest: str) -> str:
        """Where a content lies in the copy; "" for one that does not."""
        return self._found.sources.get(digest, "") if self._found is not None else ""

    def open(self, digest: str) -> BinaryIO:
        """A file as the command left it; it has ended, so nobody writes in it any more. Raises ToolFailure."""
        source = self._source(digest)
        try:
            if not source or digest_of(source)[1] != digest:
                raise OSError("it is not as it was read")
            return open(os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb")
        except OSError as error:
            what = f"A file of the copy cannot be read: {error.strerror or error}."
            raise ToolFailure(what, code="file.failed") from error

    def drop(self) -> None:
        """Remove it."""
        self._report.close()
        for layer in self.layers:
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(layer.work, "work"))  # by this user it can be removed, but not be looked into
        remove(self.folder)


def remove(path: str) -> None:
    """Remove a folder that a command may have made hard to remove: folders without rights, or too deep for Python. The
    kernel gives the scratch folder of an overlay no rights at all. The usual one needs no program for it."""
    with contextlib.suppress(OSError):
        if _is_small(path):
            shutil.rmtree(path)
    for argv in (["rm", "-rf", path], ["chmod", "-R", "u+rwx", path], ["rm", "-rf", path]):
        if os.path.lexists(path):
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    if os.path.lexists(path):
        _log.info("a copy that nobody needs could not be removed: %s", path)


def _is_small(folder: str) -> bool:
    """Whether there are few entries in it: to start a program would take longer than to remove them here, where many
    would be in the way of whatever else this process does."""
    left, waiting = _FEW, [folder]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            for entry in found:
                left -= 1
                if left < 0:
                    return False
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return True


def _which(folder: str) -> tuple[int, int]:
    """Which folder it is, whatever it is called; zeros where there is none."""
    try:
        status = os.stat(folder, follow_symlinks=False)
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _free(folder: str) -> int:
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0
    return found.f_bavail * found.f_frsize


def _held(folder: str) -> int:
    """Bytes that a folder takes on the disk, as far as it can be read."""
    total, waiting = 0, [folder]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as found:
            for entry in found:
                with contextlib.suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return total
