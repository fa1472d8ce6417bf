"""What a waiting call would change, in a few lines for its card. Cheap for files of any size.

The whole diff is the request's own view; this only shows that there is one. Every line is escaped as it is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from desktop.domain.words import count_words, size_of, size_words
from desktop.ui.widgets.shown import shown, shown_line

SHOWN = 8
LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """``sign`` is "+", "-" or "" (a remark)."""

    number: str
    sign: str
    text: str


def preview_lines(preview: Mapping[str, Any]) -> list[PreviewLine]:
    """The lines to show for a request's ``preview`` (see ``PreCheck``)."""
    kind = preview.get("kind")
    if kind == "diff":
        return _diff(str(preview.get("before") or ""), str(preview.get("after") or ""), bool(preview.get("new")))
    if kind == "command":
        return [PreviewLine("", "", shown(line[:LONGEST_LINE])) for line in _head(str(preview.get("command") or ""))]
    if kind == "argv":
        words = [str(word) for word in preview.get("argv") or ()]
        return [PreviewLine("", "", shown_line(" ".join(words)[:LONGEST_LINE]))]
    return []


def _head(text: str) -> list[str]:
    lines = text[: LONGEST_LINE * SHOWN].split("\n")
    return lines[:SHOWN] + (["…"] if len(lines) > SHOWN else [])


def _diff(before: str, after: str, new: bool) -> list[PreviewLine]:
    if new:
        lines = after.count("\n") + (not after.endswith("\n") and bool(after))
        remark = PreviewLine("", "", f"new file, {count_words(lines, 'line')}, {size_words(size_of(after))}")
        first = after.split("\n", 3)[:3]
        few = first[:1] if lines > 3 else [line for line in first if line]
        return [remark] + [PreviewLine(str(n), "+", shown(line[:LONGEST_LINE])) for n, line in enumerate(few, 1)]
    if before == after:
        return [PreviewLine("", "", "no change to the file's text")]
    return _changed(before.split("\n"), after.split("\n"))


def _changed(old: list[str], new: list[str]) -> list[PreviewLine]:
    start, limit = 0, min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    end = 0
    while end < limit - start and old[-1 - end] == new[-1 - end]:
        end += 1
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    half = SHOWN // 2
    room_old = max(half, SHOWN - len(come))
    room_new = max(half, SHOWN - len(gone))
    lines = [PreviewLine(str(start + n), "-", shown(line[:LONGEST_LINE])) for n, line in enumerate(gone[:room_old], 1)]
    lines += [PreviewLine(str(start + n), "+", shown(line[:LONGEST_LINE])) for n, line in enumerate(come[:room_new], 1)]
    hidden = max(0, len(gone) - room_old) + max(0, len(come) - room_new)
    if hidden:
        lines.append(PreviewLine("", "", f"{count_words(hidden, 'more line')} in this change: open the request"))
    return lines
