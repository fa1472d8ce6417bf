"""The colours of code: which stretch of it is what."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from desktop.domain.errors import BugError
from desktop.domain.loading.lazy_dataclass import dataclass

CodeRole = Literal["keyword", "name", "string", "number", "comment", "inserted", "deleted"]
"""What a stretch of code is; the theme has a colour for each. What is none of these has the colour of text."""
CODE_ROLES: tuple[CodeRole, ...] = get_args(CodeRole)
CODE_LONGEST = 120_000
"""Characters of code that are coloured; what is longer stays in one colour."""
_SPAN = 8
"""Bytes of a span: 28 bits where it begins, 28 how long it is, 8 for its role. So they sort by where they begin."""


@dataclass(frozen=True, slots=True)
class ColourSpans:
    """The colours of one text, packed: tens of thousands of spans take as long to receive as ten."""

    spans: bytes = b""

    @classmethod
    def packed(cls, spans: Iterable[tuple[int, int, CodeRole]]) -> ColourSpans:
        """Of (start, end, role), in order and not over each other."""
        packed = array("Q")
        for start, end, role in spans:
            if not 0 <= start < end < 1 << 28:
                raise BugError("A stretch of code is empty, or begins nowhere.")
            packed.append(start << 36 | (end - start) << 8 | CODE_ROLES.index(role))
        return cls(packed.tobytes())

    @classmethod
    def received(cls, data: bytes) -> ColourSpans:
        """As another process gives them: whatever is in it, only whole spans are taken."""
        return cls(data[: len(data) // _SPAN * _SPAN])

    def within(self, start: int, end: int) -> Iterator[tuple[int, int, CodeRole]]:
        """The spans of a part of the text, counted from its beginning: in order, inside the part and not over each
        other, whoever packed them."""
        packed = array("Q", self.spans)
        at = start
        for index in range(max(0, bisect_right(packed, start << 36) - 1), len(packed)):
            span = packed[index]
            first, role = span >> 36, span & 0xFF
            if first >= end:
                return
            low, high = max(first, at), min(first + (span >> 8 & 0xFFFFFFF), end)
            if low < high and role < len(CODE_ROLES):
                yield low - start, high - start, CODE_ROLES[role]
                at = high
