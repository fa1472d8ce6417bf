"""JSON as people write it into settings: without its comments, and without commas that nothing follows."""

from __future__ import annotations

import re

_PLAIN = re.compile(r'[^"/,]+')
_IN_STRING = re.compile(r'["\\]')


def plain_json(text: str) -> str:
    """The text as strict JSON: comments and trailing commas removed, strings unchanged. Goes over the text once."""
    kept: list[str] = []
    comma, at = -1, 0
    while at < len(text):
        end = _comment_end(text, at)
        if end:
            at = end
            continue
        end = _piece_end(text, at)
        piece = text[at:end]
        at = end
        if piece == ",":
            comma = len(kept)
        elif piece.strip():
            if comma >= 0 and piece.lstrip()[0] in "]}":
                kept[comma] = ""
            comma = -1
        kept.append(piece)
    return "".join(kept)


def string_end(text: str, at: int) -> int:
    """Behind the string that begins here, or the end of the text."""
    at += 1
    while found := _IN_STRING.search(text, at):
        if found[0] == '"':
            return found.end()
        at = found.end() + 1
    return len(text)


def _comment_end(text: str, at: int) -> int:
    """Behind the comment that begins here; 0 where none does."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    return 0


def _piece_end(text: str, at: int) -> int:
    if text[at] == '"':
        return string_end(text, at)
    plain = _PLAIN.match(text, at)
    return plain.end() if plain else at + 1
