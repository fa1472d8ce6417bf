"""Every search folder as it was last found, checked against the disk by stamps before anything is decided by it.

The index is no cache in the sense of R-RES-13: it never answers on its own. ``check`` compares stamps and reads changed
files only; the caches (``name_index``, ``dir``, ``file``) are filled from what it returns. ``peek`` is what the Skills
page may show before that.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillSource
from desktop.skills.catalogue.ignores import ignoring
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.scan import FileStamp, FolderListing, Hint, Scan, ScanRules, owning_skill
from desktop.skills.catalogue.snapshot import EMPTY_COLUMNS, Snapshot, SnapshotRow, below, rows_of_file
from desktop.skills.formats import LoadedFile, load_from_bytes, load_skills_from_file
from desktop.skills.formats.loader import failed

HASHED_BYTES = 4_000_000
"""Larger companion files are pinned by their stamp instead of their content."""

Key = tuple[str, tuple[str, ...]]


class Loader(Protocol):
    """Loads the skills of a file: the signature of ``formats.load_skills_from_file``."""

    def __call__(self, path: str, *, source: SkillSource, root: str) -> LoadedFile: ...


@dataclass(frozen=True, slots=True)
class CheckedFolder:
    """The state of a checked folder. ``files`` (absolute) and ``names`` are what changed since it was found before."""

    snapshot: Snapshot
    files: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    moved: bool = False
    """Whether anything at all is different, problems of folders included."""


class SkillIndex:
    """Thread-safe: one thread checks a folder at a time, others take what it found. Blocks: use a thread."""

    def __init__(self, load: Loader = load_skills_from_file) -> None:
        self._load = load
        self._found: dict[Key, Snapshot] = {}
        self._began: dict[Key, float] = {}
        self._locks: dict[Key, threading.Lock] = {}
        self._lock = threading.Lock()
        self.files_read = 0
        """Files read since the start, for benches and tests."""

    def peek(self, folder: str, ignore: tuple[str, ...]) -> Snapshot | None:
        """The folder as it was found last, in this process or the one before; may be stale."""
        return self._found.get((folder, ignore))

    def was_checked(self, folder: str, ignore: tuple[str, ...]) -> bool:
        """Whether this process has compared the folder with the disk."""
        return (folder, ignore) in self._began

    def adopt(self, snapshots: Iterable[Snapshot]) -> None:
        """Take what an earlier process found; it counts as unchecked."""
        with self._lock:
            for snapshot in snapshots:
                self._found.setdefault((snapshot.folder, snapshot.ignore), snapshot)

    def all(self) -> list[Snapshot]:
        """Every folder known, to be written."""
        with self._lock:
            return list(self._found.values())

    def keep_only(self, keys: Iterable[Key]) -> None:
        """Forget folders that are searched no more."""
        wanted = frozenset(keys)
        with self._lock:
            for key in [key for key in self._found if key not in wanted]:
                self._found.pop(key)
                self._began.pop(key, None)

    def check(
        self,
        root: SearchRoot,
        ignore: tuple[str, ...],
        *,
        asked: float | None = None,
        hint: Hint | None = None,
        known: tuple[str, ...] = (),
    ) -> CheckedFolder:
        """Compare a folder with the disk and read what changed. A check by another thread that began after ``asked``
        (monotonic seconds; None: now) is as good. ``hint`` limits the look; it is for those who know what changed.
        ``known``: folders into which linked ones are followed."""
        key = (root.path, ignore)
        asked = time.monotonic() if asked is None else asked
        with self._lock_of(key):
            old = self._found.get(key)
            if old is not None and hint is None and self._began.get(key, -1.0) > asked:
                return CheckedFolder(old)
            began = time.monotonic()
            if old is None or key not in self._began:
                hint = None
            checked = self._checked(root, ignore, old, hint, known)
            with self._lock:
                self._found[key] = checked.snapshot
                if hint is None:
                    self._began[key] = began
            return checked

    def _lock_of(self, key: Key) -> threading.Lock:
        with self._lock:
            return self._locks.setdefault(key, threading.Lock())

    def _checked(
        self, root: SearchRoot, ignore: tuple[str, ...], old: Snapshot | None, hint: Hint | None, known: tuple[str, ...]
    ) -> CheckedFolder:
        scan = Scan(root.path, ScanRules(ignoring(ignore), root.pinned, root.source == "mine", known))
        listing = scan.whole() if old is None else scan.again(old.listing, hint)
        if old is not None and not listing.changed and listing.files.keys() == old.listing.files.keys():
            moved = listing.problems != old.listing.problems
            if not moved and listing.folders == old.listing.folders:
                return CheckedFolder(old)
            return CheckedFolder(Snapshot(root.path, ignore, listing, old.columns, old.digests), moved=moved)
        return _Build(root, ignore, listing, old, self._read).finished()

    def _read(self, root: SearchRoot, path: str, stamp: FileStamp) -> tuple[LoadedFile | None, str]:
        """A file read and its digest, "" in folders that are not pinned. Companions are hashed only."""
        self.files_read += 1
        if not root.pinned:
            return self._load(path, source=root.source, root=root.path), ""
        data = _bytes_of(path, stamp)
        digest = digest_of(data) if data is not None else f"stamp:{stamp.size}:{stamp.mtime}"
        if stamp.companion:
            return None, digest
        if data is None:
            return self._load(path, source=root.source, root=root.path), digest
        name = f"{stamp.size}:{stamp.mtime}:{stamp.inode}"
        return load_from_bytes(data, path, source=root.source, root=root.path, stamp=name), digest


def digest_of(data: bytes) -> str:
    """The digest by which pins know a content."""
    return hashlib.sha256(data).hexdigest()


def _bytes_of(path: str, stamp: FileStamp) -> bytes | None:
    """The content, or None when it is too large or cannot be read."""
    if stamp.size > HASHED_BYTES:
        return None
    try:
        with open(path, "rb") as file:
            data = file.read(HASHED_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= HASHED_BYTES else None


Read = Callable[[SearchRoot, str, FileStamp], tuple[LoadedFile | None, str]]


class _Build:
    """A new snapshot from a listing: rows of unchanged files are taken over, the others are read."""

    def __init__(
        self, root: SearchRoot, ignore: tuple[str, ...], listing: FolderListing, old: Snapshot | None, read: Read
    ) -> None:
        self._root, self._ignore, self._listing, self._read = root, ignore, listing, read
        self._old: dict[str, list[SnapshotRow]] = {}
        self._old_digests = {} if old is None else old.digests
        self._problems_moved = old is None or old.listing.problems != listing.problems
        self._digests: dict[str, str] = {}
        for values in () if old is None else zip(*old.columns, strict=True):
            self._old.setdefault(values[0], []).append(SnapshotRow(*values))

    def finished(self) -> CheckedFolder:
        """Read what has to be read and put everything in order."""
        files, changed = self._listing.files, self._listing.changed
        lost = (self._old.keys() | self._old_digests.keys()) - files.keys()
        rows: list[SnapshotRow] = []
        different = set(lost)
        for rel in sorted(files):
            before = self._old.get(rel, [])
            if rel not in changed and (before or files[rel].companion):
                found = before
                self._keep_digest(rel)
            else:
                found = self._file(rel, files[rel])
                if found != before or self._digests.get(rel) != self._old_digests.get(rel):
                    different.add(rel)
            rows += found
        different |= {
            owner
            for rel in different
            if rel in self._digests or rel in self._old_digests
            if (owner := owning_skill(rel, files)) is not None
        }
        names = {row.name for rel in different for row in self._old.get(rel, ())}
        names.update(row.name for row in rows if row.rel in different)
        snapshot = Snapshot(self._root.path, self._ignore, self._listing, _columns(rows), self._digests)
        paths = frozenset(below(self._root.path, rel) for rel in different)
        return CheckedFolder(snapshot, paths, frozenset(names - {""}), bool(different) or self._problems_moved)

    def _keep_digest(self, rel: str) -> None:
        if rel in self._old_digests:
            self._digests[rel] = self._old_digests[rel]

    def _file(self, rel: str, stamp: FileStamp) -> list[SnapshotRow]:
        path = below(self._root.path, rel)
        try:
            loaded, digest = self._read(self._root, path, stamp)
        except Exception as error:  # noqa: BLE001 - one file must never take the others of the folder with it
            loaded, digest = failed(path, "", error), ""
        if digest:
            self._digests[rel] = digest
        if loaded is None or any(problem.code == "file.gone" for problem in loaded.problems):
            return []  # a companion, or gone since it was listed
        return rows_of_file(rel, path, loaded)


def _columns(rows: list[SnapshotRow]) -> tuple[list[Any], ...]:
    return tuple(list(column) for column in zip(*rows, strict=True)) if rows else EMPTY_COLUMNS
