"""Machine text made safe to look at: what cannot be seen, or could pretend to be something else, becomes an escape.

A request shows what will run. Text that reorders, hides or overwrites itself on screen would make a person agree to
something other than what they read (R-PRM-2, R-PRM-15).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from desktop.domain.text.hidden_characters import HIDDEN


def shown(text: str) -> str:
    """Control, direction-changing and invisible characters as ``\\u{202e}``; line breaks and tabs stay."""
    return HIDDEN.sub(_escape, text)


def shown_line(text: str) -> str:
    """The text as ``shown`` gives it, on one line."""
    return shown(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape(match: re.Match[str]) -> str:
    point = ord(match.group())
    return {13: "\\r", 27: "\\e", 0: "\\0"}.get(point, f"\\u{{{point:x}}}")


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """All arguments as indented JSON; texts with line breaks are laid out below their name, not as one long line."""
    parts = []
    for name, value in arguments.items():
        if isinstance(value, str) and "\n" in value:
            body = "\n".join("    " + line for line in value.split("\n"))
            parts.append(f"{name}: {len(value):,} characters\n{body}")
        else:
            parts.append(f"{name}: {json.dumps(value, ensure_ascii=False, indent=2, default=str)}")
    return "\n".join(parts)
