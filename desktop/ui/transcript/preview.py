"""What a waiting call would change, in a few lines for its card. Cheap for files of any size.

The whole diff is the request's own view; this only shows that there is one. Every line is escaped as it is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from desktop.domain.permission import PermissionRequest
from desktop.domain.words import count_words, size_of, size_words
from desktop.presenter.gist import gist_of
from desktop.ui.theme.paint import badge_look
from desktop.ui.widgets.folded import folded, lines_of
from desktop.ui.widgets.shown import shown, shown_line

SHOWN = 8
LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """``sign`` is "+", "-" or "" (a remark), "fold" for words about lines that are not shown, "gist" for what the whole
    comes to."""

    number: str
    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Preview:
    """``whole``: nothing of what will run is left out, as far as the lines are drawn to their end."""

    lines: tuple[PreviewLine, ...] = ()
    whole: bool = True


def preview_of(request: PermissionRequest) -> Preview:
    """What a waiting call's card shows. Of a command all that fits, and first what it comes to."""
    preview = request.preview
    if preview.get("kind") == "argv":
        text = shown_line(" ".join(str(word) for word in preview.get("argv") or ()))
        return Preview((PreviewLine("", "", text[:LONGEST_LINE]),), len(text) <= LONGEST_LINE)
    if preview.get("kind") != "command":
        return Preview(tuple(preview_lines(preview)))
    lines, whole = _command(str(preview.get("command") or ""))
    gist = gist_of(request)
    if gist is not None:
        does = ", ".join(badge_look(kind).word for kind in gist.kinds)
        words = f"{gist.count}: {does}. {gist.sentence(2)}".strip()
        lines.insert(0, PreviewLine("", "gist", shown_line(words)[:LONGEST_LINE]))
    return Preview(tuple(lines), whole)


def _command(text: str) -> tuple[list[PreviewLine], bool]:
    parts = list(folded(lines_of(text)))
    lines = [
        PreviewLine("", "fold", f"{part.text} not shown") if part.fold
        else PreviewLine("", "", shown(part.text[:LONGEST_LINE])) for part in parts[:SHOWN]
    ]  # fmt: skip
    rest = len(parts) - SHOWN
    if rest > 0:
        lines.append(PreviewLine("", "fold", f"{count_words(rest, 'more line')}: open the request"))
    return lines, rest <= 0 and all(len(part.text) <= LONGEST_LINE for part in parts)


def preview_lines(preview: Mapping[str, Any]) -> list[PreviewLine]:
    """The lines to show for a request's ``preview`` (see ``PreCheck``)."""
    kind = preview.get("kind")
    if kind == "diff":
        return _diff(str(preview.get("before") or ""), str(preview.get("after") or ""), bool(preview.get("new")))
    return _command(str(preview.get("command") or ""))[0] if kind == "command" else []


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
