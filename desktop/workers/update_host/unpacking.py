"""A package laid down: only the folder of its version, only files, folders and links that stay in it.

The package is signed, and still nothing of it is trusted to lie where it should: whoever signs can be mistaken, too.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import stat
import tarfile
from collections.abc import Callable, Iterator

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.hidden_characters import has_hidden
from desktop.systems import current, disk, open_flags
from desktop.workers.inside import CallError
from desktop.workers.update_host import limits

TOP, VERSIONS = "assent", "versions"
"""A package holds ``assent/versions/NUMBER/…``, and for who unpacks it by hand what starts it and what is current."""
BESIDE = ("assent/assent", "assent/versions/current", "assent/versions", "assent")
"""What of it is passed over."""
START = "bin/assent"
"""What starts a version."""
RIGHTS = "resources/rights.json"
_FILE, _PROGRAM, _FOLDER = 0o644, 0o755, 0o755
Progress = Callable[[int], None]
"""Told how many bytes are laid down."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a package has to come to."""

    version: str
    """Its number."""
    unpacked: int
    """Bytes of its files, at most."""
    rights: bytes
    """The list of what it may do, which it holds, too."""


class _PackagePlaces:
    """Where the members of a package go: below ``root``, each once."""

    def __init__(self, root: str, expected: Expected) -> None:
        self.root, self.expected = root, expected
        self._begin = f"{TOP}/{VERSIONS}/{expected.version}"
        self._seen: set[str] = set()

    def of(self, member: tarfile.TarInfo) -> str | None:
        """The path below ``root``; "" is the root itself; None: it is passed over. Raises CallError."""
        name = member.name.rstrip("/")
        if name in BESIDE:
            return None
        inner = "" if name == self._begin else name.removeprefix(f"{self._begin}/")
        if inner == name or not _is_plain(inner):
            raise _refused(f"holds {shown(name)}, which is not of version {self.expected.version}")
        if inner in self._seen or len(self._seen) >= limits.MEMBERS:
            raise _refused(f"holds {shown(name)} twice, or too many files")
        self._seen.add(inner)
        return inner


def _is_plain(inner: str) -> bool:
    """Whether it is a path that leads down and nowhere else."""
    if not inner:
        return True
    parts = inner.split("/")
    sizes = len(os.fsencode(inner)) <= limits.PATH and all(len(os.fsencode(part)) <= limits.NAME for part in parts)
    strange = any(ord(letter) < 32 or letter in '\\:*?"<>|\x7f' for letter in inner) or has_hidden(inner)
    return sizes and not strange and not {"", ".", ".."} & set(parts)


def shown(text: str) -> str:
    """A name of a stranger, to be read by a person."""
    return ascii(text[:80])


def _refused(why: str) -> CallError:
    return CallError("updates.package", f"The package {why}. Nothing of it is used.")


def room_for(folder: str, needed: int) -> None:
    """Raises CallError where the disk has not so much room."""
    free = shutil.disk_usage(folder).free
    if free < needed + limits.SPARE:
        wanted = -(-(needed + limits.SPARE - free) // 1_000_000)
        raise CallError("updates.disk_full", f"The disk has too little room for the new version: {wanted:,} MB more.")


def unpack(package: str, root: str, expected: Expected, progress: Progress) -> None:
    """Lay the version down in ``root``, a new folder; when it returns, all of it is on the disk. Blocks; raises
    CallError, and OSError."""
    os.mkdir(root, _FOLDER)
    links: list[tuple[str, str]] = []
    try:
        with tarfile.open(package, "r:*") as archive:
            for member, inner in _members(archive, _PackagePlaces(root, expected)):
                if member.issym():
                    links.append((inner, _inside(inner, member.linkname)))
                else:
                    _lay(archive, member, os.path.join(root, inner))
                    progress(member.size)
    except (tarfile.TarError, EOFError, ValueError, RecursionError) as error:
        raise _refused(f"cannot be unpacked ({type(error).__name__})") from None
    _make_links(root, links)
    _look_over(root, expected)
    _on_disk(root)


def _members(archive: tarfile.TarFile, place: _PackagePlaces) -> Iterator[tuple[tarfile.TarInfo, str]]:
    left, expected = place.expected.unpacked, place.expected
    for member in archive:
        inner = place.of(member)
        if inner is None:
            continue
        if not (member.isdir() or member.isreg() or member.issym()):
            raise _refused(f"holds {shown(member.name)}, which is neither a file nor a folder")
        if member.sparse is not None or member.size < 0:
            raise _refused(f"holds {shown(member.name)}, which is packed in a way that is not used here")
        left -= member.size if member.isreg() else 0
        if left < 0:
            raise _refused(f"is larger than the {expected.unpacked:,} bytes that were signed")
        yield member, inner


def _lay(archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
    if member.isdir():
        os.makedirs(path, _FOLDER, exist_ok=True)
        return
    os.makedirs(os.path.dirname(path), _FOLDER, exist_ok=True)
    source = archive.extractfile(member)
    if source is None:
        raise _refused(f"holds {shown(member.name)}, which cannot be read")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | open_flags.NOFOLLOW | open_flags.CLOEXEC | open_flags.BINARY
    mode = _PROGRAM if member.mode & 0o111 else _FILE
    with source, os.fdopen(os.open(path, flags, mode), "wb") as file:
        shutil.copyfileobj(source, file, limits.CHUNK)
        if file.tell() != member.size:
            raise _refused(f"ends within {shown(member.name)}")
    os.chmod(path, mode)
    os.utime(path, (member.mtime, member.mtime))


def _inside(inner: str, target: str) -> str:
    """The same target. Raises CallError for one that leads out of the version."""
    depth = inner.count("/")
    parts = target.split("/")
    for part in parts:
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            break
    if depth < 0 or target.startswith("/") or not target or not _is_plain("/".join(p for p in parts if p != "..")):
        raise _refused(f"holds the link {shown(inner)}, which leads out of it")
    return target


def _make_links(root: str, links: list[tuple[str, str]]) -> None:
    """After all files, so that nothing is written through one, and none through another."""
    real = os.path.realpath(root)
    for inner, target in links:
        path = os.path.join(real, inner)
        folder = os.path.dirname(path)
        if os.path.realpath(folder) != folder:
            raise _refused(f"holds {shown(inner)} behind a link")
        os.makedirs(folder, _FOLDER, exist_ok=True)
        os.symlink(target, path)
    for inner, _ in links:  # several together can lead where none does alone
        if os.path.commonpath([real, os.path.realpath(os.path.join(root, inner))]) != real:
            raise _refused(f"holds the link {shown(inner)}, which leads out of it")


def _look_over(root: str, expected: Expected) -> None:
    """Whether it is the version that was offered: it can be started, and may do what its list says."""
    start = os.path.join(root, START)
    if not (os.path.isfile(start) and os.stat(start).st_mode & stat.S_IXUSR):
        raise _refused(f"holds no {START}, so that nothing would start it")
    lists = [folder for folder, _, files in os.walk(root) if folder.endswith("/resources") and "rights.json" in files]
    found = []
    for folder in lists:
        with open(os.path.join(folder, "rights.json"), "rb") as file:
            found.append(hashlib.sha256(file.read(limits.RIGHTS + 1)).digest())
    if found != [hashlib.sha256(expected.rights).digest()]:
        raise _refused("may do something else than the list that was signed and shown")


def _on_disk(root: str) -> None:
    """All of it, before anything else is done."""
    if not current.LINUX:
        disk.sync_all()
        return
    descriptor = os.open(root, os.O_RDONLY)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(descriptor):
            raise OSError(ctypes.get_errno(), "what was unpacked may not be on the disk")
    finally:
        os.close(descriptor)
