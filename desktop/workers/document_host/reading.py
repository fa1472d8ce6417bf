"""What the readers of all kinds of documents have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from desktop.domain.files.documents import Box
from desktop.domain.text.hidden_characters import HIDDEN
from desktop.workers.document_host import limits
from desktop.workers.inside import CallError

_BLANKS = re.compile(r"[ \t\r\n\f\v\x00]+")


class DocumentFile:
    """A document that is open: so many parts, each of them lines of Markdown, some of them pictures, too.

    Lines are made when they are asked for, so that a sheet with a million rows is never held whole.
    """

    kind = ""
    """What a person calls it."""
    unit = "part"
    """What its parts are: page, sheet, slide, chapter, cell, or part where it has nothing of its own."""
    pictures = False
    """Whether its parts can be drawn."""

    def __init__(self) -> None:
        self.title = ""
        self.notes: list[str] = []
        self.names: list[str] = []
        """Of parts that have names of their own."""

    @property
    def count(self) -> int:
        """How many parts."""
        return len(self.names)

    def lines(self, part: int) -> Iterator[str]:
        """A part, from 1."""
        raise NotImplementedError

    def from_line(self, part: int, line: int) -> Iterator[tuple[int, str]]:
        """A part from one of its lines on (from 1), each with its number: without empty lines at its ends, and never
        more than one in a row."""
        numbered = enumerate(compact(self.lines(part)), 1)
        return ((number, text) for number, text in numbered if number >= line)

    def picture(self, part: int, width: int) -> bytes:
        """A part as a picture (PNG)."""
        raise CallError("document.no_picture", f"A part of {a_kind(self.kind)} has no picture.")

    def marks(self, part: int, words: str, *, cited: bool) -> list[list[Box]]:
        """Where on the picture of a part these words stand; ``cited``: the passage that says what they say. Each place
        is the boxes of its lines."""
        return []

    def is_scan(self, part: int) -> bool:
        """Whether a part has a picture and no text that could be read."""
        return False

    def note(self, text: str) -> None:
        """Say something about the document that is no text of it."""
        if len(self.notes) < limits.NOTES and text not in self.notes:
            self.notes.append(text)


class FlowDocument(DocumentFile):
    """A document that was read whole: paragraphs, cut into parts where a page ends or enough has come together."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[list[str]] = [[]]
        self._size = self._held = 0
        self._paged = self._continued = False

    @property
    def count(self) -> int:
        return len(self._parts)

    def lines(self, part: int) -> Iterator[str]:
        yield from self._parts[part - 1]

    def add(self, block: str) -> None:
        """One more paragraph, table or heading."""
        if self._held > limits.TEXT:
            self.note(f"Only the first {limits.TEXT:,} characters were read.")
            return
        if not self._paged and self._size + len(block) > limits.FLOW and self._size:
            self._begin()
        part, continues = self._parts[-1], _continues(block)
        if part and not (continues and self._continued):
            part.append("")
        part += block.split("\n")
        self._continued = continues
        self._size += len(block)
        self._held += len(block)

    def page_ends(self) -> None:
        """Here a page ends, by what the program that wrote the document says."""
        if not self._paged:  # parts that were cut by size are no pages
            self._parts = [[line for part in self._parts for line in ("", *part)][1:]]
            self._paged, self.unit = True, "page"
        self._begin()

    def _begin(self) -> None:
        self._parts.append([])
        self._size = 0


def compact(lines: Iterable[str]) -> Iterator[str]:
    """Without empty lines at the ends and more than one in a row, and without characters that draw nothing."""
    gap = begun = False
    for line in lines:
        line = HIDDEN.sub(lambda odd: " " if odd[0].isspace() else "", line).rstrip()
        if not line:
            gap = begun
            continue
        if gap:
            yield ""
        begun, gap = True, False
        yield line


def _continues(block: str) -> bool:
    """Whether it is an item of a list, of which the next follows at once."""
    first = block.lstrip().split(" ", 1)[0]
    return first == "-" or (first.endswith(".") and first[:-1].isdigit())


def one_line(text: str) -> str:
    """A text on one line, without characters that draw nothing."""
    return _BLANKS.sub(" ", HIDDEN.sub(lambda odd: " " if odd[0].isspace() else "", text)).strip()


def cell_text(text: str) -> str:
    """A text as a cell of a table."""
    return one_line(text[: limits.CELL]).replace("\\", "\\\\").replace("|", "\\|")


def table_rows(rows: Iterable[Iterable[str]]) -> str:
    """A table; its first row is its head."""
    made = [f"| {' | '.join(cell_text(cell) for cell in row)} |" for row in rows]
    if made:
        made.insert(1, "|" + " --- |" * max(1, made[0].count(" | ") + 1))
    return "\n".join(made)


def hidden(what: str, text: str) -> str:
    """Text that a reader of the document does not see, so that it cannot pass for what they read."""
    words = one_line(text)
    return f"[{what}: {words}]" if words else ""


def a_kind(kind: str) -> str:
    """``a PDF``, ``an EPUB book``."""
    return f"{'an' if kind[:1] in 'AEIOUX' and not kind.startswith('EU') else 'a'} {kind}"


def broken(kind: str) -> CallError:
    """It is not what it says it is."""
    return CallError("document.broken", f"It begins like {a_kind(kind)}, but is damaged or cut off.")
