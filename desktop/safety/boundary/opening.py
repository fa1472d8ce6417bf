"""Opening files at the handle, so that what was checked is what is used (R-FS-9, R-BLT-4).

A path is judged, opened without following a single link (Linux: ``openat2`` from the root of the allowed folder,
elsewhere one component at a time with ``O_NOFOLLOW``), and judged again by what the kernel says was opened. A link, a
folder or a file that is swapped in between leads to a refusal, never to the other file.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.domain.safety import Access, ListedEntry, PathVerdict, WriteOutcome
from desktop.safety.boundary import paths
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.systems import current, disk, open_flags, places

_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 0x02, 0x04, 0x08
_RETRIES = 8
_NOFOLLOW = open_flags.NOFOLLOW
_CLOEXEC = open_flags.CLOEXEC
_NONBLOCK = open_flags.NONBLOCK | open_flags.NOCTTY | open_flags.BINARY
_FOLDER = os.O_RDONLY | open_flags.DIRECTORY | _CLOEXEC
_PATH_ONLY = open_flags.PATH | open_flags.DIRECTORY | _CLOEXEC
_HALF = lazy_pattern(r"\.assent-[0-9a-f]{16}\.tmp")
HAS_DIR_FD = os.open in os.supports_dir_fd


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


class PathWalker:
    """Opens absolute, resolved paths without following links. ``use_openat2`` None: where the kernel has it."""

    def __init__(self, use_openat2: bool | None = None) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True) if current.LINUX else None
        self.has_openat2 = self._probe() if use_openat2 is None else use_openat2 and self._probe()

    def _probe(self) -> bool:
        if self._libc is None:
            return False
        try:
            os.close(self._openat2(None, os.sep, _PATH_ONLY, 0, 0))
        except OSError:
            return False
        return True

    def _openat2(self, folder: int | None, name: str, flags: int, mode: int, resolve: int) -> int:
        """The system call, checked. Raises OSError."""
        assert self._libc is not None
        how = _OpenHow(flags | _CLOEXEC, mode, resolve)
        at = -100 if folder is None else folder  # AT_FDCWD; only used with an absolute path
        for _ in range(_RETRIES):
            found: int = self._libc.syscall(
                ctypes.c_long(_SYS_OPENAT2),
                ctypes.c_int(at),
                ctypes.c_char_p(os.fsencode(name)),
                ctypes.byref(how),
                ctypes.c_size_t(ctypes.sizeof(how)),
            )
            if found >= 0:
                return found
            code = ctypes.get_errno()
            if code not in (errno.EAGAIN, errno.EINTR):  # EAGAIN: a rename went on meanwhile
                break
        raise OSError(code, os.strerror(code), name)

    def open(self, root: str, path: str, flags: int) -> int:
        """A descriptor for ``path``, which is ``root`` or below it. Raises OSError; ELOOP where a link turned up."""
        if self.has_openat2:
            strict = _RESOLVE_NO_MAGICLINKS | _RESOLVE_NO_SYMLINKS
            base = self._openat2(None, root, _PATH_ONLY, 0, strict)
            try:
                below = os.path.relpath(path, root)
                return self._openat2(base, below, flags | _NOFOLLOW, 0, strict | _RESOLVE_BENEATH)
            finally:
                os.close(base)
        if HAS_DIR_FD:
            return self._step_by_step(path, flags)
        return _open_and_compare(path, flags)

    def _step_by_step(self, path: str, flags: int) -> int:
        first, *names = paths.parts_of(path)
        here = os.open(first, _FOLDER)
        try:
            for name in names[:-1]:
                below = os.open(name, _FOLDER | _NOFOLLOW, dir_fd=here)
                os.close(here)
                here = below
            if not names:
                return os.dup(here)
            return os.open(names[-1], flags | _NOFOLLOW | _CLOEXEC, dir_fd=here)
        except NotADirectoryError as error:  # what O_DIRECTORY says of a link
            raise OSError(errno.ELOOP, "a folder on the way is none, or a link", path) from error
        finally:
            os.close(here)


def _open_and_compare(path: str, flags: int) -> int:
    """Windows: open, then compare with what the name means without following links."""
    descriptor = os.open(path, flags)
    named, opened = os.lstat(path), os.fstat(descriptor)
    if not os.path.samestat(named, opened) or os.path.realpath(path) != os.path.abspath(path):
        os.close(descriptor)
        raise OSError(errno.ELOOP, "changed while it was opened", path)
    return descriptor


class BoundaryFiles:
    """Implements ``domain.safety.GuardedFiles``. Every method blocks: call it in a thread."""

    def __init__(self, policy: BoundaryPolicy, walker: PathWalker | None = None) -> None:
        self._policy = policy
        self._walker = walker or PathWalker()

    def within(self, place: WorkPlace) -> BoundaryFiles:
        """The files of calls that are made there."""
        return BoundaryFiles(self._policy.within(place), self._walker) if place.project else self

    def explain(self, path: str, access: Access) -> PathVerdict:
        """Judge a path, as the policy does."""
        return self._policy.explain(path, access)

    def open_read(self, path: str) -> BinaryIO:
        """A regular file open for reading, proven to be the checked one."""
        verdict = self._policy.require(path, Access.READ)
        descriptor = self._open(verdict, os.O_RDONLY | _NONBLOCK)
        try:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise ToolFailure(f"{verdict.resolved} is a folder; list it instead.", code="file.is_folder")
            self._prove(descriptor, verdict, status)
            return io.BufferedReader(io.FileIO(descriptor, "r"), 1 << 16)
        except BaseException:
            os.close(descriptor)
            raise

    def list_folder(self, path: str, limit: int) -> tuple[list[ListedEntry], int]:
        """Entries by name, capped (R-BLT-6)."""
        verdict = self._policy.require(path, Access.LIST)
        if not HAS_DIR_FD:
            return _list_without_dir_fd(self._policy, verdict, limit)
        descriptor = self._open(verdict, _FOLDER)
        try:
            self._prove(descriptor, verdict, os.fstat(descriptor))
            where: int | str = descriptor if os.scandir in os.supports_fd else verdict.resolved
            with os.scandir(where) as found:
                entries = sorted(found, key=lambda entry: entry.name)
                return [listed_entry(entry) for entry in entries[:limit]], len(entries)
        finally:
            os.close(descriptor)

    def write_atomic(self, path: str, data: bytes, *, expected: str | None = None) -> WriteOutcome:
        """Replace ``path`` by a finished temporary file of the same folder; makes missing folders inside the boundary.

        ``expected`` is the identity that was approved: another file there now voids it (R-PRM-5).
        """
        verdict = self._policy.require(path, Access.WRITE)
        if expected is not None and expected != verdict.identity:
            raise BoundaryViolation(
                f"{verdict.resolved} has changed since this call was approved; nothing was written."
            )
        if os.path.isdir(verdict.resolved):
            raise ToolFailure(f"{verdict.resolved} is a folder.", code="file.is_folder")
        folder, name = os.path.split(verdict.resolved)
        made = self._make_folders(folder)
        if not HAS_DIR_FD:
            return _write_without_dir_fd(self._policy, verdict, data, made)
        with self._links_refused(folder):
            descriptor = self._walker.open(os.sep, folder, _FOLDER)
        try:
            self._prove_folder(descriptor, folder, verdict)
            created = self._replace(descriptor, name, data, verdict, expected)
        finally:
            os.close(descriptor)
        return WriteOutcome(verdict.resolved, created, len(data), tuple(made))

    def _replace(self, folder: int, name: str, data: bytes, verdict: PathVerdict, expected: str | None) -> bool:
        """Write beside ``name`` and rename over it, all relative to the proven folder; True when it is new."""
        try:
            old = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            old = None
        now = "absent" if old is None else paths.describe_identity(old)
        if now != verdict.identity or (old is not None and not stat.S_ISREG(old.st_mode)):
            raise BoundaryViolation(f"{verdict.resolved} changed while it was being written; it was left as it is.")
        temporary = _half_name()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC
        with _disk(verdict.resolved):
            descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)
            try:
                _fill(descriptor, data, old)
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            finally:
                os.close(descriptor)
            with contextlib.suppress(OSError):  # some file systems cannot sync a folder; the rename is done
                os.fsync(folder)
        return old is None

    def _make_folders(self, folder: str) -> list[str]:
        """Make the missing folders down to ``folder``, each inside the nearest one proven to be within the boundary."""
        missing: list[str] = []
        here = folder
        while not os.path.lexists(here):
            missing.append(here)
            here = os.path.dirname(here)
        made: list[str] = []
        for path in reversed(missing):
            verdict = self._policy.require(path, Access.WRITE)
            if verdict.resolved != path:
                raise BoundaryViolation(f"{path} changed while it was being made.")
            self._make_one(path)
            made.append(path)
        return made

    def _make_one(self, path: str) -> None:
        above, name = os.path.split(path)
        if not HAS_DIR_FD:
            with _disk(path):
                os.mkdir(path)
            return
        with self._links_refused(path):
            descriptor = self._walker.open(os.sep, above, _FOLDER)
        try:
            real = places.kernel_path(descriptor)
            if real is not None and real != above:
                raise BoundaryViolation(f"{above} changed while a folder was being made in it.")
            with _disk(path), contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=descriptor)
        finally:
            os.close(descriptor)

    def _open(self, verdict: PathVerdict, flags: int) -> int:
        root = self._root_of(verdict)
        with self._links_refused(verdict.resolved):
            return self._walker.open(root, verdict.resolved, flags)

    def _root_of(self, verdict: PathVerdict) -> str:
        """The allowed folder that holds the path, as a place to start from."""
        roots = [root for root in self._policy.roots() if paths.is_within(verdict.resolved, root)]
        found = max(roots, key=len, default=os.sep)
        return found if os.path.isdir(found) else os.path.dirname(found)

    def _prove(self, descriptor: int, verdict: PathVerdict, status: os.stat_result) -> None:
        """What is open is what was checked: same object, a file or folder, and allowed where it really is."""
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise BoundaryViolation(f"{verdict.resolved} is no regular file.")
        if verdict.identity == "absent" or verdict.identity.split(":")[:2] != [str(status.st_dev), str(status.st_ino)]:
            raise BoundaryViolation(f"{verdict.resolved} changed while it was being opened.")
        real = places.kernel_path(descriptor)
        if real is not None and real != verdict.resolved:
            again = self._policy.judge(verdict.given, real, verdict.access)
            if not again.allowed or again.identity.split(":")[:2] != verdict.identity.split(":")[:2]:
                raise BoundaryViolation(f"{verdict.resolved} changed while it was being opened.")

    def _prove_folder(self, descriptor: int, folder: str, verdict: PathVerdict) -> None:
        """The open folder is the one in which the checked file lies."""
        real = places.kernel_path(descriptor)
        if real == folder:
            return
        try:
            same = os.path.samestat(os.fstat(descriptor), os.lstat(folder))
        except OSError:
            same = False
        moved = real is not None and not self._allowed_at(os.path.join(real, os.path.basename(verdict.resolved)))
        if not same or moved:
            raise BoundaryViolation(f"{folder} changed while it was being opened.")

    def _allowed_at(self, path: str) -> bool:
        return self._policy.judge(path, path, Access.WRITE).allowed

    @staticmethod
    @contextlib.contextmanager
    def _links_refused(path: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EXDEV):
                raise BoundaryViolation(f"{path} changed into a link while it was being opened.") from error
            if error.errno in (errno.ENXIO, errno.ENODEV):
                raise BoundaryViolation(f"{path} is no regular file.") from error
            raise failure_of(path, error) from error


def _half_name() -> str:
    return f".assent-{os.urandom(8).hex()}.tmp"


def remove_halves(folder: str) -> None:
    """Take away what a process that ended was writing in a folder, and had not given its name yet. Blocks."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if _HALF.fullmatch(name) and stat.S_ISREG(os.lstat(path).st_mode):
                os.unlink(path)


def _fill(descriptor: int, data: bytes, old: os.stat_result | None) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    if old is not None:
        disk.set_mode(descriptor, stat.S_IMODE(old.st_mode) & 0o777)
    os.fsync(descriptor)


def _write_without_dir_fd(policy: BoundaryPolicy, verdict: PathVerdict, data: bytes, made: list[str]) -> WriteOutcome:
    """Windows has no handles to folders in Python: check again as late as possible."""
    temporary = os.path.join(os.path.dirname(verdict.resolved), _half_name())
    with _disk(verdict.resolved):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NONBLOCK, 0o666)
        try:
            try:
                _fill(descriptor, data, None)
            finally:
                os.close(descriptor)
            again = policy.require(verdict.resolved, Access.WRITE)
            if again.resolved != verdict.resolved or again.identity != verdict.identity:
                raise BoundaryViolation(f"{verdict.resolved} changed while it was being written.")
            os.replace(temporary, verdict.resolved)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    return WriteOutcome(verdict.resolved, verdict.identity == "absent", len(data), tuple(made))


def _list_without_dir_fd(policy: BoundaryPolicy, verdict: PathVerdict, limit: int) -> tuple[list[ListedEntry], int]:
    """Windows has no handles to folders in Python: what was listed is shown only if it is still the checked folder."""
    with _disk(verdict.resolved), os.scandir(verdict.resolved) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    again = policy.require(verdict.resolved, Access.LIST)
    if again.resolved != verdict.resolved or again.identity.split(":")[:2] != verdict.identity.split(":")[:2]:
        raise BoundaryViolation(f"{verdict.resolved} changed while it was being opened.")
    return [listed_entry(entry) for entry in entries[:limit]], len(entries)


def listed_entry(entry: os.DirEntry[str]) -> ListedEntry:
    """What a listing says of an entry; a file that is gone meanwhile has no size."""
    if entry.is_symlink():
        return ListedEntry(entry.name, "link")
    if entry.is_dir(follow_symlinks=False):
        return ListedEntry(entry.name, "dir")
    if entry.is_file(follow_symlinks=False):
        with contextlib.suppress(OSError):
            return ListedEntry(entry.name, "file", entry.stat(follow_symlinks=False).st_size)
        return ListedEntry(entry.name, "file")
    return ListedEntry(entry.name, "special")


@contextlib.contextmanager
def _disk(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise failure_of(path, error) from error


def failure_of(path: str, error: OSError) -> ToolFailure:
    sentences = {
        errno.ENOENT: f"There is no file or folder {path}.",
        errno.EACCES: f"The system does not permit access to {path}.",
        errno.EPERM: f"The system does not permit access to {path}.",
        errno.EROFS: f"{path} is on a file system that cannot be written.",
        errno.ENOSPC: f"The disk is full; {path} was left as it was.",
        errno.EDQUOT: f"The disk quota is used up; {path} was left as it was.",
        errno.ENOTDIR: f"A part of {path} that should be a folder is a file.",
        errno.ENAMETOOLONG: f"A part of {path} is longer than the file system permits.",
    }
    codes = {errno.ENOENT: "file.not_found", errno.ENOSPC: "file.disk_full", errno.EDQUOT: "file.disk_full"}
    code = error.errno or 0
    return ToolFailure(sentences.get(code, f"{path}: {error.strerror or error}."), code=codes.get(code, "file.failed"))
