"""Where the old texts of edits are in a file, and the text with all of them made. Pure; line ends are one character."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words
from desktop.tools.builtin.edits.encoded import EncodedText
from desktop.tools.builtin.edits.nearest import nearest_words

MAX_PLACES = 10_000
"""Places of all edits together."""
_NAMED = 12
_PROBLEMS = 8


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One change that a model asked for."""

    old: str
    new: str
    all: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TextEdit:
        """An edit as it stands in the arguments; ends of lines are one character."""
        old, new = str(given.get("old", "")), str(given.get("new", ""))
        return cls(old.replace("\r\n", "\n"), new.replace("\r\n", "\n"), given.get("all") is True)


@dataclass(frozen=True, slots=True)
class EditPlace:
    """One place that an edit changes."""

    number: int
    """The edit's number, from 1."""
    start: int
    """Where its old text begins, in characters."""
    end: int
    """Where it ends."""
    first: int
    """The line on which it begins, from 1."""
    last: int
    """The line on which it ends."""


class CannotEdit(Exception):
    """Nothing can be changed; the message says of each edit what is wrong with it."""


class Lines:
    """Finds the line of a place without going through the text again."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(end.end() for end in re.finditer("\n", text))]

    def at(self, place: int) -> int:
        """The line that holds this character, from 1."""
        return bisect_right(self._starts, place)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The first and last line of a stretch that is not empty."""
        return self.at(start), self.at(max(start, end - 1))

    def start_of(self, line: int) -> int:
        """Where a line begins."""
        return self._starts[min(max(line, 1), len(self._starts)) - 1]

    @property
    def count(self) -> int:
        """How many lines begin in the text, one that is empty at its end included."""
        return len(self._starts)


def find_places(text: str, edits: Sequence[TextEdit], *, quotes: bool = True) -> list[EditPlace]:
    """All places, from the top of the file down. Raises CannotEdit for edits that are not found, are found more than
    once without ``all``, change nothing, or overlap; not ``quotes``: it says nothing of what else is in the file."""
    lines = Lines(text)
    places: list[EditPlace] = []
    problems: list[str] = []
    for number, edit in enumerate(edits, 1):
        problem = _unusable(edit)
        starts = [] if problem else _starts(text, edit)
        if not problem and not starts:
            problem = _missing(text, edit, edits[: number - 1], quotes=quotes)
        elif len(starts) > 1 and not edit.all:
            problem = _ambiguous(starts, lines)
        if problem:
            problems.append(f"Edit {number}: {problem}")
            continue
        places += [EditPlace(number, at, at + len(edit.old), *lines.span(at, at + len(edit.old))) for at in starts]
        if len(places) > MAX_PLACES:
            raise CannotEdit(f"The edits change more than {MAX_PLACES:,} places; use fewer, or write the whole file.")
    places.sort(key=lambda place: (place.start, place.end))
    problems += _overlaps(places)
    if problems:
        more = len(problems) - _PROBLEMS
        said = problems[:_PROBLEMS] + ([f"And {count_words(more, 'more problem')} like these."] if more > 0 else [])
        raise CannotEdit("\n".join(said))
    return places


def _unusable(edit: TextEdit) -> str:
    if not edit.old:
        return (
            "old is empty. To insert, give a line that is there as old, and that line with the addition as new; a new "
            "file is made with write_file."
        )
    if edit.old == edit.new:
        return "old and new are the same text, so nothing would change (line ends always stay as the file has them)."
    return ""


def _starts(text: str, edit: TextEdit) -> list[int]:
    """Where the old text begins. One that overlaps itself counts at each place, unless all of them are wanted."""
    found: list[int] = []
    step = len(edit.old) if edit.all else 1
    at = text.find(edit.old)
    while at >= 0 and len(found) <= MAX_PLACES:
        found.append(at)
        at = text.find(edit.old, at + step)
    return found


def _ambiguous(starts: Sequence[int], lines: Lines) -> str:
    named = [str(lines.at(start)) for start in starts[:_NAMED]]
    where = ", ".join(named) + (" and more" if len(starts) > _NAMED else "")
    often = f"{len(starts):,}" if len(starts) <= MAX_PLACES else f"more than {MAX_PLACES:,}"
    return (
        f"old is in the file {often} times, at lines {where}. Add lines around it until it is there once, or set all "
        "to true to change every one."
    )


def _missing(text: str, edit: TextEdit, before: Sequence[TextEdit], *, quotes: bool) -> str:
    for number, other in enumerate(before, 1):
        if edit.old in other.new:
            return (
                f"old is not in the file, but in the new text of edit {number}. All edits are made in the file as it "
                "is now: put both into one edit."
            )
    return f"old is not in the file. {nearest_words(text, edit.old) if quotes else 'Read the file first.'}"


def _overlaps(places: Sequence[EditPlace]) -> list[str]:
    """Each pair of edits once, however often they meet."""
    found: dict[tuple[int, int], str] = {}
    furthest: EditPlace | None = None
    for place in places:
        if furthest is not None and place.start < furthest.end:
            pair = (min(place.number, furthest.number), max(place.number, furthest.number))
            lines = _lines_words(place.first, min(place.last, furthest.last))
            found.setdefault(pair, f"Edits {pair[0]} and {pair[1]} overlap at {lines}: put them into one edit.")
        if furthest is None or place.end > furthest.end:
            furthest = place
    return list(found.values())


def _lines_words(first: int, last: int) -> str:
    return f"line {first}" if last <= first else f"lines {first} to {last}"


def apply(file: EncodedText, edits: Sequence[TextEdit], places: Sequence[EditPlace]) -> str:
    """The text of the file with all edits made, with its own line ends; what no edit covers stays as it is."""
    usual = "\r\n" if 2 * len(file.folded) > file.plain.count("\n") else "\n"
    pieces: list[str] = []
    done = 0
    for place in places:
        pieces.append(file.raw[done : file.raw_at(place.start)])
        pieces.append(_with_ends(file, place, edits[place.number - 1].new, usual))
        done = file.raw_at(place.end)
    pieces.append(file.raw[done:])
    return "".join(pieces)


def _with_ends(file: EncodedText, place: EditPlace, new: str, usual: str) -> str:
    """A new text with the line ends of what it replaces, one by one; further ones as the last of these, or as the line
    on which it stands has it."""
    if not file.folded or "\n" not in new:
        return new
    ends = [file.end_at(found.start()) for found in re.compile("\n").finditer(file.plain, place.start, place.end)]
    if not ends:
        after = file.plain.find("\n", place.end)
        ends = [file.end_at(after) if after >= 0 else usual]
    lines = new.split("\n")
    return "".join(line + ends[min(at, len(ends) - 1)] for at, line in enumerate(lines[:-1])) + lines[-1]
