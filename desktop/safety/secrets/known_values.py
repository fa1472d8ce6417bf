"""Finds the known secrets in a text, in every writing that ``domain.spellings`` lists, also broken over lines or with
signs between their letters that nobody sees.

Hundreds of values with dozens of writings each are sought at once: of every writing some short pieces are kept, such
that one of them must stand at one of every few places of the text. So a megabyte costs tens of milliseconds, however
many values there are. Writings of 12 characters and more are sought in the text without white space and unseen signs.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator

from desktop.domain.text.secret_encodings import MIN_SECRET, spellings

Span = tuple[int, int]

LONG = 12
"""Characters from which on white space and unseen signs within a writing do not hide it."""
_LINE = 16
_HEAD = 4
_NO_SIGN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
_UNSEEN = re.compile(f"[{_NO_SIGN}]+")
_WHITE = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"
"""All of ASCII that ``str.split`` takes for white space."""
_BETWEEN = rf"(?:[\s{_NO_SIGN}]|\\+[nr])*"
_TOKEN = re.compile(rf"\\+(?P<end>[nr])?|[^\s{_NO_SIGN}]")


class _PieceIndex:
    """Writings of at least ``window`` characters, by their pieces of ``size`` characters: at which offsets a piece
    stands, and which writings begin with certain ``window`` characters."""

    def __init__(self, window: int, size: int) -> None:
        self._window = window
        self._size = size
        self._stride = window - size + 1
        self._offsets: dict[str, tuple[int, ...]] = {}
        self._letters: set[tuple[str, ...]] = set()
        self._beginning: dict[str, tuple[str, ...]] = {}

    def add(self, writing: str) -> None:
        """Look for one more writing of a secret."""
        head = writing[: self._window]
        self._beginning[head] = (*self._beginning.get(head, ()), writing)
        for offset in range(self._stride):
            piece = writing[offset : offset + self._size]
            known = self._offsets.get(piece, ())
            if offset not in known:
                self._offsets[piece] = (*known, offset)
                self._letters.add(tuple(piece))

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Each known writing in the text with its place, as (place, writing)."""
        offsets, size, window = self._offsets, self._size, self._window
        every = [text[at :: self._stride] for at in range(size)] if offsets else []
        if self._letters.isdisjoint(zip(*every, strict=False)):
            return  # the same question as below, for a text in which nothing stands, without a loop in Python
        for place in [i for i in range(0, len(text) - size + 1, self._stride) if text[i : i + size] in offsets]:
            for offset in offsets[text[place : place + size]]:
                at = place - offset
                for writing in self._beginning.get(text[at : at + window], ()) if at >= 0 else ():
                    if text.startswith(writing, at):
                        yield at, writing


class KnownValues:
    """All values known so far. Adding is safe from any thread, also while another one looks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: set[str] = set()
        self._short = _PieceIndex(MIN_SECRET, 3)
        self._long = _PieceIndex(LONG, 5)
        self._heads: dict[str, tuple[str, ...]] = {}
        self._longest = 0

    @property
    def values(self) -> tuple[str, ...]:
        """The values themselves, for what has to look for them elsewhere."""
        return tuple(self._values)

    def add(self, value: str) -> None:
        """Look for this value from now on; one that is too short is not looked for. A value of several lines is also
        known by each of its lines."""
        lines = value.splitlines()
        parts = [line.strip() for line in lines if len(lines) > 1 and not line.startswith("-----")]
        wanted = {value.strip(), *(line for line in parts if len(line) >= _LINE)}
        with self._lock:
            for one in wanted - self._values:
                if len(one) >= MIN_SECRET:
                    self._values.add(one)
                    self._learn(spellings(one))

    def _learn(self, writings: Iterable[str]) -> None:
        for writing in writings:
            close = _close(writing)
            if len(close) >= LONG:
                self._long.add(close)
            else:
                self._short.add(writing)
            for size in range(1, _HEAD):
                self._heads.setdefault(close[:size], ())
            self._heads[close[:_HEAD]] = (*self._heads.get(close[:_HEAD], ()), close)
            self._longest = max(self._longest, len(writing))

    def spans(self, text: str) -> list[Span]:
        """Where values stand, in order; those that overlap are one."""
        if not self._values or len(text) < MIN_SECRET:
            return []
        found = [(at, at + len(writing)) for at, writing in self._short.find(text)]
        close = _close(text)
        hits = list(self._long.find(close))
        if len(close) == len(text):
            found += [(at, at + len(writing)) for at, writing in hits]
        elif hits:
            for writing in {writing for _, writing in hits}:
                found += _places(text, writing, sum(1 for _, hit in hits if hit == writing))
        return merged(found)

    def pending(self, text: str) -> int:
        """Where the longest end of ``text`` begins that a value could begin with, white space within it or not."""
        reach = max(0, len(text) - 2 * self._longest - 64)
        places = [found.start() for found in _TOKEN.finditer(text, reach) if not found["end"]]
        close = "".join(text[at] for at in places)
        if close.endswith("\\"):  # the beginning of an escaped line end, or of something else
            return min(self._first(close, places, len(text)), self._first(close[:-1], places, len(text)))
        return self._first(close, places, len(text))

    def _first(self, close: str, places: list[int], none: int) -> int:
        """Where the longest end of ``close`` that begins a writing stands in the text, or ``none``."""
        heads = self._heads
        for start in range(len(close)):
            known = heads.get(close[start : start + _HEAD])
            if known is None:
                continue
            end = close[start:]
            if len(end) < _HEAD or any(len(w) > len(end) and w.startswith(end) for w in known):
                return places[start]
        return none


def merged(found: Iterable[Span]) -> list[Span]:
    """The spans in order, overlapping ones joined."""
    joined: list[Span] = []
    for start, end in sorted(found):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _close(text: str) -> str:
    """Without white space, unseen signs and the escapes of line ends; what was escaped several times as if once."""
    if text.isascii():
        close = text.encode("ascii").translate(None, _WHITE).decode("ascii")
    else:
        close = _UNSEEN.sub("", "".join(text.split()))
    if "\\" in close:
        while "\\\\" in close:
            close = close.replace("\\\\", "\\")
        close = close.replace("\\n", "").replace("\\r", "")
    return close


def _places(text: str, writing: str, count: int) -> list[Span]:
    """Where a writing stands ``count`` times, white space within it or not."""
    found, at = [], text.find(writing)
    while at >= 0:
        found.append((at, at + len(writing)))
        at = text.find(writing, at + 1)
    if len(found) >= count:
        return found
    pattern = re.compile(_BETWEEN.join(r"\\+" if letter == "\\" else re.escape(letter) for letter in writing))
    at = 0
    while match := pattern.search(text, at):
        found.append(match.span())
        at = match.start() + 1
    return found
