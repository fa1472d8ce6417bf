"""Looking at the disk for the reach explorer, and really trying what the boundary says (R-FS-11, C-33).

``level`` reads one folder as the person. ``Prover`` tries a path twice: in a child confined exactly as a shell command
is, and through the handle that the file tools use. It changes nothing that is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import heapq
import json
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from desktop.domain.approval.reach import Level, NodeKind
from desktop.domain.errors import BoundaryViolation, KnownError, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import Access, Confinement, ProcessRunner, ProcessSpec, SettingsProvider
from desktop.safety.boundary import paths
from desktop.safety.boundary.opening import BoundaryFiles
from desktop.safety.boundary.paths import PathProblem
from desktop.safety.boundary.policy import BoundaryPolicy, workspace_of
from desktop.systems import open_flags

MAX_LISTED = 200_000
"""Names of one folder that are shown."""
TIMEOUT_S = 10.0
"""Seconds for the confined child: a disk that does not answer must not hold the page."""
_SORTED_AT_ONCE = 4000
"""Names sorted in one go: sorting holds Python's lock, and the window waits for that."""
_SLICE_S, _REST_S = 0.001, 0.0002
_QUIETLY = open_flags.NONBLOCK | open_flags.NOCTTY | open_flags.BINARY
_PROBE = Path(__file__).with_name("reach_probe.py")

_NO_REFUSAL = frozenset({"ENOENT", "ENOTDIR", "ETXTBSY", "ENOSPC", "EDQUOT", "EMFILE"})

Outcome = Literal["opened", "refused", "hidden", "untried"]


# -- looking ----------------------------------------------------------------------------------------------------------


class _Pauses:
    """Work in a thread beside the window's: after each slice it lets go of the interpreter."""

    def __init__(self) -> None:
        self._until = time.perf_counter() + _SLICE_S

    def turn(self) -> None:
        """Called between two pieces of work: rests if the last rest is some time ago."""
        if time.perf_counter() >= self._until:
            time.sleep(_REST_S)
            self._until = time.perf_counter() + _SLICE_S


def level(path: str, limit: int = MAX_LISTED) -> Level:
    """What is in a folder, links followed to get there. Blocks; never raises for what the disk says."""
    found: list[tuple[str, str, NodeKind]] = []
    left_out, pause = 0, _Pauses()
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                pause.turn()
                if len(found) >= limit:
                    left_out += 1
                    continue
                kind = _kind(entry)
                found.append((f"{kind != 'dir':d}{entry.name.casefold()}\0", entry.name, kind))
    except OSError as error:
        return Level(path, problem=error.strerror or str(error))
    runs = []
    for at in range(0, len(found), _SORTED_AT_ONCE):
        pause.turn()
        runs.append(sorted(found[at : at + _SORTED_AT_ONCE]))
    names: list[str] = []
    kinds: list[NodeKind] = []
    for _, name, kind in heapq.merge(*runs):
        pause.turn()
        names.append(name)
        kinds.append(kind)
    return Level(path, tuple(names), tuple(kinds), kinds.count("dir"), left_out)


def _kind(entry: os.DirEntry[str]) -> NodeKind:
    """Without a system call on most file systems, and without following anything."""
    try:
        if entry.is_symlink():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "dir"
        return "file" if entry.is_file(follow_symlinks=False) else "special"
    except OSError:
        return "special"


def kind_of(path: str) -> NodeKind | None:
    """The same for one path; None where nothing is."""
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISLNK(mode):
        return "link"
    return "dir" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "special"


def first_link(path: str, settings: SettingsProvider) -> str:
    """The first part of a path that is a link, as it is written there; "" where none is. Blocks."""
    try:
        full = paths.absolute(path, workspace_of(settings()))
    except PathProblem:
        return ""
    here = ""
    for part in paths.parts_of(full):
        here = os.path.join(here, part)
        if kind_of(here) == "link":
            return part
    return ""


# -- trying -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attempt:
    """``code`` is the name of the system's error, "Assent" for a refusal by the boundary, or why it was not tried;
    ``sentence`` says more, or is empty."""

    outcome: Outcome
    code: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Reading and writing in one way."""

    read: Attempt
    write: Attempt


class ProvenFiles(BoundaryFiles):
    """The handle of the file tools, which can also open a file for writing and leave it as it is."""

    def touch_for_writing(self, path: str) -> None:
        """Do everything that a write does before its first byte. Raises what ``write_atomic`` raises."""
        verdict = self._policy.require(path, Access.WRITE)
        descriptor = self._open(verdict, os.O_WRONLY | _QUIETLY)
        try:
            self._prove(descriptor, verdict, os.fstat(descriptor))
        finally:
            os.close(descriptor)


class Prover:
    """``files`` is the real handle, ``confinement`` and ``runner`` those of shell commands."""

    def __init__(
        self,
        policy: BoundaryPolicy,
        files: ProvenFiles,
        confinement: Confinement,
        runner: ProcessRunner,
        settings: SettingsProvider,
    ) -> None:
        self._policy = policy
        self._files = files
        self._confinement = confinement
        self._runner = runner
        self._settings = settings

    def within(self, place: WorkPlace) -> Prover:
        """The same for an agent that works there."""
        if not place.project:
            return self
        policy, settings = self._policy.within(place), self._settings
        confinement, at = self._confinement.within(place), lambda: settings().within(place)
        return Prover(policy, ProvenFiles(policy), confinement, self._runner, at)

    async def by_command(self, path: str) -> Attempts:
        """In a child that is confined as a shell command is. Never raises for what happens inside."""
        real, status = await asyncio.to_thread(_really, path)
        if isinstance(status, str):
            return Attempts(Attempt("untried", status), Attempt("untried", status))
        probe = _probe_name()
        identity = "absent" if status is None else f"{status.st_dev}:{status.st_ino}"
        wish = {"path": real, "identity": identity, "probe": probe}
        try:
            spec = await asyncio.to_thread(self._spec, json.dumps(wish))
            done = await self._runner.run(spec, CancellationToken())
            return _told(done.output, done.ended)
        except KnownError as error:
            return _both("untried", "", str(error))
        finally:  # should the child have been ended half-way; a name that nobody else has
            await asyncio.to_thread(_take_away, os.path.join(real, probe))

    def by_file_tools(self, path: str) -> Attempts:
        """Try the path as the file tools would open it. Blocks; never raises for what the disk or the boundary says."""
        real, status = _really(path)
        if isinstance(status, str):
            return _both("untried", status)
        return Attempts(
            _attempted(lambda: self._read(path, status)), _attempted(lambda: self._write(path, real, status))
        )

    def _spec(self, wish: str) -> ProcessSpec:
        """The probe's process, confined like ``bash``: the same sandbox, the same place."""
        place = self._policy.require(self._settings().workspace, Access.LIST)
        argv = (sys.executable, "-I", "-S", str(_PROBE), wish)
        plain = ProcessSpec(argv, place.resolved, {"PATH": os.defpath, "LC_ALL": "C"}, TIMEOUT_S, 10_000)
        return self._confinement.wrap(plain)

    def _read(self, path: str, status: os.stat_result | None) -> Attempt:
        if status is None:
            self._policy.require(path, Access.READ)
            return Attempt("untried", "ENOENT")
        if stat.S_ISDIR(status.st_mode):
            self._files.list_folder(path, 1)
        else:
            self._files.open_read(path).close()
        return Attempt("opened")

    def _write(self, path: str, real: str, status: os.stat_result | None) -> Attempt:
        if status is not None and stat.S_ISREG(status.st_mode):
            self._files.touch_for_writing(path)
            return Attempt("opened")
        new = path if status is None else os.path.join(path, _probe_name())
        self._policy.require(new, Access.WRITE)
        if not os.path.isdir(os.path.dirname(real) if status is None else real):
            return Attempt("untried", "ENOENT")  # no folders are made only to try
        made = self._files.write_atomic(new, b"", expected="absent")
        _take_away(made.resolved)
        return Attempt("opened")


def _probe_name() -> str:
    return f".assent-proof-{os.urandom(8).hex()}"


def _really(path: str) -> tuple[str, os.stat_result | str | None]:
    """Where it leads, and what is there; a text says why it is left alone."""
    try:
        real = paths.real(path)
        status = os.stat(real)
    except FileNotFoundError:
        return paths.real(path), None
    except OSError as error:
        return path, _code(error)
    except ValueError:  # a name that no file can have
        return path, "ENOENT"
    ordinary = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
    kind = paths.special_kind(real, status.st_mode)
    return (real, kind) if kind or not ordinary else (real, status)


def _take_away(path: str) -> None:
    """Remove an empty file that we made."""
    with contextlib.suppress(OSError):
        if os.lstat(path).st_size == 0:
            os.unlink(path)


def _told(output: str, ended: str) -> Attempts:
    """The attempts that the child reports."""
    if ended != "exited":
        return _both("untried", "", f"There was no answer within {TIMEOUT_S:g} seconds.")
    try:
        found = json.loads(output.strip().rpartition("\n")[2])
        return Attempts(Attempt(*found["read"]), Attempt(*found["write"]))
    except (ValueError, KeyError, TypeError):
        return _both("untried", "", f"It could not be tried: {output.strip()[:200] or 'the child said nothing'}.")


def _both(outcome: Outcome, code: str = "", sentence: str = "") -> Attempts:
    return Attempts(Attempt(outcome, code, sentence), Attempt(outcome, code, sentence))


def _attempted(work: Callable[[], Attempt]) -> Attempt:
    try:
        return work()
    except BoundaryViolation as error:
        return Attempt("refused", "Assent", str(error))
    except ToolFailure as error:
        cause = error.__cause__
        code = _code(cause) if isinstance(cause, OSError) else ""
        return Attempt("untried" if code in _NO_REFUSAL else "refused", code, str(error))
    except OSError as error:
        return Attempt("untried" if _code(error) in _NO_REFUSAL else "refused", _code(error))


def _code(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "error")
