"""What a code skill's file declares, whatever its language: read as text, never run (R-SK-6).

``frontmatter`` is one skill whose entry point is the file's own; ``skills`` is a list of them, each with ``entry``, the
name of a function (Q-1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.places import FormatError, Keys, Locate

MAX_CODE = 100_000
"""Characters of a code file."""
MAX_DEPTH = 40
MAX_VALUES = 5_000
MAX_SKILLS = 200


@dataclass(slots=True)
class WrittenLiteral:
    """A value that was written out. ``marks`` says where each part of it is, in terms that ``where`` turns into line
    and column."""

    value: Any
    marks: dict[Keys, Any]
    where: Callable[[Any], tuple[int, int]]

    def place(self, keys: Keys) -> tuple[int, int]:
        """Where the value at ``keys`` stands, or the nearest around it."""
        nearest = next(keys[:length] for length in range(len(keys), -1, -1) if keys[:length] in self.marks)
        return self.where(self.marks[nearest])


@dataclass(slots=True)
class CodeFile:
    """What a file declares. ``own`` is the entry point of ``frontmatter``."""

    own: str
    frontmatter: WrittenLiteral | None = None
    skills: WrittenLiteral | None = None
    functions: dict[str, str] = field(default_factory=dict)
    """Each top-level name that can be an entry point, with what is wrong with calling it with ``(ctx, args)``, or "".
    """
    classes: dict[str, str] = field(default_factory=dict)
    """Each top-level class, with why it is no agent (R-SUP-15), or ""."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One skill of a code file. ``wrong`` says why its entry point cannot be called, or ""."""

    data: dict[str, Any]
    locate: Locate
    entry: str
    wrong: str = ""


def declared(file: CodeFile) -> list[Declared]:
    """The skills of a file. FormatError when it declares none, or in a way that cannot be read."""
    if file.frontmatter is not None and file.skills is not None:
        raise FormatError(
            "the file has both frontmatter and skills: keep one", *file.skills.place(()), code="frontmatter.ambiguous"
        )
    if file.frontmatter is not None:
        if not isinstance(file.frontmatter.value, dict):
            raise FormatError("frontmatter has to hold names with values", *file.frontmatter.place(()))
        data = dict(file.frontmatter.value)
        entry = data.pop("entry", file.own)
        return [_one(data, file.frontmatter.place, entry, file)]
    if file.skills is None:
        raise FormatError("the file declares no frontmatter", 1, code="frontmatter.missing")
    return list(_several(file.skills, file))


def _several(skills: WrittenLiteral, file: CodeFile) -> Iterator[Declared]:
    if not isinstance(skills.value, list) or not all(isinstance(item, dict) for item in skills.value):
        raise FormatError("skills has to be a list of entries with names and values", *skills.place(()))
    if len(skills.value) > MAX_SKILLS:
        raise FormatError(f"skills holds more than {MAX_SKILLS}", *skills.place(()), code="file.skills")
    for number, item in enumerate(skills.value):
        data: dict[str, Any] = dict(item)
        yield _one(data, _below(skills.place, number), data.pop("entry", None), file)


def _below(place: Locate, number: int) -> Locate:
    return lambda keys: place((number, *keys))


def _one(data: dict[str, Any], place: Locate, entry: Any, file: CodeFile) -> Declared:
    if not isinstance(entry, str):
        return Declared(data, place, "", "entry has to name a function")
    wrong = file.functions.get(entry)
    if wrong is None and _is_agent(data):
        wrong = file.classes.get(entry)
    if wrong is None:
        what = "default export" if entry == "default" else f"function {entry[:60]}"
        wrong = f"the file has no {what}"
    return Declared(data, place, entry, wrong)


def _is_agent(data: dict[str, Any]) -> bool:
    metadata = data.get("metadata")
    return "agent" in (data.get("role"), metadata.get("role") if isinstance(metadata, dict) else None)


# -- values -----------------------------------------------------------------------------------------------------------


def json_problem(value: Any) -> str:
    """Why a scalar cannot be JSON, or ""."""
    if isinstance(value, str):
        return "" if value.isascii() or _encodes(value) else "half a character (a lone surrogate) is no text"
    if isinstance(value, float):
        return "" if math.isfinite(value) else "this number is too large"
    if isinstance(value, int):
        return "" if abs(value) < 2**63 else "this number is too large"
    return "" if value is None else f"{type(value).__name__} is no plain value"


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
