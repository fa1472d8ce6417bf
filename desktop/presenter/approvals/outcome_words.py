"""What a command did in its copy, in words."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.files.changes import MOST_KEPT
from desktop.domain.files.outcomes import LeftOut, LeftOutKind, OutcomeReading
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.text.words import count_words
from desktop.presenter.common.shown import shown_line

if TYPE_CHECKING:
    import difflib
else:
    difflib = lazy_module("difflib")

NOTHING_REAL = "It ran in a copy. Nothing is real yet."
TAKE = "Here is what it did; you take over all, some or none of it."
NOTHING_DONE = "It changed no file. Here is what it wrote; you pass it on to the model or not."
BEYOND = "It changed {many} files more than can be looked at one by one, so it can only be dropped."
LASTING = "To take over more than {most} of these cannot be undone: what was there is kept of no more."
MOST_NAMED, MOST_HOSTS = 4, 10
_ENDED = {"timeout": "stopped at its time limit", "memory": "ended: too much memory", "disk": "ended: its copy is full"}
_LEFT: Mapping[LeftOutKind, str] = {
    "special": "a pipe, socket or device, which is never taken over",
    "name": "a name that is no text or too long, which is never taken over",
    "setuid": "would run as another user; it is taken over without that right",
    "linked": "another name of a file beside it; it becomes a file of its own",
}


def made_of(request: PermissionRequest) -> str:
    """How it ran there."""
    preview = request.preview
    made = time.strftime("%H:%M:%S", time.localtime(float(preview.get("made_at") or 0.0)))
    how = "an overlay" if preview.get("copied") == "overlay" else "every file copied"
    return f"a copy made at {made} ({how}), network {'on' if preview.get('network') else 'off'}"


def ended_words(preview: Mapping[str, Any]) -> str:
    """How it ended, in two or three words."""
    ended = str(preview.get("ended"))
    return _ENDED.get(ended, f"exit code {preview.get('exit_code')}")


def seconds_words(preview: Mapping[str, Any]) -> str:
    """How long it took."""
    elapsed = float(preview.get("elapsed_s") or 0.0)
    return f"{elapsed:.1f} s" if elapsed < 100 else f"{elapsed:,.0f} s"


def running_words(preview: Mapping[str, Any], most: int = MOST_NAMED) -> str:
    """What of it still ran when it had ended; nothing outlives it."""
    left = preview.get("left")
    if left is None:
        return "nothing of it goes on"
    if not left:
        return "left nothing running"
    found = Counter(shown_line(str(name))[:40] or "?" for name in left)
    names = [name if many == 1 else f"{many} × {name}" for name, many in found.most_common(most)]
    more = ", …" if len(found) > most else ""
    those = "1 process" if len(left) == 1 else f"{len(left):,} processes"
    return f"ended {those} that it left: {', '.join(names)}{more}"


def tried_words(preview: Mapping[str, Any]) -> tuple[str, str]:
    """How it is known, and which computers it tried to reach."""
    hosts = [shown_line(str(host))[:80] for host in preview.get("tried") or () if host]
    named, rest = hosts[:MOST_HOSTS], len(hosts) - MOST_HOSTS
    more = f" and {rest} more" if rest > 0 else " and more" if preview.get("tried_more") else ""
    said = "It tried " if preview.get("heard") else "By its output it tried "
    return said, ", ".join(named) + more if named else "the network"


def changed_words(reading: OutcomeReading) -> tuple[str, str]:
    """What happened while the person looked: the strong part, and the rest."""
    gone = {change.renamed_from for change in reading.changes if change.renamed_from}
    files = [
        one for one in reading.changes if "folder" not in (one.before.kind, one.after.kind) and one.path not in gone
    ]
    many = len(reading.meanwhile)
    rest = len(files) - sum(one.path in reading.meanwhile for one in files)
    first = f"{count_words(many, 'real file')} changed while you looked. Nothing was taken over."
    others = f"The other {rest:,} {'is as it was' if rest == 1 else 'are as they were'}." if rest else ""
    return first, others


def left_words(left: LeftOut) -> str:
    """One thing that is not taken over as it is."""
    return f"{shown_line(left.path)[:200]}: {_LEFT[left.kind]}"


def says_more(reading: OutcomeReading) -> str:
    """Why nothing of it can be taken over, or why that could not be undone, or ""."""
    if reading.beyond:
        return BEYOND.format(many=f"{reading.beyond:,}")
    return LASTING.format(most=f"{MOST_KEPT:,}") if len(reading.changes) > MOST_KEPT else ""


def brief_words(request: PermissionRequest) -> str:
    """What it did in one line, for a card or the inbox."""
    reading = request.preview.get("reading")
    if not isinstance(reading, OutcomeReading):
        return ""
    if reading.meanwhile:
        return f"{count_words(len(reading.meanwhile), 'file')} changed meanwhile"
    many = len(reading.changes) + reading.beyond
    return f"ran in a copy, {count_words(many, 'change')}" if many else "ran in a copy, changed nothing"


def as_text(request: PermissionRequest, most: int) -> str:
    """All that it did as plain text; "" where that is more than ``most`` characters, or not all of it is text."""
    reading, copy = request.preview.get("reading"), request.preview.get("copy")
    if not isinstance(reading, OutcomeReading) or copy is None or reading.beyond or reading.uncounted:
        return ""
    parts = [str(request.preview.get("command") or ""), "", ended_words(request.preview)]
    parts += [str(request.preview.get("output") or "").rstrip(), ""]
    for change in reading.changes:
        mode = f" {change.before.mode:o} -> {change.after.mode:o}" if change.before.mode != change.after.mode else ""
        parts.append(f"{shown_line(change.path)}: {change.before.kind} -> {change.after.kind}{mode}")
        if "file" not in (change.before.kind, change.after.kind):
            continue
        if change.path not in reading.figures or change.before.size + change.after.size > most:
            return ""
        sides = copy.sides(change)
        parts += difflib.unified_diff(sides.before.splitlines(), sides.after.splitlines(), lineterm="", n=2)
        if sum(map(len, parts)) > most:
            return ""
    parts += [f"not taken over: {left_words(left)}" for left in reading.left_out]
    text = "\n".join(parts)
    return text if len(text) <= most else ""
