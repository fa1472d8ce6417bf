"""What an agent is told, in one request alone, about the rounds that it has left (R-SES-16)."""

from __future__ import annotations

from collections.abc import Sequence

_FEW = 5
"""The last fifth of the rounds is few."""


def rounds_note(limit: int, number: int, told: bool = False) -> str:
    """What an agent is told before round ``number`` of ``limit``: once when a fifth is left, at least two (``told``),
    and once before the last; "" in between."""
    left = limit - number + 1
    if left <= 1:
        return "This is your last round: give your answer in it. No tool can be called after it."
    if not told and is_near_limit(limit, number):
        return f"{left} rounds remain for this answer, this one included. Come to an end in time."
    return ""


def is_near_limit(limit: int, number: int) -> bool:
    """Whether round ``number`` is among the last fifth."""
    return limit - number + 1 <= max(2, limit // _FEW)


def notes_text(notes: Sequence[str]) -> str:
    """Notes that hold for one request alone, as the model reads them; "" for none."""
    given = [note for note in notes if note]
    return "\n# Note\n\n" + "\n".join(f"- {note}" for note in given) + "\n" if given else ""
