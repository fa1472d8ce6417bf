"""The record of a debate that its judge reads: who said what, in order, as data that no speaker can forge.

The sides are only A and B; the moderator's messages stand where both sides read them. The topic is given apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from desktop.domain.debates import TurnRecord
from desktop.domain.threads import MessageRecord
from desktop.services.debates.export import parts_of

MAX_RECORD = 400_000
"""Characters of all texts; in a longer one each text has its share, without the middle, and it says so."""


def record_of(
    messages: Sequence[MessageRecord], turns: Sequence[TurnRecord], maximum: int = MAX_RECORD
) -> list[dict[str, Any]]:
    """One entry for each thing that was said; ``messages`` is the path from the topic on, ``maximum`` in characters."""
    entries = list(_entries(messages, turns))
    if sum(len(entry["text"]) for entry in entries) > maximum:
        share = maximum // len(entries)
        for entry in entries:
            entry["text"] = _shortened(entry["text"], share)
    return entries


def _entries(messages: Sequence[MessageRecord], turns: Sequence[TurnRecord]) -> Iterator[dict[str, Any]]:
    for number, part in enumerate(parts_of(messages, turns)):
        if part.turn is not None:
            turn = part.turn
            yield {"speaker": turn.side.upper(), "turn": turn.number, "text": turn.outcome or "(nothing)"}
        elif number:  # the first is the topic
            yield {"speaker": "moderator", "text": "\n".join(message.text for message in part.messages)}


def _shortened(text: str, maximum: int) -> str:
    if len(text) <= maximum:
        return text
    half = maximum // 2
    left_out = f"[… {len(text) - 2 * half} characters of the middle are left out …]"
    return f"{text[:half]}\n{left_out}\n{text[len(text) - half :]}"
