"""How a context is said in a list."""

from __future__ import annotations


def context_words(tokens: int | None) -> str:
    """``32k``; a window the server does not tell is "unknown"."""
    if tokens is None:
        return "unknown"
    if tokens < 1000:
        return str(tokens)
    thousands = tokens / 1024 if tokens % 1024 == 0 and tokens % 1000 else tokens / 1000
    return f"{thousands:.0f}k"
