"""The edits of a call as rows: each under a head that says where its old text was found. Without Qt.

What a tool says here it took from a file and from a model: it is checked, and what is not as expected is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words
from desktop.ui.approvals.request.diffing import DiffRow, diff

CHANGED_HEAD = "Changed in the file since you answered"


@dataclass(frozen=True, slots=True)
class ShownEdits:
    """The edits that a request shows one by one."""

    edits: tuple[Mapping[str, Any], ...]
    """Each place: its lines before and after, and where they are."""
    count: int
    """How many edits there are."""
    places: int
    """How many places they change."""
    changed: str
    """What changed in the file since an earlier answer, as lines with signs; or ""."""

    @classmethod
    def of(cls, preview: Mapping[str, Any]) -> ShownEdits | None:
        """Of a request's preview; None where it has no edits."""
        found = preview.get("edits")
        if not isinstance(found, Sequence) or not found:
            return None
        edits = tuple(one for one in found if isinstance(one, Mapping))
        bound = preview.get("bound")
        changed = bound.get("changed") if isinstance(bound, Mapping) else ""
        return cls(edits, _number(preview, "edit_count"), _number(preview, "places"), str(changed or ""))

    @property
    def whole(self) -> bool:
        """Whether every place is among them."""
        return len(self.edits) == self.places

    @property
    def size(self) -> int:
        """Characters in all of them."""
        return sum(len(_text(one, "before")) + len(_text(one, "after")) for one in self.edits)

    @property
    def title(self) -> str:
        """Such as ``2 edits in one file``."""
        where = "" if self.places == self.count else f" at {count_words(self.places, 'place')}"
        return f"{count_words(self.count, 'edit')}{where} in one file"

    def rows(self) -> tuple[tuple[DiffRow, ...], int, int]:
        """The rows, and how many lines come and go."""
        rows, added, removed = list(_changed_rows(self.changed)), 0, 0
        seen: dict[int, int] = {}
        often: dict[int, int] = {}
        for one in self.edits:
            often[_number(one, "number")] = often.get(_number(one, "number"), 0) + 1
        for one in self.edits:
            number = _number(one, "number")
            seen[number] = seen.get(number, 0) + 1
            rows.append(_head(f"Edit {number}", _where(one, seen[number], often[number], whole=self.whole)))
            found = diff(_text(one, "before"), _text(one, "after"), (_number(one, "line"), _number(one, "new_line")))
            rows += [row for row in found.rows if not row.text.startswith("@@ ") or row.kind != "hunk"]
            added, removed = added + found.added, removed + found.removed
        return tuple(rows), added, removed


def _where(one: Mapping[str, Any], nth: int, often: int, *, whole: bool) -> str:
    first, last = _number(one, "first"), _number(one, "last")
    at = f"line {first:,}" if last == first else f"lines {first:,} {'and' if last == first + 1 else 'to'} {last:,}"
    if one.get("all") is not True:
        return f"the text to replace is there once, at {at}"
    return f"every place, {nth:,} of {f'{often:,}' if whole else 'many'}, at {at}"


def _changed_rows(changed: str) -> list[DiffRow]:
    """What changed in the file, which is no edit of the call."""
    if not changed:
        return []
    rows = [replace(_head(CHANGED_HEAD, "the edits below are for the file as it is now"), kind="news")]
    for line in changed.split("\n"):
        if line.startswith("+"):
            rows.append(DiffRow("add", 0, line[1:]))
        elif line.startswith("-"):
            rows.append(DiffRow("del", 0, line[1:]))
        else:
            rows.append(DiffRow("plain", 0, line.removeprefix("@ ")))
    return rows


def _head(title: str, rest: str) -> DiffRow:
    return DiffRow("head", 0, f"{title} {rest}", ((0, len(title)),))


def _text(one: Mapping[str, Any], name: str) -> str:
    value = one.get(name)
    return value if isinstance(value, str) else ""


def _number(one: Mapping[str, Any], name: str) -> int:
    value = one.get(name)
    return value if isinstance(value, int) else 0
