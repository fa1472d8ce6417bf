"""A head of YAML to a mapping, the quick way where it will do, and where in the file each of its values stands."""

from __future__ import annotations

from functools import partial
from typing import Any

from desktop.domain.text.places import FormatError, Keys, Locate, Place
from desktop.yaml_text import lines, values


def read_mapping(head: str, first_line: int) -> tuple[dict[str, Any], Locate, list[FormatError]]:
    """The mapping, a way to find its values in the file, and readings worth a warning. Raises FormatError."""
    data = lines.read(head)
    if data is not None:
        return data, partial(_quick_place, head, first_line), []
    document = values.read(head, first_line=first_line)
    return document.data, partial(_thorough_place, head, first_line), document.notes


def _quick_place(head: str, first_line: int, keys: Keys) -> Place:
    line, column = lines.locate(head, keys)
    return first_line - 1 + line, column


def _thorough_place(head: str, first_line: int, keys: Keys) -> Place:
    """Reads once more, with marks: only a file with a problem pays for them."""
    marks = values.read(head, first_line=first_line, marks=True).marks
    for length in range(len(keys), 0, -1):
        if (found := marks.get(keys[:length])) is not None:
            return found
    return first_line - 1, 1
