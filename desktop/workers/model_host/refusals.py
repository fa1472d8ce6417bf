"""Answers of a server that are not taken: what they are called, and where a redirect pointed."""

from __future__ import annotations

import urllib.parse


class AnswerRefused(Exception):
    """An answer that is not taken. ``code`` and ``detail`` are for the app."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail


def refused_by(error: BaseException | None) -> AnswerRefused | None:
    """Our refusal, however deep in what a library made of it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, AnswerRefused):
            return error
        seen.add(id(error))
        error = getattr(error, "original_exception", None) or error.__cause__ or error.__context__
    return None


def place(url: str, location: str) -> str:
    """Where a redirect points, as a person would write it: without user, password and query, which could hold a key."""
    try:
        target = urllib.parse.urlsplit(urllib.parse.urljoin(url, location))
        port = f":{target.port}" if target.port else ""
    except ValueError:
        return "an address that cannot be read"
    host = target.hostname or ""
    shown = "".join(letter for letter in f"{host}{port}{target.path}" if letter.isascii() and letter.isprintable())
    return f"{target.scheme}://{shown}"[:200]
