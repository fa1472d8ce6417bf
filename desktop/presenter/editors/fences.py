"""Machine text for an editor, which draws Markdown: nothing in it can end its block or pretend to be our words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from desktop.presenter.common.shown import shown

_TICKS = re.compile(r"`+")


def fenced(text: str, language: str = "") -> str:
    """The text as a code block that only ends at its end. What cannot be seen is written out."""
    safe = shown(text)
    longest = max((len(found.group()) for found in _TICKS.finditer(safe)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{safe}\n{fence}"


def cut(text: str, maximum: int, *, end: bool = False) -> str:
    """The beginning, or the ``end``, of a text that is too long, with how much is left out."""
    if len(text) <= maximum:
        return text
    left = f"[{len(text) - maximum:,} characters are not shown here; Assent has all of it]"
    return f"{left}\n{text[-maximum:]}" if end else f"{text[:maximum]}\n{left}"


def quoted(sentences: Iterable[str]) -> str:
    """What Assent itself has to say, as a paragraph that stands apart from the answer."""
    lines = (f"> {shown(line)}" for sentence in sentences for line in sentence.splitlines())
    return "\n\n" + "\n".join(lines) + "\n\n"
