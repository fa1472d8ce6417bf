"""What is remembered of updates from one start to the next, in the home: when was looked, what was offered, what the
person does not want. A file that is not as it should be is as good as none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.hidden_characters import has_hidden
from desktop.domain.text.json_text import read_json
from desktop.domain.updates.numbers import is_number
from desktop.domain.updates.rights import Manifest, read_manifest
from desktop.files.private import make_folder, write_whole

FOLDER, FILE, SEEN = "updates", "seen.json", "metadata"
_MOST = 2_000_000
_NEWS, _LINE = 200, 400
_LATEST = 32_503_680_000
"""The year 3000, in seconds since the epoch: what is later is no time that a calendar has to show."""


@dataclass(frozen=True, slots=True)
class OfferedVersion:
    """A new version as its server describes it; signed, and read with care."""

    version: str
    """Its number."""
    date: str
    """Its day, as 2026-11-20."""
    size: int
    """Bytes that are fetched."""
    manifest: Manifest
    """What it may do."""
    news: tuple[str, ...]
    """What is new, a line each."""
    digest: str
    """What was seen is this and no other."""
    said: Mapping[str, Any]
    """The same, as it came."""


def offered(said: Any) -> OfferedVersion | None:
    """What the update host, or the file, says; None for what is none. Raises BadManifest."""
    if not isinstance(said, dict):
        return None
    version, date, size, digest = (said.get(key) for key in ("version", "date", "bytes", "digest"))
    rights, news = said.get("rights"), said.get("news")
    texts = isinstance(date, str) and isinstance(digest, str) and isinstance(rights, str)
    if not (texts and is_number(version) and type(size) is int and size >= 0 and isinstance(news, list)):
        return None
    lines = [line[:_LINE] for line in news[:_NEWS] if isinstance(line, str) and not has_hidden(line)]
    manifest = read_manifest(str(rights).encode())
    return OfferedVersion(str(version), str(date)[:10], size, manifest, tuple(lines), str(digest)[:128], said)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is remembered."""

    looked: float = 0.0
    """When was looked last, in seconds since the epoch; 0: never."""
    skipped: str = ""
    """A version that the person does not want."""
    offer: OfferedVersion | None = None
    """What was offered then."""


class Memory:
    """``folder`` is the home's folder of data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._one_by_one = asyncio.Lock()
        self.now = Remembered()

    @property
    def seen(self) -> Path:
        """Where the update host keeps what it has seen of servers."""
        return self._folder / SEEN

    async def load(self) -> None:
        """Read what the last process kept."""
        self.now = await asyncio.to_thread(self._read)

    async def keep(self, **changes: Any) -> None:
        """Change something of it. A disk that takes nothing costs the memory, and no more."""
        self.now = replace(self.now, **changes)
        async with self._one_by_one:
            await asyncio.to_thread(self._write)

    def make(self) -> None:
        """Make the folders. Blocks; raises OSError."""
        make_folder(self.seen)

    def _read(self) -> Remembered:
        try:
            with open(self._folder / FILE, "rb") as file:
                said = read_json(file.read(_MOST))
            looked, skipped = said.get("looked"), said.get("skipped")
            at = float(looked) if type(looked) in (int, float) and 0 <= looked < _LATEST else 0.0
            return Remembered(at, skipped if is_number(skipped) else "", offered(said.get("offer")))
        except (OSError, ValueError, RecursionError, AttributeError, KnownError):
            return Remembered()

    def _write(self) -> None:
        offer = dict(self.now.offer.said) if self.now.offer is not None else None
        said = {"looked": self.now.looked, "skipped": self.now.skipped, "offer": offer}
        try:
            make_folder(self._folder)
            write_whole(self._folder / FILE, json.dumps(said).encode())
        except OSError:
            return
