"""What a request shows of edits: each of them with the lines around it, and the file before and after. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from desktop.domain.text.words import count_words
from desktop.tools.builtin.edits.encoded import EncodedText
from desktop.tools.builtin.edits.places import EditPlace, Lines, TextEdit

PREVIEW_BYTES = 200_000
"""Most bytes of the file before and after; and, in all, of the edits shown one by one."""
MAX_SHOWN = 300
"""Most places shown one by one."""
_AROUND = 2
"""Lines shown around an edit."""
_AROUND_ALL = 3


def preview_of(
    path: str, file: EncodedText, edits: Sequence[TextEdit], places: Sequence[EditPlace], after: str
) -> dict[str, Any]:
    """As ``write-file`` shows a change, with ``edits`` one by one. ``first_line`` is where ``before`` and ``after``
    begin: of a large file only the part that changes is shown. ``notes`` say what is not shown."""
    notes: list[str] = []
    lines = Lines(file.plain)
    shown, room = [], PREVIEW_BYTES
    shift = 0
    for place in places[:MAX_SHOWN]:
        one = _one(file.plain, lines, place, edits[place.number - 1], shift)
        room -= len(one["before"]) + len(one["after"])
        if room < 0:
            break
        shown.append(one)
        shift += edits[place.number - 1].new.count("\n") - file.plain.count("\n", place.start, place.end)
    if len(shown) < len(places):
        notes.append(f"{count_words(len(places) - len(shown), 'more place')} that it changes")
    first, before, then = _part(file, lines, places, after)
    for text, name in ((before, "present"), (then, "new")):
        if len(text) > PREVIEW_BYTES:
            notes.append(f"the {name} text beyond its beginning")
    return {
        "kind": "diff",
        "path": path,
        "before": before[:PREVIEW_BYTES],
        "after": then[:PREVIEW_BYTES],
        "new": False,
        "notes": notes,
        "first_line": first,
        "edits": shown,
        "edit_count": len(edits),
        "places": len(places),
    }


def _one(text: str, lines: Lines, place: EditPlace, edit: TextEdit, shift: int) -> dict[str, Any]:
    """One place before and after, in whole lines, with the lines around it."""
    start = lines.start_of(place.first - _AROUND)
    stop = lines.start_of(place.last + 1 + _AROUND) if place.last + _AROUND < lines.count else len(text)
    line = max(1, place.first - _AROUND)
    return {
        "number": place.number,
        "all": edit.all,
        "first": place.first,
        "last": place.last,
        "line": line,
        "new_line": line + shift,
        "before": text[start:stop],
        "after": text[start : place.start] + edit.new + text[place.end : stop],
    }


def _part(file: EncodedText, lines: Lines, places: Sequence[EditPlace], after: str) -> tuple[int, str, str]:
    """The whole file before and after, or of a large one the part that changes; and the line that it begins on."""
    if len(file.raw) <= PREVIEW_BYTES and len(after) <= PREVIEW_BYTES:
        return 1, file.raw, after
    first = max(1, places[0].first - _AROUND_ALL)
    last = max(place.last for place in places) + 1 + _AROUND_ALL
    start = file.raw_at(lines.start_of(first))
    tail = len(file.raw) - (file.raw_at(lines.start_of(last)) if last <= lines.count else len(file.raw))
    return first, file.raw[start : len(file.raw) - tail], after[start : len(after) - tail]
