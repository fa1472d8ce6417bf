"""Cards of what an agent of another maker asks for and did by itself: called by its own words, and marked as such."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.presenter.transcript.items import ToolPart
from desktop.tools.acp.asks import ASKS, DID, PLAN

CONFINED, FREE = "by itself, confined", "by itself, not confined"
WORDS = {
    "read": "Read",
    "edit": "Edit",
    "delete": "Delete",
    "move": "Move",
    "search": "Search",
    "execute": "Command",
    "think": "Thought",
    "fetch": "Fetch",
    "switch_mode": "Other mode",
    PLAN: "Plan",
}


def in_own_words(part: ToolPart, arguments: Mapping[str, Any] | None) -> ToolPart:
    """The card with the agent's own words at its head; any other card as it is."""
    if part.tool not in (ASKS, DID):
        return part
    given = arguments or {}
    kind = WORDS.get(str(given.get("kind")), "Something")
    title = kind if part.tool == DID else f"asks: {kind.lower()}"
    return replace(part, title=title, summary=str(given.get("says") or "")[:400], own_words=part.tool == DID)


def confined_fact(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """What a card says of work that nobody here has seen."""
    if not facts.get("by_itself"):
        return ()
    return (FREE if facts.get("confined_by") == "none" else CONFINED,)
