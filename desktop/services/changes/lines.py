"""Lines of two versions compared, and a change taken out of a text that went on since. Pure.

Lines are bytes with their ends, so that whatever ends they have, and whatever encoding, every byte stays as it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import difflib
else:
    difflib = lazy_module("difflib")

Lines = Sequence[bytes]
MAX_TEXT = 4_000_000
"""Bytes of a text whose lines are compared; a longer one counts as one piece."""
_PAIRS = 20_000
"""Pairs of equal lines up to which a stretch without unique lines is looked at closely."""


class Hunk(NamedTuple):
    """Lines ``start`` to ``end`` of the old text became lines ``new_start`` to ``new_end`` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def lines_of(content: bytes) -> list[bytes] | None:
    """The lines of a text with their ends; None for what is no text, or too long a one."""
    if len(content) > MAX_TEXT or b"\0" in content:
        return None
    return content.splitlines(keepends=True) if b"\r" not in content else _split(content)


def _split(content: bytes) -> list[bytes]:
    """By line feeds alone: a carriage return belongs to the line that it stands in."""
    parts = content.split(b"\n")
    found = [part + b"\n" for part in parts[:-1]]
    return [*found, parts[-1]] if parts[-1] else found


def hunks(old: Lines, new: Lines) -> list[Hunk]:
    """What differs, in order; between two hunks there is at least one equal line."""
    found, at, new_at = list[Hunk](), 0, 0
    for start, new_start, length in (*_joined(_equal(old, new)), (len(old), len(new), 0)):
        if start > at or new_start > new_at:
            found.append(Hunk(at, start, new_at, new_start))
        at, new_at = start + length, new_start + length
    return found


def counts(old: bytes, new: bytes) -> tuple[int, int]:
    """How many lines came and went; (0, 0) where that cannot be told."""
    before, after = lines_of(old), lines_of(new)
    if before is None or after is None:
        return 0, 0
    found = hunks(before, after)
    return sum(one.new_end - one.new_start for one in found), sum(one.end - one.start for one in found)


def _joined(blocks: Iterator[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Blocks of equal lines that follow each other without a gap, as one."""
    held: tuple[int, int, int] | None = None
    for start, new_start, length in blocks:
        if held and (held[0] + held[2], held[1] + held[2]) == (start, new_start):
            held = (held[0], held[1], held[2] + length)
            continue
        if held:
            yield held
        held = (start, new_start, length)
    if held:
        yield held


def _equal(old: Lines, new: Lines) -> Iterator[tuple[int, int, int]]:
    """Stretches of equal lines, in order: what is the same at both ends, lines that stand once in each, and then what
    lies between them."""
    waiting = [(0, len(old), 0, len(new), True)]
    while waiting:
        start, end, new_start, new_end, whole = waiting.pop()
        if not whole:
            yield start, new_start, end - start
            continue
        head = 0
        while start + head < end and new_start + head < new_end and old[start + head] == new[new_start + head]:
            head += 1
        tail = 0
        while (
            end - tail > start + head
            and new_end - tail > new_start + head
            and old[end - tail - 1] == new[new_end - tail - 1]
        ):
            tail += 1
        if head:
            yield start, new_start, head
        if tail:
            waiting.append((end - tail, end, new_end - tail, new_end, False))
        waiting += reversed(_between(old, new, (start + head, end - tail, new_start + head, new_end - tail)))


_Stretch = tuple[int, int, int, int, bool]


def _between(old: Lines, new: Lines, stretch: tuple[int, int, int, int]) -> list[_Stretch]:
    """A stretch without equal ends, as parts: those that are equal, and those that are still to be looked at."""
    start, end, new_start, new_end = stretch
    if start == end or new_start == new_end:
        return []
    anchors = _anchors(old, new, stretch) or _closely(old, new, stretch)
    if not anchors:
        return []
    parts, at, new_at = list[_Stretch](), start, new_start
    for place, new_place, length in anchors:
        parts += [(at, place, new_at, new_place, True), (place, place + length, new_place, new_place + length, False)]
        at, new_at = place + length, new_place + length
    return [*parts, (at, end, new_at, new_end, True)]


def _anchors(old: Lines, new: Lines, stretch: tuple[int, int, int, int]) -> list[tuple[int, int, int]]:
    """Lines that stand once on each side, as many as keep their order."""
    start, end, new_start, new_end = stretch
    once, new_once = Counter(old[start:end]), Counter(new[new_start:new_end])
    places = {old[at]: at for at in range(start, end) if once[old[at]] == 1}
    pairs = [(places[new[at]], at) for at in range(new_start, new_end) if new_once[new[at]] == 1 and new[at] in places]
    return [(place, at, 1) for place, at in _rising(pairs)]


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest choice of pairs, which rise in their second numbers, that rises in the first ones, too."""
    ends, tops, before = list[int](), list[int](), list[int]()
    for number, (place, _) in enumerate(pairs):
        at = bisect_left(ends, place)
        ends[at : at + 1], tops[at : at + 1] = [place], [number]
        before.append(tops[at - 1] if at else -1)
    found, number = list[tuple[int, int]](), tops[-1] if tops else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _closely(old: Lines, new: Lines, stretch: tuple[int, int, int, int]) -> list[tuple[int, int, int]]:
    start, end, new_start, new_end = stretch
    mine, theirs = Counter(old[start:end]), Counter(new[new_start:new_end])
    if sum(count * theirs[line] for line, count in mine.items()) > _PAIRS:
        return []
    matcher = difflib.SequenceMatcher(None, old[start:end], new[new_start:new_end], autojunk=False)
    return [(start + a, new_start + b, n) for a, b, n in matcher.get_matching_blocks() if n]


# -- taking a change out ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LeftLines:
    """Lines of a change that stay as they are now, because somebody changed them since."""

    change: Hunk
    """Which lines of the changed text, and what they were before."""
    first: int
    """The first of these lines as the text is now, from 1."""
    last: int
    """The last one; smaller than ``first`` where they are gone."""


@dataclass(frozen=True, slots=True)
class TakenOut:
    """A text without a change that was made in it earlier."""

    lines: tuple[bytes, ...]
    """The text."""
    taken: int
    """How many places were set back."""
    left: tuple[LeftLines, ...]
    """Places that were not."""


def take_out(before: Lines, after: Lines, now: Lines) -> TakenOut:
    """``now`` without what made ``after`` of ``before``. Where nobody changed the same lines since, each is set back
    by itself; the others stay as they are and are told."""
    since = hunks(after, now)
    made: list[bytes] = []
    left: list[LeftLines] = []
    taken, at, shift = 0, 0, _Shift(since)
    for change in _line_by_line(hunks(after, before)):
        start, end = shift.of(change)
        if any(touches(change, other) for other in shift.near):
            if list(now[start:end]) != list(before[change.new_start : change.new_end]):
                left.append(LeftLines(change, start + 1, end))
            continue
        made += [*now[at:start], *before[change.new_start : change.new_end]]
        at, taken = end, taken + 1
    return TakenOut((*made, *now[at:]), taken, tuple(left))


def touches(one: Hunk, other: Hunk) -> bool:
    """Whether two changes of the same text are about the same lines. Beside each other they are not, unless one of
    them only puts in lines: then nobody can say which come first."""
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


def _line_by_line(found: Sequence[Hunk]) -> Iterator[Hunk]:
    """Where as many lines came as went, each line is a change of its own."""
    for one in found:
        if one.end - one.start != one.new_end - one.new_start:
            yield one
            continue
        for number in range(one.end - one.start):
            start, new_start = one.start + number, one.new_start + number
            yield Hunk(start, start + 1, new_start, new_start + 1)


class _Shift:
    """Where lines of an old text are in a new one; asked for in order."""

    def __init__(self, since: Sequence[Hunk]) -> None:
        self._since = since
        self._at = 0
        self.near: list[Hunk] = []
        """The changes around the lines that were asked for last."""

    def of(self, lines: Hunk) -> tuple[int, int]:
        """Where the lines are now; of those that were changed, what they became."""
        while self._at < len(self._since) and self._since[self._at].end < lines.start:
            self._at += 1
        self.near = []
        for other in self._since[self._at :]:
            if other.start > lines.end:
                break
            self.near.append(other)
        return self._now(lines.start, first=True), self._now(lines.end, first=False)

    def _now(self, line: int, *, first: bool) -> int:
        """Where a border between lines is now."""
        shift = 0
        if self._at:
            last = self._since[self._at - 1]
            shift = last.new_end - last.end
        for other in self.near:
            if other.end <= line and not (other.start == other.end == line and first):
                shift = other.new_end - other.end
            elif other.start < line:
                return other.new_start if first else other.new_end
        return line + shift
