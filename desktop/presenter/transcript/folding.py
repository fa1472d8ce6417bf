"""Folding of calls: of a run with hundreds of them only the last ones are open, the finished ones before them are
folded into lines. So what an answer costs to draw does not grow with its calls. Every call stays reachable: a line
opens to its cards."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.presenter.transcript.items import CallsPart, Part, ToolPart

LOOSE = 80
"""Cards at the end of an answer that are never folded: more than a round may make."""

MAXIMUM = 100
"""Calls in one line; opened, they are laid out together."""

FINISHED = ("done", "failed", "denied", "aborted", "unknown")


def fold_calls(parts: Sequence[Part]) -> list[Part]:
    """The parts with their older calls folded, those in a row together. What is folded already stays as it is."""
    extra = sum(isinstance(part, ToolPart) for part in parts) - LOOSE
    folded: list[Part] = []
    row: list[ToolPart] = []
    for part in parts:
        if isinstance(part, ToolPart) and extra > 0 and part.state in FINISHED:
            row.append(part)
            extra -= 1
            if len(row) == MAXIMUM:
                folded.append(_together(row))
        else:
            if row:
                folded.append(_together(row))
            folded.append(part)
    if row:
        folded.append(_together(row))
    return folded


def unfolded(parts: Sequence[Part]) -> dict[str, Part]:
    """part id -> part, for going on with calls that were cut off: a line that holds such a call is laid out."""
    found: dict[str, Part] = {}
    for part in parts:
        inside = part.calls if isinstance(part, CallsPart) else ()
        cut_off = any(call.state in ("aborted", "unknown") for call in inside)
        found.update((each.part_id, each) for each in (inside if cut_off else (part,)))
    return found


def _together(row: list[ToolPart]) -> Part:
    """One call stays a card. Empties ``row``."""
    calls = tuple(row)
    row.clear()
    return CallsPart(f"{calls[0].part_id}:calls", calls) if len(calls) > 1 else calls[0]
