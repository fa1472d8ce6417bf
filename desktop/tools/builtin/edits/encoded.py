"""A text file as bytes and as text: its encoding, its mark, and its line ends, of which an edit sees one kind."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.tools.builtin.text_files import SNIFF, NotText, kind_of

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NAMES = {"utf-8": "UTF-8", "utf-16-le": "UTF-16 (little-endian)", "utf-16-be": "UTF-16 (big-endian)"}


@dataclass(frozen=True, slots=True)
class EncodedText:
    """The text of a file. ``plain`` is what edits are written against: each ``\\r\\n`` is a ``\\n`` there."""

    raw: str
    """The text with its own line ends, without the mark at its beginning."""
    plain: str
    """The same with every line end of two characters as one."""
    folded: tuple[int, ...]
    """Where in ``plain`` the ends are that have two characters in ``raw``."""
    encoding: str
    """The codec of the bytes."""
    mark: bytes
    """The byte order mark that the file begins with, or none."""

    def raw_at(self, at: int) -> int:
        """The place in ``raw`` of a place in ``plain``."""
        return at + bisect_left(self.folded, at)

    def end_at(self, at: int) -> str:
        """The line end at a place of ``plain`` where one is."""
        where = bisect_left(self.folded, at)
        return "\r\n" if where < len(self.folded) and self.folded[where] == at else "\n"

    def bytes_of(self, raw: str) -> bytes:
        """Another text as the bytes of this file. Raises UnicodeEncodeError for half a surrogate pair."""
        return self.mark + raw.encode(self.encoding)

    @property
    def encoding_words(self) -> str:
        """Such as ``UTF-8 with a mark``."""
        name = _NAMES[self.encoding]
        return f"{name} with a byte order mark" if self.mark and self.encoding == "utf-8" else name

    @property
    def ends_words(self) -> str:
        """Such as ``LF``; "" where the file has a single line."""
        long = len(self.folded)
        short = self.plain.count("\n") - long
        if long and short:
            return f"{short:,} LF and {long:,} CRLF"
        return "CRLF" if long else "LF" if short else ""


def decoded(data: bytes) -> EncodedText:
    """The text of a whole file: UTF-8 with or without a mark, or UTF-16 with one. Raises NotText."""
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    if data.startswith(codecs.BOM_UTF32_LE) or encoding == "utf-8":  # of which one begins as UTF-16 does
        if kind := kind_of(data[:SNIFF]):
            raise NotText(kind)
        if b"\x00" in data:
            raise NotText("binary data")
    try:
        raw = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        what = "broken UTF-16 text" if encoding != "utf-8" else "text in another encoding than UTF-8, or binary data"
        raise NotText(f"{what} (byte {error.start + len(mark)})") from None
    if "\r\n" not in raw:
        return EncodedText(raw, raw, (), encoding, mark)
    found = [end.start() for end in re.finditer("\r\n", raw)]
    folded = tuple(at - before for before, at in enumerate(found))
    return EncodedText(raw, raw.replace("\r\n", "\n"), folded, encoding, mark)


def as_utf8(data: bytes) -> bytes:
    """A whole file in UTF-16 with its mark as UTF-8; all else as it is. Raises NotText."""
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not data.startswith(codecs.BOM_UTF32_LE)
    return decoded(data).raw.encode("utf-8") if is_wide else data
