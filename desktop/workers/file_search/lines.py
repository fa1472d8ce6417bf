"""Lines of a file in which an expression is found, with the lines around them. Pure over bytes."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

import re2

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.workers.file_search import limits


class BadExpression(Exception):
    """The expression cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class FoundLine:
    """One line that is shown."""

    number: int
    """From 1."""
    text: str
    """As it reads; of a long one a part."""
    found: bool
    """Whether the expression is in it; else it stands beside one that has it."""
    match: int
    """Which one of the file's lines with a match it is, or stands beside, from 1."""


def compiled(pattern: str, *, literal: bool, case: bool) -> Any:
    """An expression that is matched in linear time, line by line. Raises BadExpression."""
    options = re2.Options()
    options.never_nl, options.log_errors, options.never_capture = True, False, True
    options.case_sensitive = case
    options.max_mem = limits.EXPRESSION_MEMORY
    try:
        return re2.compile(f"(?m){re2.escape(pattern) if literal else pattern}", options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        raise BadExpression(said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)) from None


def readable(data: bytes) -> bytes | None:
    """The beginning of a file, or all of it, as UTF-8; None for what is not text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not data.startswith(codecs.BOM_UTF32_LE):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return None if b"\x00" in data[: limits.SNIFF] else data.removeprefix(codecs.BOM_UTF8)


def found_spans(expression: Any, data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Each line with a match: where the line begins and ends, and the match in it."""
    at, size = 0, len(data)
    while at < size:
        match = expression.search(data, at)
        if match is None:
            return
        start, stop = match.span()
        begin = data.rfind(b"\n", at, start) + 1 or at
        if begin >= size:
            return
        end = data.find(b"\n", start)
        end = size if end < 0 else end
        yield begin, end, start, min(stop, end)
        at = end + 1


def shown_line(data: bytes, begin: int, end: int, start: int = 0, stop: int = 0) -> str:
    """A line as text: of one that is too long, the part around the match."""
    if end - begin <= limits.LINE:
        return data[begin:end].removesuffix(b"\r").decode("utf-8", "replace")
    if stop <= start:
        start = stop = begin
    first = max(begin, min(start - limits.LINE // 4, end - limits.LINE))
    last = min(end, first + limits.LINE)
    text = data[first:last].decode("utf-8", "ignore")
    return f"{'…' if first > begin else ''}{text}{'…' if last < end else ''}"


class LineCollector:
    """Collects the lines of one file, block by block; one that stands beside two others comes once."""

    def __init__(self, context: int) -> None:
        self._context = context
        self._number = 1
        self.lines: list[FoundLine] = []
        self.found = 0
        """How many lines had a match so far."""
        self.size = 0
        """Characters of all lines so far."""

    def collect(self, expression: Any, data: bytes, most: int) -> None:
        """The lines of the next block, until ``most`` of the file had a match."""
        counted, number, shown_to = 0, self._number, 0
        for begin, end, start, stop in found_spans(expression, data):
            if self.found >= most or self.size > limits.OUTPUT:
                break
            number += data.count(b"\n", counted, begin)
            counted = begin
            self.found += 1
            self._before(data, begin, number, shown_to)
            self._add(number, shown_line(data, begin, end, start, stop), found=True)
            shown_to = self._after(expression, data, end + 1, number)
        self._number += data.count(b"\n")

    def _add(self, number: int, text: str, *, found: bool) -> None:
        self.lines.append(FoundLine(number, text, found, self.found))
        self.size += len(text)

    def _before(self, data: bytes, begin: int, number: int, shown_to: int) -> None:
        spans: list[tuple[int, int]] = []
        at = begin
        while len(spans) < self._context and at > shown_to:
            start = data.rfind(b"\n", 0, at - 1) + 1
            spans.append((start, at - 1))
            at = start
        for offset, (start, stop) in enumerate(reversed(spans)):
            self._add(number - len(spans) + offset, shown_line(data, start, stop), found=False)

    def _after(self, expression: Any, data: bytes, at: int, number: int) -> int:
        """The lines after a match, up to the next line with one; where they end."""
        for offset in range(self._context):
            if at >= len(data):
                break
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            if expression.search(data, at, end) is not None:
                break
            self._add(number + 1 + offset, shown_line(data, at, end), found=False)
            at = end + 1
        return at
