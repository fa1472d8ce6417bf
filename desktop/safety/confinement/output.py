"""What a process wrote, as text of bounded size (R-TMO-5, R-TMO-6, R-TMO-8)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Literal

HARD_CAP_FACTOR = 10
_NOTICE_ROOM = 160
_BESIDE = 1 << 16
"""Bytes kept beyond the limit, so that a secret at the cut is whole when it is masked."""

_ANSI = re.compile(
    r"""\x1b(?:
        \[[0-?]*[ -/]*[@-~]                 # CSI: colours, cursor
        | \][^\x07\x1b]*(?:\x07|\x1b\\)?    # OSC: titles, links
        | [PX^_][^\x1b]*(?:\x1b\\)?         # DCS, SOS, PM, APC
        | [ -/]*[0-~]                       # the short ones
    )?
    | \x9b[0-?]*[ -/]*[@-~]""",
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Without escape sequences and control characters other than tab, newline and carriage return."""
    return _CONTROL.sub("", _ANSI.sub("", text))


def upright(text: str) -> str:
    """The same, also without the signs that turn the order of what follows round: for what a stranger wrote."""
    return _TURNING.sub("", plain(text))


class OutputCollector:
    """Takes bytes as they come and keeps a bounded part. Not for two threads at once."""

    def __init__(
        self, limit: int, keep: Literal["head", "tail"], mask: Callable[[str], str] = lambda text: text
    ) -> None:
        self.total = 0
        self._mask = mask
        self._limit = max(limit, 2 * _NOTICE_ROOM)
        self._keep = keep
        self._kept = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def over_hard_cap(self) -> bool:
        """From here on nothing is passed on any more, only counted (R-TMO-6)."""
        return self.total > HARD_CAP_FACTOR * self._limit

    def feed(self, chunk: bytes) -> str:
        """Keep what is to be kept; returns the text for live progress, "" beyond the hard cap."""
        self.total += len(chunk)
        if self._keep == "head":
            self._kept += chunk[: max(0, self._limit + _BESIDE - len(self._kept))]
        else:
            self._kept += chunk
            if len(self._kept) > 2 * (self._limit + _BESIDE):
                del self._kept[: len(self._kept) - self._limit - _BESIDE]
        return "" if self.over_hard_cap else plain(self._decoder.decode(chunk))

    def text(self) -> tuple[str, bool]:
        """The clean text, and whether it was cut; with its notice never more than the limit in bytes."""
        clean = self._mask(plain(bytes(self._kept).decode("utf-8", "replace")))
        raw = clean.encode()
        if self.total <= self._limit and len(raw) <= self._limit:
            return clean, False
        return self._with_notice(raw), True  # replacement characters are longer than what they stand for

    def _with_notice(self, raw: bytes) -> str:
        kept = _clean_cut(raw, self._limit - _NOTICE_ROOM, self._keep)
        end = "first" if self._keep == "head" else "last"
        size = len(kept.encode())
        return f"{kept}\n[Output cut: {self.total} bytes were written, the {end} {size} bytes are shown.]"


def _clean_cut(raw: bytes, size: int, keep: Literal["head", "tail"]) -> str:
    """At most ``size`` bytes of one end of valid UTF-8, cut between characters."""
    part = raw[:size] if keep == "head" else raw[-size:]
    return part.decode("utf-8", "ignore")
