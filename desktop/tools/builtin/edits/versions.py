"""Which version of a file an agent has read: an edit is written against that one and no other.

Kept by thread and path, also over a restart, and capped: of what is forgotten an agent has read nothing.
"""

from __future__ import annotations

import hashlib
import threading
import time
import zlib
from collections import OrderedDict
from typing import TYPE_CHECKING

from desktop.domain.files.reads import KeptReads, NoKeptReads, ReadFileVersion
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.sequences import in_common
from desktop.domain.text.words import count_words

if TYPE_CHECKING:
    import difflib
else:
    difflib = lazy_module("difflib")

MAX_FILES = 2_000
MAX_KEPT = 32_000_000
"""Bytes of texts kept in all, compressed."""
MAX_TEXT = 2_000_000
"""Bytes of a file up to which its text is kept, to say later what changed."""
_MIDDLE = 400
"""Lines that changed, on either side, up to which they are compared one by one."""
_SHOWN, _COLUMNS = 40, 300


@dataclass(frozen=True, slots=True)
class FileVersion:
    """The content of a file at one moment."""

    digest: str
    """SHA-256 of its bytes, in hexadecimal."""
    size: int
    """Its bytes."""
    at: float
    """When it was first seen so, in seconds since the epoch."""
    packed: bytes = b""
    """Its bytes compressed, or none where they are not kept."""

    @classmethod
    def of(cls, data: bytes) -> FileVersion:
        """The version that these bytes are, seen now. Blocks."""
        packed = zlib.compress(data, 1) if len(data) <= MAX_TEXT else b""
        return cls(hashlib.sha256(data).hexdigest(), len(data), time.time(), packed)

    @property
    def data(self) -> bytes | None:
        """The bytes, where they are kept."""
        return zlib.decompress(self.packed) if self.packed else None


class ReadVersions:
    """The newest version of each file that each thread has read or written. Safe to use from several threads. ``kept``
    has what an earlier process knew, of a thread from when it was ``loaded``."""

    def __init__(self, kept: KeptReads | None = None) -> None:
        self._keeper: KeptReads = NoKeptReads() if kept is None else kept
        self._loaded: set[str] = set()
        self._lock = threading.Lock()
        self._versions: OrderedDict[tuple[str, str], FileVersion] = OrderedDict()
        self._kept = 0
        self._seen: OrderedDict[tuple[str, str], bool] = OrderedDict()

    def saw(self, thread_id: str, path: str, *, read: bool) -> None:
        """The thread was shown something of this file, or has written it: only such a file is edited. What an edit that
        fails says of a file would else show what a rule keeps from being read."""
        key = (thread_id, path)
        with self._lock:
            self._seen[key] = self._seen.pop(key, False) or read
            while len(self._seen) > MAX_FILES:
                self._seen.popitem(last=False)
        self._keeper.changed(thread_id, path)

    async def loaded(self, thread_id: str) -> None:
        """Know what an earlier process knew of this thread; what was seen since counts more."""
        if thread_id in self._loaded:
            return
        kept = await self._keeper.load(thread_id)
        with self._lock:
            self._loaded.add(thread_id)
            for one in kept:
                key = (thread_id, one.path)
                self._seen.setdefault(key, one.read)
                if one.digest and key not in self._versions:
                    self._put(key, FileVersion(one.digest, one.size, one.at, one.packed))

    def to_keep(self, thread_id: str, path: str) -> ReadFileVersion | None:
        """What is known of a file, to be kept; None: nothing."""
        with self._lock:
            read, version = self._seen.get((thread_id, path)), self._versions.get((thread_id, path))
        if read is None:
            return None
        if version is None:
            return ReadFileVersion(path, read)
        return ReadFileVersion(path, read, version.digest, version.size, version.at, version.packed)

    def seen(self, thread_id: str, path: str) -> bool | None:
        """Whether the thread has read it (True) or only written it (False); None: neither."""
        with self._lock:
            return self._seen.get((thread_id, path))

    def note(self, thread_id: str, path: str, version: FileVersion) -> None:
        """The thread knows this version of the file at a resolved path from now on."""
        key = (thread_id, path)
        with self._lock:
            known = self._versions.pop(key, None)
            if known is not None and known.digest == version.digest:
                version = known  # seen so since then
            self._kept -= len(known.packed) if known is not None else 0
            self._put(key, version)
        self._keeper.changed(thread_id, path)

    def _put(self, key: tuple[str, str], version: FileVersion) -> None:
        self._kept += len(version.packed)
        self._versions[key] = version
        while len(self._versions) > MAX_FILES or (self._kept > MAX_KEPT and len(self._versions) > 1):
            _, gone = self._versions.popitem(last=False)
            self._kept -= len(gone.packed)

    def known(self, thread_id: str, path: str) -> FileVersion | None:
        """The version that the thread knows, or None."""
        with self._lock:
            return self._versions.get((thread_id, path))


def changed_words(before: str, after: str) -> str:
    """What changed between two texts, as a short difference with line numbers of the newer one."""
    old, new = before.splitlines(), after.splitlines()
    head = in_common(old, new)
    tail = in_common(old[head:][::-1], new[head:][::-1])
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    if not gone and not come:
        return "Only white space at the ends of lines, or the line break at the end, changed."
    if max(len(gone), len(come)) > _MIDDLE:
        return f"{count_words(len(gone), 'line')} from line {head + 1} on became {count_words(len(come), 'line')}."
    said: list[str] = []
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, gone, come, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        said.append(f"@ line {head + b1 + 1}")
        said += [f"-{line[:_COLUMNS]}" for line in gone[a1:a2]] + [f"+{line[:_COLUMNS]}" for line in come[b1:b2]]
    more = len(said) - _SHOWN
    return "\n".join(said[:_SHOWN] + ([f"[{count_words(more, 'more line')} of this]"] if more > 0 else []))
