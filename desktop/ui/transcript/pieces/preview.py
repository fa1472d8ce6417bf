"""What a waiting call would change, in a few lines for its card. Cheap for files of any size.

The whole diff is the request's own view; this only shows that there is one. Every line is escaped as it is there.
"""

from __future__ import annotations

from collections.abc import Iterator

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.sequences import in_common
from desktop.domain.text.words import count_words, size_of, size_words
from desktop.presenter.approvals.command_summary import summarise_command
from desktop.presenter.approvals.outcome_words import brief_words
from desktop.ui.theme.paint import badge_look
from desktop.ui.widgets.folded import folded, lines_of
from desktop.ui.widgets.shown import shown, shown_line

SHOWN = 8
LONGEST_LINE = 300
PAST = ("past", "past-more")
"""Signs of the lines that say past what a call goes, of the first and of those below it."""
REMARKS = ("fold", "summary", *PAST)
"""Signs of lines that tell of a call and are no part of it."""


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """``sign`` is "+", "-" or "" (what is asked for, or a remark), "fold" for words about lines that are not shown,
    "summary" for what the whole comes to, one of ``PAST`` for what it goes past at the edge, whose kind stands
    in ``number``."""

    number: str
    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview of a call. ``whole``: nothing of what will be done is left out, as far as the lines are drawn to
    their end."""

    lines: tuple[PreviewLine, ...] = ()
    whole: bool = True


def preview_of(request: PermissionRequest) -> Preview:
    """What a waiting call's card shows. Of a command all that fits, and first what it comes to. Only a command or a
    change that is shown to its end is whole; what else a call is given is in its request (R-PRM-2)."""
    preview = request.preview
    if preview.get("kind") == "argv":
        text = shown_line(" ".join(str(word) for word in preview.get("argv") or ()))
        return Preview((PreviewLine("", "", text[:LONGEST_LINE]),), len(text) <= LONGEST_LINE)
    if preview.get("kind") == "diff":
        return _diff(str(preview.get("before") or ""), str(preview.get("after") or ""), bool(preview.get("new")))
    if request.is_outcome:
        lines, _ = _command(str(preview.get("command") or " ".join(map(str, preview.get("argv") or ()))))
        return Preview(
            (PreviewLine("", "summary", f"{brief_words(request)}; nothing is real yet"), *lines), whole=False
        )
    if preview.get("kind") != "command":
        return Preview(whole=False)
    lines, whole = _command(str(preview.get("command") or ""))
    summary = summarise_command(request)
    if summary is not None:
        does = ", ".join(badge_look(kind).word for kind in summary.kinds)
        words = f"{summary.count}: {does}. {summary.sentence(2)}".strip()
        lines.insert(0, PreviewLine("", "summary", shown_line(words)[:LONGEST_LINE]))
    return Preview(tuple(lines), whole)


def _command(text: str) -> tuple[list[PreviewLine], bool]:
    parts = list(folded(lines_of(text)))
    lines = [
        PreviewLine("", "fold", f"{part.text} not shown")
        if part.fold
        else PreviewLine("", "", shown(part.text[:LONGEST_LINE]))
        for part in parts[:SHOWN]
    ]
    rest = len(parts) - SHOWN
    if rest > 0:
        lines.append(PreviewLine("", "fold", f"{count_words(rest, 'more line')}: open the request"))
    return lines, rest <= 0 and all(len(part.text) <= LONGEST_LINE for part in parts)


def _diff(before: str, after: str, new: bool) -> Preview:
    if new:
        lines = after.count("\n") + (not after.endswith("\n") and bool(after))
        remark = PreviewLine("", "", f"new file, {count_words(lines, 'line')}, {size_words(size_of(after))}")
        first = after.split("\n", 3)[:3]
        few = first[:1] if lines > 3 else [line for line in first if line]
        told = [PreviewLine(str(n), "+", shown(line[:LONGEST_LINE])) for n, line in enumerate(few, 1)]
        return Preview((remark, *told), lines <= 3 and _short(few))
    if before == after:
        return Preview((PreviewLine("", "", "no change to the file's text"),), whole=False)
    return _changed(before.split("\n"), after.split("\n"))


def _short(lines: list[str]) -> bool:
    return all(len(line) <= LONGEST_LINE for line in lines)


def _changed(old: list[str], new: list[str]) -> Preview:
    start = in_common(old, new)
    end = in_common(old[start:][::-1], new[start:][::-1])
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    lines, hidden = list[PreviewLine](), 0
    for at, out, into in _runs(gone, come):
        room = max(0, SHOWN - len(lines))
        room_old = max(room // 2, room - len(into))
        room_new = max(room // 2, room - len(out))
        first = start + at + 1
        lines += [PreviewLine(str(n), "-", shown(line[:LONGEST_LINE])) for n, line in enumerate(out[:room_old], first)]
        lines += [PreviewLine(str(n), "+", shown(line[:LONGEST_LINE])) for n, line in enumerate(into[:room_new], first)]
        hidden += max(0, len(out) - room_old) + max(0, len(into) - room_new)
    if hidden:
        lines.append(PreviewLine("", "", f"{count_words(hidden, 'more line')} in this change: open the request"))
    return Preview(tuple(lines), not hidden and _short(gone) and _short(come))


def _runs(gone: list[str], come: list[str]) -> Iterator[tuple[int, list[str], list[str]]]:
    """What differs, from which line on. Where as many lines came as went, a line that is the same on both sides is no
    part of it: so a name that is changed in many places shows these."""
    if len(gone) != len(come):
        yield 0, gone, come
        return
    same = [one == other for one, other in zip(gone, come, strict=True)]
    at = 0
    while at < len(same):
        end = at
        while end < len(same) and not same[end]:
            end += 1
        if end > at:
            yield at, gone[at:end], come[at:end]
        at = end + 1
