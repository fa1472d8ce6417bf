"""Arguments on their way to the MCP host: JSON in the pieces that the pipe takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from desktop.domain.errors import ToolFailure

MAX_ARGUMENTS = 2_000_000
PIECE = 16_000


def in_pieces(args: Mapping[str, Any]) -> list[str]:
    """Arguments as JSON, in order. Raises ToolFailure for too many."""
    text = json.dumps(args, ensure_ascii=False)
    if len(text) > MAX_ARGUMENTS:
        raise ToolFailure(f"The arguments are too long: {len(text):,} characters of {MAX_ARGUMENTS:,}.")
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
