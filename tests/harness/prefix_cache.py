"""Counts a request's tokens as Anthropic and Bedrock do: what of it comes from the cache, and what is written to it.

The rule: a request is a row of blocks, tools first, then the system text, then the messages. An entry is made for the
beginning up to each mark, if that has at least 1,024 tokens. What is read is the longest beginning that has an entry
not older than five minutes and ends at a mark, or at most 20 blocks before one; it is as young as ever again. What is
written is the rest up to the last mark. A read token costs a tenth of a plain one, a written one a quarter more. More
than four marks are refused.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LIFE_S = 300.0
SHORTEST = 1024
LOOKS_BACK = 20
MARKS_MAX = 4
READ, WRITE = 0.1, 1.25
CHARACTERS = 4


@dataclass(frozen=True)
class Counted:
    """The tokens of one request's input."""

    plain: int
    read: int
    written: int

    @property
    def whole(self) -> int:
        return self.plain + self.read + self.written

    @property
    def paid(self) -> float:
        """In plain tokens."""
        return self.plain + self.read * READ + self.written * WRITE


class TooManyMarks(ValueError):
    """The request has more than four."""


@dataclass
class PrefixCache:
    """One model's cache: the beginnings that it knows, and when each was used last."""

    entries: dict[str, float] = field(default_factory=dict)

    def count(self, body: Mapping[str, Any], now: float) -> Counted:
        """Take a request. Raises TooManyMarks."""
        ends, marks = _boundaries(body)
        if len(marks) > MARKS_MAX:
            raise TooManyMarks(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
        tokens = [size // CHARACTERS for _, size in ends]
        read_to = max((at for mark in marks for at in self._known(ends, mark, now)), default=-1)
        marks = [at for at in marks if tokens[at] >= SHORTEST]
        for at in [*marks, read_to] if read_to >= 0 else marks:
            self.entries[ends[at][0]] = now
        read = tokens[read_to] if read_to >= 0 else 0
        written = max(0, tokens[marks[-1]] - read) if marks else 0
        return Counted(tokens[-1] - read - written, read, written)

    def _known(self, ends: list[tuple[str, int]], mark: int, now: float) -> Iterator[int]:
        for at in range(mark, max(-1, mark - LOOKS_BACK), -1):
            if now - self.entries.get(ends[at][0], -LIFE_S - 1) <= LIFE_S:
                yield at


def _boundaries(body: Mapping[str, Any]) -> tuple[list[tuple[str, int]], list[int]]:
    """After each block: a digest of all before it with the characters so far; and the places with a mark."""
    digest, size = hashlib.sha256(), 0
    ends: list[tuple[str, int]] = []
    marks: list[int] = []
    for block, marked in blocks_of(body):
        if block:
            written = json.dumps(block, sort_keys=True, ensure_ascii=False)
            digest.update(written.encode())
            size += len(written)
            ends.append((digest.hexdigest(), size))
        if marked and ends:
            marks.append(len(ends) - 1)
    return ends, marks


def blocks_of(body: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
    """The blocks of a request in the order in which they are read, each without its mark, and whether it has one. At
    Bedrock a mark is a block of its own."""
    tools = body.get("tools") or (body.get("toolConfig") or {}).get("tools") or []
    system = body.get("system") or []
    yield from map(_apart, tools)
    yield from map(_apart, [{"type": "text", "text": system}] if isinstance(system, str) else system)
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block, marked in map(_apart, parts):
            yield ([message["role"], block] if block else None), marked


def _apart(block: Mapping[str, Any]) -> tuple[dict[str, Any] | None, bool]:
    if "cachePoint" in block:
        return None, True
    return {name: value for name, value in block.items() if name != "cache_control"}, "cache_control" in block
