"""The index on disk: all search folders in one file, so that the Skills page has its list before anything is read.

One line of JSON, then columns: texts joined by NUL, numbers as 64-bit integers. It is data only. Whatever is wrong with
it (cut, mixed up, too large, of another version) means that it is built anew; what it says is compared with the disk
before anything is decided by it.
"""

from __future__ import annotations

import itertools
import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator
from typing import Any

from desktop.domain.skills import SkillProblem
from desktop.files.private import write_whole
from desktop.skills.catalogue.scan import FileStamp, FolderListing
from desktop.skills.catalogue.snapshot import RELS, Snapshot, SnapshotRow, problem_from

MAGIC = b"assent-skills 3 " + sys.byteorder.encode() + b"\n"
MAX_BYTES = 64_000_000
MAX_HEADER = 4_000_000
_SEPARATOR = "\0"
_INTERNED = frozenset({"kind", "entry", "visibility", "role", "category", "tags"})
_NUMBERS = frozenset({"flags", "body_at", "body_end"})


class _Broken(ValueError):
    """The file is not what we wrote."""


def save_index(path: str, snapshots: Iterable[Snapshot]) -> None:
    """Write all folders, atomically. Raises OSError."""
    parts: list[bytes] = []
    folders = [_folder(snapshot, parts) for snapshot in snapshots]
    payload = b"".join(parts)
    header = json.dumps({"folders": folders, "crc": zlib.crc32(payload), "bytes": len(payload)}).encode("ascii")
    write_whole(path, MAGIC + header + b"\n", payload, lasting=False)


def load_index(path: str) -> list[Snapshot]:
    """The snapshots that ``save_index`` wrote; empty when there are none, or none that can be trusted. Never raises."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        return _read(data)
    except (OSError, _Broken, ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, MemoryError):
        return []


# -- writing ----------------------------------------------------------------------------------------------------------


def _folder(snapshot: Snapshot, parts: list[bytes]) -> dict[str, Any]:
    """Append one folder's columns to ``parts``; returns what the header says of it."""
    listing, start = snapshot.listing, len(parts)
    files, stamps = list(listing.files), list(listing.files.values())
    number = {rel: at for at, rel in enumerate(files)}
    parts += [_texts(files), *(_numbers(stamp[field] for stamp in stamps) for field in range(6))]
    parts += [
        _texts(listing.folders),
        *(_numbers(stamp[field] for stamp in listing.folders.values()) for field in range(3)),
    ]
    parts += [_texts(snapshot.digests), _texts(snapshot.digests.values())]
    parts.append(_numbers(number[rel] for rel in snapshot.columns[RELS]))
    for name, column in zip(SnapshotRow._fields[1:], snapshot.columns[1:], strict=True):
        parts.append(_numbers(column) if name in _NUMBERS else _texts(column))
    problems = {
        rel: [[p.message, p.line, p.column, p.severity, p.code, p.path] for p in found]
        for rel, found in listing.problems.items()
    }
    return {
        "folder": snapshot.folder,
        "ignore": list(snapshot.ignore),
        "files": len(files),
        "rows": len(snapshot),
        "folders": len(listing.folders),
        "digests": len(snapshot.digests),
        "problems": problems,
        "lengths": [len(part) for part in parts[start:]],
    }


def _texts(texts: Iterable[str]) -> bytes:
    return _SEPARATOR.join(texts).encode("utf-8", "surrogatepass")


def _numbers(numbers: Iterable[int]) -> bytes:
    return array("q", numbers).tobytes()


# -- reading ----------------------------------------------------------------------------------------------------------


def _read(data: bytes) -> list[Snapshot]:
    if not data.startswith(MAGIC) or len(data) > MAX_BYTES:
        raise _Broken("not an index of this version")
    end = data.index(b"\n", len(MAGIC), len(MAGIC) + MAX_HEADER)
    header = json.loads(data[len(MAGIC) : end])
    payload = memoryview(data)[end + 1 :]
    if header["bytes"] != len(payload) or header["crc"] != zlib.crc32(payload):
        raise _Broken("cut or damaged")
    reader = _ColumnReader(payload)
    return [reader.folder(found) for found in header["folders"]]


class _ColumnReader:
    """Takes one column after the other from the bytes."""

    def __init__(self, payload: memoryview) -> None:
        self._payload = payload
        self._at = 0
        self._lengths: Iterator[int] = iter(())

    def folder(self, found: dict[str, Any]) -> Snapshot:
        self._lengths = iter(found["lengths"])
        files = self._texts(found["files"])
        stamps = [self._numbers(found["files"]) for _ in range(6)]
        listing = FolderListing()
        listing.files = dict(zip(files, itertools.starmap(_file_stamp, zip(*stamps, strict=True)), strict=True))
        folders = self._texts(found["folders"])
        listing.folders = dict(
            zip(folders, zip(*(self._numbers(len(folders)) for _ in range(3)), strict=True), strict=True)
        )
        listing.problems = {
            str(rel): [_problem(entry) for entry in entries] for rel, entries in found["problems"].items()
        }
        digests = dict(zip(self._texts(found["digests"]), self._texts(found["digests"]), strict=True))
        columns = self._columns(files, found["rows"])
        return Snapshot(str(found["folder"]), tuple(map(str, found["ignore"])), listing, columns, digests)

    def _columns(self, files: list[str], rows: int) -> tuple[list[Any], ...]:
        columns: list[list[Any]] = [list(map(files.__getitem__, self._numbers(rows, minimum=0)))]
        for name in SnapshotRow._fields[1:]:
            if name in _NUMBERS:
                columns.append(self._numbers(rows).tolist())
            else:
                texts = self._texts(rows)
                columns.append(list(map(sys.intern, texts)) if name in _INTERNED else texts)
        return tuple(columns)

    def _take(self) -> memoryview:
        length = next(self._lengths)
        part = self._payload[self._at : self._at + length]
        if length < 0 or len(part) != length:
            raise _Broken("shorter than it says")
        self._at += length
        return part

    def _texts(self, count: int) -> list[str]:
        text = str(self._take(), "utf-8", "surrogatepass")
        texts = text.split(_SEPARATOR) if count else []
        if len(texts) != count:
            raise _Broken("a column of another length")
        return texts

    def _numbers(self, count: int, minimum: int | None = None) -> array[int]:
        numbers = array("q")
        numbers.frombytes(self._take())
        if len(numbers) != count or (minimum is not None and count and min(numbers) < minimum):
            raise _Broken("a column of another length")
        return numbers


def _file_stamp(size: int, mtime: int, ctime: int, inode: int, racy: int, companion: int) -> FileStamp:
    return FileStamp(size, mtime, ctime, inode, bool(racy), bool(companion))


def _problem(entry: list[Any]) -> SkillProblem:
    return problem_from(entry, str(entry[-1]))
