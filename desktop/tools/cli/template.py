"""``{{param}}`` inside one argument: read at load, filled at each call (R-CLI-3, R-CLI-12).

A placeholder is a declared name between double braces, nothing else; other text with ``{{`` in it is written
``\\{{``, so that a mistyped placeholder is never passed on as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from desktop.domain.loading.lazy_dataclass import dataclass

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_PIECE = re.compile(r"\\\{\{|\{\{(?P<inside>.*?)\}\}|\{\{", re.DOTALL)


class NotATemplate(ValueError):
    """What is wrong with an argument."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a parameter's value goes."""

    name: str


@dataclass(frozen=True, slots=True)
class Template:
    """One argument of a declared tool: texts and slots in order."""

    parts: tuple[str | Slot, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters it needs."""
        return tuple(part.name for part in self.parts if isinstance(part, Slot))

    @property
    def fixed(self) -> str | None:
        """The argument's text where it has no slots; else None."""
        return None if self.names else "".join(map(str, self.parts))

    def __str__(self) -> str:
        """The argument as a person reads it, with its placeholders."""
        return "".join(f"{{{{{part.name}}}}}" if isinstance(part, Slot) else part for part in self.parts)

    def filled(self, values: Mapping[str, str]) -> str:
        """Always exactly one argument, whatever the values hold. Raises KeyError for a value that is missing."""
        return "".join(values[part.name] if isinstance(part, Slot) else part for part in self.parts)


def template(text: str) -> Template:
    """Parse one argument. Raises NotATemplate."""
    parts: list[str | Slot] = []
    at = 0
    for found in _PIECE.finditer(text):
        if found.start() > at:
            parts.append(text[at : found.start()])
        parts.append(_part(found))
        at = found.end()
    if at < len(text) or not parts:
        parts.append(text[at:])
    return Template(tuple(parts))


def _part(found: re.Match[str]) -> str | Slot:
    if found[0] == "\\{{":
        return "{{"
    name = (found["inside"] or "").strip()
    if not NAME.fullmatch(name):
        raise NotATemplate(f"{found[0][:40]!r} is no placeholder like {{{{name}}}}; write \\{{{{ for plain braces")
    return Slot(name)


def canonical(value: str | int | float | bool) -> str:
    """A value as its argument: ``3``, ``0.5``, ``1e-7``, ``true`` (R-CLI-12); texts as they are."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        return re.sub(r"e([-+])0+(?=\d)", r"e\1", repr(value))
    return str(value)
