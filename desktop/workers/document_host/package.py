"""Packed documents (Office, OpenDocument, EPUB): their files, never unpacked to more than a document can be."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from typing import IO, BinaryIO, cast
from urllib.parse import unquote

from desktop.workers.document_host import limits
from desktop.workers.document_host.xml import Element, tree
from desktop.workers.inside import CallError

ENCRYPTED = 0x1


class Package:
    """A packed document. Links out of it are told by their address and never followed."""

    def __init__(self, data: bytes) -> None:
        self._size = len(data)
        self._left = limits.UNPACKED
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, EOFError, OSError):
            raise CallError("document.broken", "It is packed, and damaged or cut off.") from None
        entries = self._zip.infolist()
        if len(entries) > limits.ENTRIES:
            raise CallError("document.too_large", f"More than {limits.ENTRIES:,} files are packed in it.")
        self.names = {entry.filename.replace("\\", "/"): entry for entry in entries}
        self._folded = {name.lower(): name for name in self.names}

    def has(self, name: str) -> bool:
        """Whether there is a file by this name."""
        return self._found(name) is not None

    def below(self, folder: str) -> list[str]:
        """The files in a folder."""
        return sorted(name for name in self.names if name.startswith(folder) and not name.endswith("/"))

    def open(self, name: str) -> BinaryIO:
        """One file as a stream. Raises CallError."""
        found = self._found(name)
        if found is None:
            raise CallError("document.broken", "A file that belongs to it is missing in it.")
        entry = self.names[found]
        if entry.flag_bits & ENCRYPTED:
            raise CallError("document.password", "It is packed with a password; nothing in it was read.")
        if entry.file_size > limits.RATIO_FROM and entry.file_size > limits.RATIO * max(1, entry.compress_size):
            raise CallError("document.bomb", "It unpacks to hundreds of times its size; it was not read.")
        try:
            return cast("BinaryIO", _Counted(self, self._zip.open(entry)))
        except (zipfile.BadZipFile, NotImplementedError, zlib.error, EOFError, OSError, RuntimeError):
            raise CallError("document.broken", "A file in it is damaged.") from None

    def read(self, name: str) -> bytes:
        """One file whole."""
        with self.open(name) as file:
            return file.read()

    def tree(self, name: str) -> Element | None:
        """One file of XML, or None where there is none."""
        return tree(self.open(name)) if self.has(name) else None

    def relations(self, name: str) -> dict[str, Relation]:
        """What a file refers to, by id."""
        folder, base = posixpath.split(name)
        root = self.tree(posixpath.join(folder, "_rels", f"{base}.rels"))
        found = {}
        for one in root.all("Relationship") if root is not None else ():
            target, outside = one.get("Target"), one.get("TargetMode") == "External"
            place = target if outside else posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            found[one.get("Id")] = Relation(one.get("Type").rpartition("/")[2], place, outside)
        return found

    def spent(self, size: int) -> None:
        """So many bytes more were unpacked."""
        self._left -= size
        if self._left < 0:
            raise CallError("document.bomb", f"It unpacks to more than {limits.UNPACKED:,} bytes; it was not read.")

    def opened_anew(self) -> None:
        """What was unpacked before is read and gone."""
        self._left = limits.UNPACKED

    def _found(self, name: str) -> str | None:
        name = name.lstrip("/")
        return name if name in self.names else self._folded.get(name.lower())


class Relation:
    """Where a file of a package refers to."""

    __slots__ = ("kind", "outside", "target")

    def __init__(self, kind: str, target: str, outside: bool) -> None:
        self.kind, self.target, self.outside = kind, target, outside


class _Counted(io.RawIOBase):
    """A packed file whose bytes are counted as they come."""

    def __init__(self, package: Package, file: IO[bytes]) -> None:
        self._package = package
        self._file = file

    def read(self, size: int = -1) -> bytes:
        """As of a file. Raises CallError."""
        if size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        try:
            block = self._file.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError):
            raise CallError("document.broken", "A file in it is damaged or cut off.") from None
        self._package.spent(len(block))
        return block
