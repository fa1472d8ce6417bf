"""Contents of files that calls changed, each once, by the SHA-256 of its bytes: a file below ``data/changes/kept``.

Text is stored packed where that pays. Whether a content is still what it was is for whoever uses it to see: its name
says. Every method blocks.
"""

from __future__ import annotations

import contextlib
import io
import os
import zlib
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from desktop.domain.errors import StoreError
from desktop.domain.loading.lazy import lazy_module
from desktop.files import private
from desktop.systems import disk

if TYPE_CHECKING:
    import gzip
else:
    gzip = lazy_module("gzip")

_PACKED = ".gz"
_SAMPLE = 65_536
_PAYS = 0.8
"""Packed where the beginning becomes at least this much smaller."""
_LEVEL = 1


class KeptFiles:
    """The folder with the contents. It belongs to the app alone (0700, files 0600)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, digest: str, content: bytes, *, lasting: bool = True) -> int:
        """Keep a content under its digest; the bytes that it takes on the disk. ``lasting``: it is there also after a
        power cut. Raises OSError."""
        for path in (self._path(digest), self._path(digest, _PACKED)):
            with contextlib.suppress(FileNotFoundError):
                return os.stat(path).st_size
        sample = content[:_SAMPLE]
        packs = len(zlib.compress(sample, _LEVEL)) < len(sample) * _PAYS
        stored = gzip.compress(content, _LEVEL, mtime=0) if packs else content
        path = self._path(digest, _PACKED if packs else "")
        private.make_folder(path.parent)
        private.write_whole(path, stored, lasting=lasting)
        return len(stored)

    def settle(self) -> None:
        """Have all that was kept without ``lasting`` on the disk."""
        disk.sync_all()

    def open(self, digest: str) -> BinaryIO:
        """A content, to be read once. Raises StoreError where it is not kept any more."""
        try:
            return open(self._path(digest), "rb")
        except FileNotFoundError:
            pass
        try:
            packed = gzip.open(self._path(digest, _PACKED), "rb")
        except FileNotFoundError:
            raise StoreError("What a file was before is not kept any more.", code="changes.gone") from None
        return io.BufferedReader(_Unpacked(cast("BinaryIO", packed)))

    def remove(self, digests: Iterable[str]) -> list[str]:
        """Remove contents; those that are gone now."""
        gone = []
        for digest in digests:
            with contextlib.suppress(OSError):
                for path in (self._path(digest), self._path(digest, _PACKED)):
                    path.unlink(missing_ok=True)
                gone.append(digest)
        return gone

    def every(self) -> Iterator[tuple[str, float]]:
        """The digests of everything in the folder, whether somebody needs it or not, and since when it is there."""
        with contextlib.suppress(FileNotFoundError):
            for part in os.scandir(self._folder):
                for entry in os.scandir(part.path) if part.is_dir(follow_symlinks=False) else ():
                    yield entry.name.removesuffix(_PACKED), entry.stat(follow_symlinks=False).st_mtime

    def stray(self, known: Container[str], before: float) -> list[str]:
        """What nobody knows of, and was kept before then: left by a process that was killed, or with a database that
        was set aside."""
        return [digest for digest, at in self.every() if at < before and digest not in known]

    def _path(self, digest: str, ending: str = "") -> Path:
        if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
            raise StoreError("That is no digest of a content.", code="changes.gone")
        return self._folder / digest[:2] / f"{digest}{ending}"


class _Unpacked(io.RawIOBase):
    """Reads a packed content; one that is damaged is said to be."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            found = self._packed.read(len(buffer))
        except (EOFError, OSError, zlib.error) as error:
            raise StoreError("What was kept of a file is damaged.", code="changes.damaged") from error
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._packed.close()
        super().close()
