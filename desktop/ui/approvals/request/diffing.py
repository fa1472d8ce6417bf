"""The difference between a file as it is and as a call would leave it: rows for a view, without Qt.

Work is bounded: common head and tail are cut off first, and a middle too large to compare line by line is shown as
wholly replaced.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.sequences import in_common
from desktop.domain.text.words import count_words
from desktop.ui.widgets.folded import folded, lines_of
from desktop.ui.widgets.shown import LINE, pieces_of, shown

RowKind = Literal["same", "add", "del", "hunk", "plain", "fold", "head", "news"]
Mark = tuple[int, int]
CONTEXT = 3
MIDDLE_LIMIT = 1500
"""Lines of the changed middle, on either side, up to which lines are compared with each other."""
WORDS_LIMIT, WORDS_LENGTH = 300, 400
SMALL, SMALL_LINES, SMALL_CHANGED, SMALL_PAIRS = 12_000, 200, 20, 1_500
"""Up to which a difference is found while the window waits: characters, and of the changed middle the lines of either
side, those that can be held against each other word by word, and pairs of equal ones. Lines count by themselves: equal
ones far apart make the comparison go over all of them again and again."""
LINE_PAIRS, WORD_PAIRS, ALL_WORD_PAIRS = 60_000, 800, 4_000
"""Equal lines, or words, of both sides in pairs, up to which they are compared: SequenceMatcher looks at each pair over
and over, so that a few hundred short lines took it seconds."""
VOID_SHOWN = 8
"""Lines of a difference that no longer holds: enough to know it again."""
_WORD = re.compile(r"[:./-]{0,3}\w+(?:[:./-]{1,3}\w+)*+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row: ``number`` is its line in the old (del) or new file, 0 for none; ``marks`` are (start, length).
    ``struck``: it was true of an earlier request and is no longer. ``old``: the line in the old file, too, of one that
    stays. In a ``head``, words of ours over what follows, the mark is its title;
    ``news`` is one over what changed meanwhile."""

    kind: RowKind
    number: int
    text: str
    marks: tuple[Mark, ...] = ()
    struck: bool = False
    old: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Diff:
    """Rows and how many lines are added and removed."""

    rows: tuple[DiffRow, ...]
    added: int
    removed: int


def is_small(before: str, after: str) -> bool:
    """Whether ``diff`` takes a few milliseconds, and not a thread."""
    if len(before) + len(after) > SMALL:
        return False
    old, new = lines_of(before), lines_of(after)
    if not old or not new:
        return True
    head = in_common(old, new)
    tail = in_common(old[head:][::-1], new[head:][::-1])
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    fewer, more = sorted((len(old), len(new)))
    return fewer <= SMALL_CHANGED and more <= SMALL_LINES and _pairs(old, new) <= SMALL_PAIRS


def diff(before: str, after: str, at: tuple[int, int] = (1, 1)) -> Diff:
    """Rows of changed places with three lines around each. ``at``: on which lines of the two files the texts begin."""
    found = _diff(before, after)
    if at == (1, 1):
        return found
    return replace(found, rows=tuple(_moved(row, at[0] - 1, at[1] - 1) for row in found.rows))


def _moved(row: DiffRow, old: int, new: int) -> DiffRow:
    by = old if row.kind == "del" else new
    number = row.number + by if row.number else 0
    return replace(row, number=number, old=row.old + old if row.old else 0)


def _diff(before: str, after: str) -> Diff:
    old, new = lines_of(before), lines_of(after)
    head = in_common(old, new)
    tail = in_common(old[head:][::-1], new[head:][::-1])
    codes = _compare(old[head : len(old) - tail], new[head : len(new) - tail], head)
    rows: list[DiffRow] = []
    added = removed = 0
    for group in _groups(codes, len(old), len(new)):
        first, last = group[0], group[-1]
        span = f"{first[3] + 1} to {max(last[4], first[3] + 1)}"
        rows.append(DiffRow("hunk", 0, f"@@ lines {span} of {max(1, len(new))}"))
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                rows += [
                    replace(row, old=row.number - b1 + a1 if row.number else 0)
                    for row in _numbered("same", new[b1:b2], b1)
                ]
            else:
                rows += _changed(old[a1:a2], new[b1:b2], a1, b1)
                removed, added = removed + a2 - a1, added + b2 - b1
    if before and after and before.endswith("\n") != after.endswith("\n"):
        word = "now ends" if after.endswith("\n") else "no longer ends"
        rows.append(DiffRow("hunk", 0, f"the file {word} with a line break"))
    return Diff(tuple(rows), added, removed)


def void_rows(old: Diff) -> tuple[DiffRow, ...]:
    """What was agreed to and no longer holds, struck, to stand over what would happen now."""
    lines = [row for row in old.rows if row.kind in ("add", "del")]
    rows = [replace(row, marks=(), struck=True) for row in lines[:VOID_SHOWN]]
    if len(lines) > VOID_SHOWN:
        rows.append(DiffRow("hunk", 0, f"and {count_words(len(lines) - VOID_SHOWN, 'more line')} of it"))
    head = DiffRow("hunk", 0, "you allowed this, but the file has changed since, so your answer no longer counts")
    return (head, *rows, DiffRow("hunk", 0, "what would happen now"))


def plain_rows(text: str, *, numbered: bool = True, columns: int = LINE) -> tuple[DiffRow, ...]:
    """A text as rows without signs, its lines cut after ``columns`` characters."""
    return tuple(_numbered("plain", lines_of(text), 0 if numbered else None, columns))


def folded_rows(text: str, *, numbered: bool = True, columns: int = LINE) -> tuple[DiffRow, ...]:
    """The same, with long runs of nothing folded to a row that says so."""
    rows: list[DiffRow] = []
    for part in folded(lines_of(text)):
        if part.fold:
            rows.append(DiffRow("fold", 0, part.text))
        else:
            rows += _rows("plain", part.number if numbered else 0, part.text, (), columns)
    return tuple(rows)


def new_file(text: str) -> Diff:
    """The lines of a new file, all marked as added."""
    lines = lines_of(text)
    return Diff(tuple(_numbered("add", lines, 0)), len(lines), 0)


Code = tuple[str, int, int, int, int]


def _compare(old: Sequence[str], new: Sequence[str], at: int) -> list[Code]:
    if not old and not new:
        return []
    if not old or not new or max(len(old), len(new)) > MIDDLE_LIMIT or _pairs(old, new) > LINE_PAIRS:
        return [("replace", at, at + len(old), at, at + len(new))]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(tag, a1 + at, a2 + at, b1 + at, b2 + at) for tag, a1, a2, b1, b2 in matcher.get_opcodes()]


def _groups(codes: Sequence[Code], old_total: int, new_total: int) -> list[list[Code]]:
    """Changes with their context; changes whose contexts touch are one group."""
    changes = [code for code in codes if code[0] != "equal"]
    groups: list[list[Code]] = []
    for code in changes:
        _, a1, a2, b1, b2 = code
        lead = min(CONTEXT, b1, a1)
        previous = groups[-1][-1] if groups else None
        if previous is not None and b1 - lead <= previous[4]:
            groups[-1][-1] = _clip(previous, b1)
            groups[-1].append(code)
        else:
            groups.append([("equal", a1 - lead, a1, b1 - lead, b1), code] if lead else [code])
        follow = min(CONTEXT, old_total - a2, new_total - b2)
        groups[-1].append(("equal", a2, a2 + follow, b2, b2 + follow))
    return groups


def _clip(code: Code, b2: int) -> Code:
    tag, a1, _, b1, _ = code
    return (tag, a1, a1 + b2 - b1, b1, b2)


def _changed(old: Sequence[str], new: Sequence[str], a: int, b: int) -> list[DiffRow]:
    """Removed and added lines; lines that stand at the same place mark the words that differ."""
    paired = len(old) <= WORDS_LIMIT and len(new) <= WORDS_LIMIT
    rows: list[DiffRow] = []
    marks = _marks_of(old, new) if paired else [((), ())] * min(len(old), len(new))
    if paired and len(old) == len(new):
        for offset, (one, other, (left, right)) in enumerate(zip(old, new, marks, strict=True)):
            rows += _rows("del", a + offset + 1, one, left) + _rows("add", b + offset + 1, other, right)
        return rows
    for sign, lines, start, side in (("del", old, a, 0), ("add", new, b, 1)):
        for offset, (line, mark) in enumerate(zip_longest(lines, marks[: len(lines)])):
            rows += _rows("del" if sign == "del" else "add", start + offset + 1, line, mark[side] if mark else ())
    return rows


def _marks_of(old: Sequence[str], new: Sequence[str]) -> list[tuple[tuple[Mark, ...], tuple[Mark, ...]]]:
    """The differing parts of lines that stand at the same place, until finding them has cost enough."""
    found: list[tuple[tuple[Mark, ...], tuple[Mark, ...]]] = []
    left = ALL_WORD_PAIRS
    for one, other in zip(old, new, strict=False):
        before, after = shown(one), shown(other)
        short = left > 0 and max(len(before), len(after)) <= WORDS_LENGTH
        words = _Words(before, after) if short else None
        left -= min(words.pairs, WORD_PAIRS) if words else 0
        found.append(words.marks() if words else ((), ()))
    return found


def _numbered(kind: RowKind, lines: Sequence[str], start: int | None, columns: int = LINE) -> list[DiffRow]:
    rows: list[DiffRow] = []
    for offset, line in enumerate(lines):
        rows += _rows(kind, 0 if start is None else start + offset + 1, line, (), columns)
    return rows


def _rows(kind: RowKind, number: int, line: str, marks: tuple[Mark, ...], columns: int = LINE) -> list[DiffRow]:
    """A line as rows: one, or several when it is very long; only the first carries the number."""
    pieces = pieces_of(shown(line), columns)
    if len(pieces) == 1:
        return [DiffRow(kind, number, pieces[0], marks)]
    return [DiffRow(kind, number if not at else 0, piece) for at, piece in enumerate(pieces)]


def cells(text: str) -> int:
    """At most so many columns of a digit's width a row takes: a letter of another script may take two."""
    return len(text) if text.isascii() and "\t" not in text else 2 * len(text) + 6 * text.count("\t")


def wrapped_rows(rows: Sequence[DiffRow], columns: int) -> list[DiffRow]:
    """The rows, those that are wider than so many columns going on in the next, so that nothing stands out of sight."""
    found: list[DiffRow] = []
    for row in rows:
        if row.kind == "fold" or cells(row.text) <= columns:
            found.append(row)
        else:
            found += _parts(row, columns)
    return found


def _parts(row: DiffRow, columns: int) -> Iterator[DiffRow]:
    start = 0
    while start < len(row.text):
        end = start + columns
        piece = row.text[start:end]
        while cells(piece) > columns and len(piece) > 1:
            piece = piece[: max(1, len(piece) - max(1, (cells(piece) - columns) // 8))]
        end = start + len(piece)
        marks = ((max(at, start), min(at + length, end)) for at, length in row.marks)
        inside = tuple((at - start, to - at) for at, to in marks if to > at)
        yield replace(row, number=0 if start else row.number, text=piece, marks=inside)
        start = end


class _Words:
    """Two lines as words, without those that both begin and end with."""

    def __init__(self, old: str, new: str) -> None:
        left, right = _WORD.findall(old), _WORD.findall(new)
        head = in_common(left, right)
        tail = in_common(left[head:][::-1], right[head:][::-1])
        self._left, self._right, self._head = left, right, head
        self._old, self._new = left[head : len(left) - tail], right[head : len(right) - tail]
        self.pairs = _pairs(self._old, self._new)

    def marks(self) -> tuple[tuple[Mark, ...], tuple[Mark, ...]]:
        """The stretches in which two lines differ."""
        if self.pairs > WORD_PAIRS:
            return (), ()
        matcher = SequenceMatcher(None, self._old, self._new, autojunk=False)
        words = len(self._left) + len(self._right)
        same = words - len(self._old) - len(self._new) + 2 * sum(block.size for block in matcher.get_matching_blocks())
        return _marked(self._left, self._right, matcher, self._head) if same >= 0.4 * words else ((), ())


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    there = Counter(new)
    return sum(count * there[one] for one, count in Counter(old).items())


def _marked(
    left: Sequence[str], right: Sequence[str], matcher: SequenceMatcher[str], head: int
) -> tuple[tuple[Mark, ...], tuple[Mark, ...]]:
    marks: tuple[list[Mark], list[Mark]] = ([], [])
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        for words, start, end, out in ((left, a1, a2, marks[0]), (right, b1, b2, marks[1])):
            if end > start:
                first, last = start + head, end + head
                _add_mark(out, sum(map(len, words[:first])), sum(map(len, words[first:last])))
    return tuple(marks[0]), tuple(marks[1])


def _add_mark(out: list[Mark], start: int, length: int) -> None:
    """Join marks that only a blank separates."""
    if out and start - (out[-1][0] + out[-1][1]) <= 1:
        first = out[-1][0]
        out[-1] = (first, start + length - first)
    else:
        out.append((start, length))
