"""Text out of files: what is text and what is not, and a part of a long file (R-BLT-5, S-BLT-2). Pure over a stream."""

from __future__ import annotations

import codecs
from typing import BinaryIO

from desktop.domain.loading.lazy_dataclass import dataclass

SNIFF = 8192
MAX_SCAN = 512 * 1024 * 1024
_BLOCK = 1 << 16
_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a program (Mach-O)"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"RIFF", "audio, video or an image (RIFF)"),
    (b"OggS", "Ogg media"),
    (b"ID3", "an MP3 file"),
    (b"\x00\x00\x01\x00", "an icon"),
    (b"\xca\xfe\xba\xbe", "a Java class or program"),
    (b"\xff\xfe\x00\x00", "UTF-32 text"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"\x00asm", "WebAssembly"),
    (b"wOFF", "a font"),
    (b"\x00\x01\x00\x00", "a font"),
    (b"OTTO", "a font"),
)


class NotText(Exception):
    """The file is no UTF-8 text; the message says what it seems to be."""


@dataclass(frozen=True, slots=True)
class FileLines:
    """Lines ``first`` to ``last`` (from 1) of a file. ``next_line`` is where to go on, None at the end.

    ``cut_bytes`` is how many bytes of the last line shown were left out; ``total`` how many lines the file has, None
    where it is too long to be counted.
    """

    text: str
    first: int
    last: int
    next_line: int | None
    cut_bytes: int = 0
    total: int | None = None


def kind_of(start: bytes) -> str:
    """What a file that begins like this is, "" when it may be text."""
    for magic, kind in _KINDS:
        if start.startswith(magic) and (b"\x00" in start or not _is_text(start)):
            return kind
    return "binary data" if b"\x00" in start else ""


def _is_text(start: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(start)
    except UnicodeDecodeError:
        return False
    return True


def read_part(stream: BinaryIO, offset: int, limit: int | None, max_bytes: int) -> FileLines:
    """Lines from ``offset`` (1 is the first), at most ``limit`` lines and ``max_bytes`` bytes. Raises NotText.

    The whole part that is read is checked to be text, not only its beginning.
    """
    taker = _Taker(offset, limit, max_bytes)
    start = stream.read(SNIFF)
    if kind := kind_of(start):
        raise NotText(kind)
    chunk, scanned, ends = start.removeprefix(codecs.BOM_UTF8), 0, 0
    last = b""
    while chunk and taker.wants_more:
        taker.feed(chunk)
        scanned, ends, last = scanned + len(chunk), ends + chunk.count(b"\n"), chunk
        if scanned > MAX_SCAN:
            raise NotText("too long to be searched for that line")
        chunk = stream.read(_BLOCK)
    at_end = not chunk
    while chunk and scanned <= MAX_SCAN:
        scanned, ends, last = scanned + len(chunk), ends + chunk.count(b"\n"), chunk
        chunk = stream.read(_BLOCK)
    total = ends + (bool(last) and not last.endswith(b"\n")) if not chunk else None
    return taker.finish(at_end=at_end, total=total)


class _Taker:
    """Counts lines and keeps those wanted."""

    def __init__(self, offset: int, limit: int | None, max_bytes: int) -> None:
        self._first = max(1, offset)
        self._after = None if limit is None else self._first + limit
        self._room = max_bytes
        self._line = 1
        self._kept = bytearray()
        self._cut = 0
        self._last = self._first - 1
        self._full = False
        self._at_line_start = True

    @property
    def wants_more(self) -> bool:
        return not self._full

    def feed(self, chunk: bytes) -> None:
        for piece in _split(chunk):
            if self._full:
                return
            self._take(piece)

    def _take(self, piece: bytes) -> None:
        if self._after is not None and self._line >= self._after:
            self._full = True
            return
        wanted = self._line >= self._first
        if wanted and self._at_line_start and self._kept and len(self._kept) + len(piece) > self._room:
            self._full = True
            return
        if wanted:
            room = max(0, self._room - len(self._kept))
            self._kept += piece[:room]
            self._cut += len(piece.rstrip(b"\n")) - len(piece[:room].rstrip(b"\n")) if room < len(piece) else 0
            self._last = self._line
        self._at_line_start = piece.endswith(b"\n")
        if self._at_line_start:
            self._line += 1
            self._full = self._full or self._cut > 0

    def finish(self, *, at_end: bool, total: int | None) -> FileLines:
        text = _decoded(bytes(self._kept), cut=self._cut > 0 or not at_end)
        if b"\x00" in self._kept:
            raise NotText("binary data")
        more = self._full or not at_end
        next_line = self._last + 1 if more else None
        return FileLines(text, self._first, self._last, next_line, self._cut, total)


def _split(chunk: bytes) -> list[bytes]:
    """At ``\\n`` only: a carriage return is part of its line."""
    pieces = chunk.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def _decoded(data: bytes, *, cut: bool) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return decoder.decode(data, final=not cut)
    except UnicodeDecodeError as error:
        raise NotText(f"text in another encoding than UTF-8, or binary data (byte {error.start})") from None
