"""What a setting is, and how a group of them becomes a frozen snapshot."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, is_dataclass
from typing import Any, Literal, get_type_hints

from desktop.domain.loading.lazy_dataclass import dataclass

Kind = Literal[
    "choice",
    "number",
    "whole",
    "flag",
    "text",
    "texts",
    "paths",
    "patterns",
    "expressions",
    "names",
    "times",
    "traits",
    "connections",
]
"""``whole``: int; ``patterns``: regular expressions; ``expressions``: such whose use is bounded (domain/expressions);
``names``: environment variables; ``traits``: what
models take (domain/model_settings); ``times``: (tool, seconds), written as a mapping; the plural kinds are lists."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, with all a page or a reference needs to show it."""

    key: str
    """Its place in config.yaml."""
    title: str
    """Its name on the page."""
    help: str
    """What it does, in a sentence or two."""
    kind: Kind
    """Which control and check it has."""
    page: str
    """The page it stands on."""
    default: Any
    """Its value unless changed; may hold ``{home}`` for the home folder."""
    choices: tuple[tuple[str, str], ...] = ()
    """(value, label) of each choice."""
    minimum: float | None = None
    """The smallest number."""
    maximum: float | None = None
    """The largest number."""
    unit: str = ""
    """Follows the number."""
    zero: str = ""
    """What 0 means, in a few words, where it is no amount."""
    smallest: float | None = None
    """The smallest amount, where 0 is none."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the file that a person should know: a value that is not used, or one that is odd.

    ``line`` and ``column`` count from 1; None: the file as a whole. ``error``: the value is not in force. Without a
    ``key`` it is about the file itself, and ``message`` names it and the place.
    """

    key: str
    message: str
    severity: Literal["error", "warning"] = "error"
    line: int | None = None
    column: int | None = None
    next_step: str = ""

    def __str__(self) -> str:
        if not self.key:
            return self.message
        where = f", line {self.line}, column {self.column}" if self.line is not None else ""
        return f"config.yaml{where}: {self.message}"


def setting(default: Any, title: str, kind: Kind, help: str, page: str, **more: Any) -> Any:
    """A field of a section class: its key is its place, such as ``tools.bash.timeout_s``."""
    return field(default=default, metadata={"title": title, "kind": kind, "help": help, "page": page, **more})


def settings_of(section: type[Any], prefix: str = "") -> Iterator[Setting]:
    """All settings of a section class and the sections in it, in the order in which they are written."""
    hints = get_type_hints(section)
    for item in fields(section):
        if is_dataclass(hints[item.name]):
            yield from settings_of(hints[item.name], f"{prefix}{item.name}.")
        else:
            yield Setting(key=prefix + item.name, default=item.default, **item.metadata)


def build(section: type[Any], values: Mapping[str, Any], prefix: str = "") -> Any:
    """A frozen instance of ``section`` from values by full key; every key must be there."""
    hints = get_type_hints(section)
    made = {
        item.name: build(hints[item.name], values, f"{prefix}{item.name}.")
        if is_dataclass(hints[item.name])
        else values[prefix + item.name]
        for item in fields(section)
    }
    return section(**made)


def flat(snapshot: Any, prefix: str = "") -> dict[str, Any]:
    """The inverse of ``build``."""
    found: dict[str, Any] = {}
    for item in dataclasses.fields(snapshot):
        value = getattr(snapshot, item.name)
        if item.metadata:
            found[prefix + item.name] = value
        else:
            found |= flat(value, f"{prefix}{item.name}.")
    return found
