"""Which charset a table as text is in: it does not say so itself, so it is guessed, and the guess is told."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from desktop.domain.loading.lazy import lazy_module

if TYPE_CHECKING:
    import charset_normalizer
else:
    charset_normalizer = lazy_module("charset_normalizer")

SAMPLE = 65_536
"""Bytes that are looked at."""
FEW, RUN = 0.35, 3
"""Letters beyond ASCII of a text in Latin letters: up to this share of all, and no more than so many in a row."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HIGH = re.compile(rb"[\x80-\xff]+")
_IN_A_WORD = re.compile("[A-Za-z][\u00a1-\u00a9\u00ac-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7](?=[a-z])")
_CZECH = re.compile("[ìùòèïø].*[øìùšž]|[šž].*[ìùèøï]", re.DOTALL)
_TURKISH = re.compile("[ðþýÝÞ].*[çüÇÜ]|[çüÇÜ].*[ðþýÝÞ]", re.DOTALL)
_COMMON = (
    ("cp949", "euc_kr", b"\xb0", b"\xc8"),
    ("cp932", "euc_jp", b"\xb0", b"\xcf"),
    ("euc_jp", "euc_jp", b"\xb0", b"\xcf"),
    ("gb18030", "gb2312", b"\xb0", b"\xd7"),
    ("big5", "big5", b"\xa4", b"\xc6"),
)
"""Charsets of East Asia, and with which bytes their common letters begin in which form of them. The first of equals is
the one with the fewest."""
COMMON, LETTERS = 0.85, 4_000
"""What part of the letters has to be common ones, of so many."""
_NAMES = {
    "cp932": "Shift-JIS",
    "cp949": "Korean (cp949)",
    "cp1250": "Windows-1250, Central European",
    "cp1251": "Windows-1251, Cyrillic",
    "cp1252": "Windows-1252, Western European",
    "cp1255": "Windows-1255, Hebrew",
}
CHARSETS = (
    "cp932 euc_jp iso2022_jp gb18030 big5 big5hkscs cp949 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 "
    "cp1258 cp874 koi8_r koi8_u"
).split()
"""Those that a guess may come to."""


def warm() -> None:
    """What the first guess would read from files, later there are none."""
    for name in (*CHARSETS, "gb2312", "euc_kr", "utf-32"):
        codecs.lookup(name)
    charset_normalizer.from_bytes("Höhe in größeren Städten, Übermaß".encode("cp1252"), cp_isolation=CHARSETS).best()


def text_of(data: bytes) -> tuple[str, str]:
    """The text, and how its charset is called if that is a guess. What does not fit is replaced, never refused."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.decode(name, "replace"), ""
    if wide := _wide(data[:SAMPLE]):
        return data.decode(wide, "replace"), wide.upper()
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        name = _guessed(_whole_lines(data[:SAMPLE]) if len(data) > SAMPLE else data)
        return data.decode(name, "replace"), _NAMES.get(name, name)


def is_text(data: bytes, *, is_table: bool) -> bool:
    """Whether it begins like text, in whatever charset; in UTF-16 without its mark only where a name says so."""
    head = data[:8192]
    return b"\x00" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff")) or (is_table and bool(_wide(head)))


def _wide(data: bytes) -> str:
    """UTF-16 without its mark: every other byte of plain letters, commas and line ends is 0."""
    even, odd = data[0::2], data[1::2]
    if len(odd) < 4:
        return ""
    for name, zeros, letters in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros.count(0) > max(0.3 * len(zeros), 4 * letters.count(0)):
            try:
                data[: len(data) // 2 * 2].decode(name)
            except UnicodeDecodeError:
                continue
            return name
    return ""


def _guessed(data: bytes) -> str:
    runs = _HIGH.findall(data)
    high = sum(map(len, runs))
    letters = high + sum(map(len, re.findall(rb"[A-Za-z]+", data)))
    plain = data.decode("cp1252", "replace")
    if high < FEW * letters and max(map(len, runs)) <= RUN:
        if _TURKISH.search(plain):
            return "cp1254"
        if not _IN_A_WORD.search(plain) and not _CZECH.search(plain):
            return "cp1252"
    elif eastern := _eastern(data):
        return eastern
    best = charset_normalizer.from_bytes(data, cp_isolation=CHARSETS).best()
    if best is None:
        return "cp1252"
    if best.encoding == "cp1252" and _CZECH.search(plain):
        return "cp1250"
    return _of_three(runs, high) if best.encoding in ("cp1251", "koi8_r", "cp1255") else str(best.encoding)


def _of_three(runs: list[bytes], high: int) -> str:
    """Two of Cyrillic letters and one of Hebrew, by where their small letters stand."""
    if sum(0xC0 <= byte <= 0xDF for run in runs for byte in run) > high / 2:
        return "koi8_r"
    return "cp1255" if all(0xE0 <= byte <= 0xFA for run in runs for byte in run) else "cp1251"


def _eastern(data: bytes) -> str:
    """The charset of East Asia in which nearly all letters are common ones, or "". In others they are rare ones."""
    scores: list[tuple[float, str]] = []
    for name, base, first, last in _COMMON:
        try:
            letters = [letter for letter in data.decode(name)[:LETTERS] if letter > "\x7f"]
        except UnicodeDecodeError:
            continue
        if any("\ue000" <= letter <= "\uf8ff" for letter in letters):
            continue  # a letter that only a maker has
        kana = sum("\u3040" <= letter < "\u3100" or "\uff61" <= letter < "\uffa0" for letter in letters)
        common = sum(first <= letter.encode(base, "ignore")[:1] <= last for letter in letters)
        own = kana if base == "euc_jp" else 0
        scores.append(((common + own) / max(1, len(letters)), name))
    best = max(scores, default=(0.0, ""), key=lambda one: one[0])
    return best[1] if best[0] > COMMON else ""


def _whole_lines(data: bytes) -> bytes:
    """Up to a line end: a letter of two bytes is not cut."""
    return data[: data.rfind(b"\n") + 1] or data
