"""What an agent of another maker is sent: the person's message, and before its first one what it has to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MAX_EARLIER = 60_000
"""Characters of what was said before that a new session is told."""


def prompt_blocks(
    args: Mapping[str, Any], history: Sequence[Mapping[str, Any]], *, knows: bool, images: bool
) -> list[dict[str, Any]]:
    """The blocks of a prompt. ``knows``: the session has what was said so far; else it is told, with the agent's
    instructions."""
    blocks: list[dict[str, Any]] = []
    system = str(args.get("prompt") or "").strip()
    attached = _attached(history[-1], images=images) if history and history[-1].get("role") == "user" else []
    earlier = history[:-1] if attached else history
    if not knows:
        if system:
            blocks.append(_text(f"<instructions>\n{system}\n</instructions>"))
        told = _told(earlier)
        if told:
            blocks.append(_text(f"<said_before>\n{told}\n</said_before>"))
    return [*blocks, *attached] if attached else [*blocks, _text(str(args.get("userMessage") or "Execute the task."))]


def _attached(row: Mapping[str, Any], *, images: bool) -> list[dict[str, Any]]:
    """The person's message where it has attachments: it stands last in what was said, with its blocks."""
    found: list[dict[str, Any]] = []
    rows = row.get("blocks")
    for block in rows if isinstance(rows, list) else ():
        if not isinstance(block, Mapping):
            continue
        kind = block.get("kind")
        if kind == "text":
            found.append(_text(str(block.get("text", ""))))
        elif kind == "file":
            found.append(_text(f"{block.get('name', 'file')}:\n{block.get('text', '')}"))
        elif kind == "image" and images:
            found.append({"type": "image", "mimeType": block.get("media_type"), "data": block.get("data")})
        elif kind == "image":
            found.append(_text(f"[an image, {block.get('name') or 'without a name'}: this agent takes none]"))
    return found


def _told(history: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        f"{'Person' if row.get('role') == 'user' else 'You'}: {str(row.get('text', '')).strip()}"
        for row in history
        if row.get("role") in ("user", "assistant") and str(row.get("text", "")).strip()
    ]
    return "\n\n".join(lines)[-MAX_EARLIER:]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
