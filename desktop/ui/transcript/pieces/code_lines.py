"""JavaScript cut into chunks of some lines, each with its colours and its lines' numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.transcript.colours.highlight import Span, highlight
from desktop.ui.transcript.pieces.text_box import TextBox


@dataclass(frozen=True, slots=True)
class Chunk:
    """``first`` is the number of its first line; ``starts`` where each line begins in ``text``."""

    first: int
    text: str
    starts: tuple[int, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class LineNumbers:
    """The line numbers beside a chunk that is laid out at ``y``."""

    first: int
    starts: tuple[int, ...]
    box: TextBox
    y: float

    def rows(self) -> Iterator[tuple[int, float, float]]:
        """(number, top, bottom) of each line; a long one takes several rows of the box."""
        tops = [self.y + self.box.cursor_rect(start).y() for start in self.starts]
        bottoms = [*tops[1:], self.y + self.box.height]
        for place, (top, bottom) in enumerate(zip(tops, bottoms, strict=True)):
            yield self.first + place, top, bottom


def numbered(lines: Sequence[str], maximum: int) -> Iterator[Chunk]:
    """The lines in chunks of at most ``maximum``; what is open at a chunk's end goes on in the next."""
    state = ""
    for first in range(0, len(lines), maximum):
        part = lines[first : first + maximum]
        text = "\n".join(part)
        spans, state = highlight("javascript", text, state)
        starts, at = [], 0
        for line in part:
            starts.append(at)
            at += len(line) + 1
        yield Chunk(first + 1, text, tuple(starts), tuple(spans))
