"""What is taken of an answer: how it may be packed, and how long it, its lines and its events may be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from desktop.workers.inflating import INFLATERS, BadPacking, Inflater, unpacked
from desktop.workers.model_host.limits import ENCODINGS_MAX, EVENT_LINES_MAX, LINE_MAX, LINES_MAX, RESPONSE_MAX
from desktop.workers.model_host.refusals import AnswerRefused

_BLANK_LINES = (b"\n\n", b"\r\r", b"\r\n\r\n")
_ENDS = re.compile(rb"(?>(\r\n|[\r\n]))(?>\r\n|[\r\n])+")
_BLANK_RUN = re.compile(rb"(?>(\r\n|[\r\n]))(?>(\r\n|[\r\n]))(?>\r\n|[\r\n])+")


def inflaters(packed: str) -> list[Inflater]:
    """What unpacks an answer with this ``Content-Encoding``. Raises AnswerRefused for one that is not taken."""
    encodings = [name for part in packed.lower().split(",") if (name := part.strip()) not in ("", "identity")]
    if len(encodings) > ENCODINGS_MAX or any(name not in INFLATERS for name in encodings):
        raise AnswerRefused("model.unreadable", f"it is packed in a way that was not asked for ({packed.lower()[:60]})")
    return [Inflater(name) for name in reversed(encodings)]


def pieces(data: bytes, packing: list[Inflater]) -> Iterator[bytes]:
    """``data`` unpacked, in pieces of a bounded size. Raises AnswerRefused."""
    try:
        yield from unpacked(data, packing)
    except BadPacking:
        raise AnswerRefused("model.unreadable", "it is packed in a broken way") from None


class LineGuard:
    """Counts what comes, and lets whole lines through. ``events``: a reader above collects up to a blank line."""

    def __init__(self, *, events: bool, lines: bool = True, maximum: int = RESPONSE_MAX) -> None:
        self._events, self._by_line, self._maximum = events, lines, maximum
        self._size = 0
        self._line: list[bytes] = []
        self._line_size = 0
        self._tail = b""
        self._count = self._event_size = self._event_lines = 0

    def feed(self, data: bytes) -> bytes:
        """What may go on now. Raises Refused beyond a bound."""
        self._size += len(data)
        if self._size > self._maximum:
            raise AnswerRefused("model.too_large", f"its answer has more than {self._maximum // 1024**2} MB")
        if not self._by_line:
            return data
        self._count += data.count(b"\n") + data.count(b"\r")
        if self._count > LINES_MAX:
            raise AnswerRefused("model.too_large", f"its answer has more than {LINES_MAX:,} lines")
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if not end:
            return self._hold(data)
        whole = self._squeezed(b"".join((*self._line, data[:end])))
        self._line, self._line_size = [], 0
        self._hold(data[end:])
        if self._events:
            self._measure_event(whole, whole.count(b"\n") + whole.count(b"\r"))
        return whole

    def rest(self) -> bytes:
        """A last line without an end."""
        whole, self._line = b"".join(self._line), []
        return whole

    def _squeezed(self, whole: bytes) -> bytes:
        """Without needless blank lines, each of which costs a reader above as much as a message."""
        if not self._events:
            return _ENDS.sub(rb"\1", whole).lstrip(b"\r\n")
        return _BLANK_RUN.sub(rb"\1\2", whole.lstrip(b"\r\n") if self._tail.endswith(_BLANK_LINES) else whole)

    def _hold(self, data: bytes) -> bytes:
        self._line.append(data)
        self._line_size += len(data)
        if self._line_size > LINE_MAX:
            raise AnswerRefused("model.too_large", f"its answer has a line of more than {LINE_MAX // 1024**2} MB")
        return b""

    def _measure_event(self, whole: bytes, ends: int) -> None:
        """What there is since the last blank line."""
        seen = self._tail + whole
        self._tail = seen[-3:]
        blank = max(at + len(end) if (at := seen.rfind(end)) >= 0 else -1 for end in _BLANK_LINES)
        if blank >= 0:
            whole = seen[blank:]
            ends = whole.count(b"\n") + whole.count(b"\r")
            self._event_size = self._event_lines = 0
        self._event_size += len(whole)
        self._event_lines += ends
        if self._event_size > LINE_MAX or self._event_lines > EVENT_LINES_MAX:
            raise AnswerRefused("model.too_large", "its answer has a message without an end")
