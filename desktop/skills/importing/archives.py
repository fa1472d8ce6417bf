"""Zip and tar archives, read by our own limits: sizes are counted as they are unpacked, never believed."""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import IO

from desktop.domain.text.words import size_words
from desktop.skills.importing.limits import MAX_ARCHIVE, MAX_ENTRIES, MAX_TOTAL, ImportRefused, StagedFiles
from desktop.skills.importing.reading import open_plain

_MAX_DIRECTORY = MAX_ENTRIES * 600
"""Bytes of a zip file's list of contents, which is read as a whole."""
_MAX_STREAM = MAX_TOTAL + MAX_ENTRIES * 4_096
"""Bytes of a tar file, with its headers."""
_MAX_ASKED = 1_000_000
"""Bytes that a tar file's header may have: its names are read as a whole."""
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    NotImplementedError,
    struct.error,
    RuntimeError,
    ValueError,
    OverflowError,
)


def unpack(path: Path, into: StagedFiles) -> None:
    """All plain files of an archive. Raises ImportRefused; blocks."""
    try:
        with open_plain(path) as file:
            if os.fstat(file.fileno()).st_size > MAX_ARCHIVE:
                raise ImportRefused(f"{path.name} is larger than {size_words(MAX_ARCHIVE)}.")
            _unpack(file, path.name, into)
    except _BROKEN as error:
        raise ImportRefused(f"{path.name} cannot be unpacked: {str(error)[:200] or type(error).__name__}.") from error
    except OSError as error:
        raise ImportRefused(f"{path.name} cannot be read: {error.strerror or str(error)[:200]}.") from error


def _unpack(file: IO[bytes], name: str, into: StagedFiles) -> None:
    begin = file.read(512)
    file.seek(0)
    if begin.startswith(b"PK"):
        _unzip(file, into)
    elif begin.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
            _untar(unpacked, into)
    elif begin[257:262] == b"ustar":
        _untar(file, into)
    else:
        raise ImportRefused(f"{name} is no zip or tar.gz archive.", next_step="Choose an archive, or a folder.")


# -- zip --------------------------------------------------------------------------------------------------------------


def _unzip(file: IO[bytes], into: StagedFiles) -> None:
    _require_short_directory(file)
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            mode = entry.external_attr >> 16
            parts = into.wanted(entry.filename)
            if not parts or entry.is_dir() or stat.S_ISDIR(mode):
                continue
            if stat.S_ISLNK(mode):
                into.links += 1
                continue
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise ImportRefused(f"It holds {entry.filename!a}, which is a device and no file.")
            if entry.flag_bits & 1:
                raise ImportRefused("It is protected by a password.", next_step="Unpack it, and choose the folder.")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ImportRefused(
                    "It is packed in a way that is not read.", next_step="Unpack it, and choose the folder."
                )
            with archive.open(entry) as source:
                into.write(parts, source, runnable=bool(mode & stat.S_IXUSR))


def _require_short_directory(file: IO[bytes]) -> None:
    """``zipfile`` reads the whole list of contents at once: its size is looked at before."""
    size = file.seek(0, os.SEEK_END)
    at = max(0, size - 65_557)
    file.seek(at)
    tail = file.read()
    found = tail.rfind(b"PK\x05\x06")
    if found < 0 or len(tail) - found < 22:
        raise ImportRefused("The archive has no list of its contents: it is cut off.")
    directory = struct.unpack_from("<L", tail, found + 12)[0]
    if b"PK\x06\x07" in tail or directory > _MAX_DIRECTORY:
        raise ImportRefused("The archive holds too many files.", next_step="Choose the folder of one skill.")
    file.seek(0)


# -- tar --------------------------------------------------------------------------------------------------------------


class _Bounded(io.RawIOBase):
    """A stream of which no more than ``_MAX_STREAM`` bytes come, however small it was packed."""

    def __init__(self, source: IO[bytes] | gzip.GzipFile, into: StagedFiles) -> None:
        self._source, self._into = source, into
        self._given = 0

    def read(self, size: int = -1, /) -> bytes:
        """Raises ImportRefused beyond the bound."""
        data = self._source.read(size)
        self._given += len(data)
        self._into.go_on()
        if self._given > _MAX_STREAM:
            raise ImportRefused(f"It unpacks to more than {size_words(MAX_TOTAL)}.")
        return data


class _Member(tarfile.TarInfo):
    """A header whose own text (a long name, extended facts) is bounded before it is read."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if not self.isreg() and self.type != tarfile.GNUTYPE_SPARSE and self.size > _MAX_ASKED:
            raise ImportRefused("The archive has a name that is too long.")
        found: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return found


def _untar(file: IO[bytes] | gzip.GzipFile, into: StagedFiles) -> None:
    with tarfile.open(fileobj=_Bounded(file, into), mode="r|", tarinfo=_Member) as archive:
        for entry in archive:
            parts = into.wanted(entry.name)
            if not parts or entry.isdir():
                continue
            if entry.issym() or entry.islnk():
                into.links += 1
                continue
            if not entry.isreg() or entry.issparse():
                raise ImportRefused(f"It holds {entry.name!a}, which is a device and no file.")
            source = archive.extractfile(entry)
            if source is not None:
                into.write(parts, source, runnable=bool(entry.mode & stat.S_IXUSR))
