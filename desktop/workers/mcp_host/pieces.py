"""Long texts in the pieces that the pipe takes, and whatever a server says as JSON."""

from __future__ import annotations

import json
from typing import Any

from desktop.workers.frames import PIECE
from desktop.workers.mcp_host import limits


def pieces(text: str) -> list[str]:
    """A text in pieces, in order; none for an empty one."""
    size = PIECE // 2
    return [text[at : at + size] for at in range(0, len(text), size)]


def as_json(value: Any) -> str:
    """A value as JSON; "null" for what cannot be written."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "null"


def cut(value: Any, size: int = limits.WORDS_MAX) -> str:
    """The beginning of a text; "" for anything else."""
    return value[:size] if isinstance(value, str) else ""
