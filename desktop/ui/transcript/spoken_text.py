"""A message in words, as a screen reader says it."""

from __future__ import annotations

from desktop.presenter.transcript_items import (
    AttachmentPart,
    NoticePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolPart,
    TranscriptItem,
)
from desktop.ui.transcript.tool_drawing import STATES

LONGEST = 20_000
"""Characters of a message that a screen reader is given."""


def spoken_text(item: TranscriptItem) -> str:
    """A message in words: text as written, calls with their state, notices."""
    return (item.accessible or "\n".join(_spoken_part(part) for part in item.parts))[:LONGEST]


def _spoken_part(part: Part) -> str:
    if isinstance(part, TextPart):
        return part.markdown[:LONGEST]
    if isinstance(part, ToolPart):
        return f"Tool call {part.tool} {part.summary[:120]}, {STATES[part.state][2]}"
    if isinstance(part, NoticePart):
        return part.text
    if isinstance(part, AttachmentPart):
        return f"Attachment {part.name}"
    return "Thinking" if isinstance(part, ReasoningPart) else ""
