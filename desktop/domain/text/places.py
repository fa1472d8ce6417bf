"""Where something stands in a text, and the error of a text that cannot be read."""

from __future__ import annotations

from collections.abc import Callable

Place = tuple[int, int]
"""Line and column, from 1."""

Keys = tuple[str | int, ...]
"""A place inside a value: ``("metadata", "params", "properties")``."""

Locate = Callable[[Keys], Place]
"""Where the value at these keys stands; where it is missing, that of the nearest one around it."""


class FormatError(ValueError):
    """A file or a part of it cannot be read. ``line`` and ``column`` count from 1 in the file."""

    def __init__(self, message: str, line: int = 1, column: int = 1, code: str = "frontmatter.yaml") -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.code = code


def place_in(text: str, at: int) -> Place:
    """Line and column of a character, from 1."""
    before = text[:at]
    return before.count("\n") + 1, len(before) - before.rfind("\n")
