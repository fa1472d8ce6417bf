"""The table of what a person decided: ``packaging/licences/decisions.toml``, read and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from ..words import Stop


@dataclass(frozen=True)
class Allowed:
    """A licence that may stand on what we hand out, and on which terms."""

    source: bool = False
    """Whoever gets the program is told where the source is."""
    only: tuple[str, ...] = ()
    """Nowhere else than in these."""
    with_: tuple[str, ...] = ()
    """Licences whose text belongs to it."""


@dataclass(frozen=True)
class LeftOut:
    """Files of a wheel that are not handed out, and why."""

    files: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class DecidedPart:
    """Something of other makers: a library, a font, a list."""

    name: str
    licence: str
    version: str = ""
    inside: str = ""
    copyright: str = ""
    source: str = ""
    texts: tuple[str, ...] = ()
    """Files of ``packaging/licences/texts``, or paths in the repository."""
    wheel_texts: tuple[str, ...] = ()
    """Names of files among the licences of the wheel."""
    files: tuple[str, ...] = ()
    """Patterns of file names that it explains; for what is no part of a wheel."""
    systems: tuple[str, ...] = ()
    """On which of `linux`, `windows` and `macos` it is there; on all when it says nothing."""
    linked: tuple[str, ...] = ()
    """On which its code is in the program of Python or the installer itself, so that no file shows it."""


@dataclass(frozen=True)
class Wheel:
    """What its wheel does not say, and what is inside of it."""

    seen: str = ""
    """The version that somebody looked into."""
    licence: str = ""
    copyright: str = ""
    source: str = ""
    other_texts: tuple[str, ...] = ()
    """Patterns of texts in the wheel about what only other builds of it hold."""
    standard_text: bool = False
    """The wheel has no text, and gets that of SPDX."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """Families of licences whose text is there because an author offers it beside another, and which one is taken."""
    natives: tuple[str, ...] = ()
    """Patterns of machine code that is explained: its own, its lists of parts, ``parts``."""
    foreign: tuple[str, ...] = ()
    """Patterns of fonts, pages, scripts and certificates that are explained."""
    parts: tuple[DecidedPart, ...] = ()
    parts_file: str = ""
    not_inside: Mapping[str, str] = field(default_factory=dict)
    """Parts that the wheel lists and does not hold, and why that is known."""
    libraries: str = ""
    """A folder of libraries each of which has to be a part."""
    library_names: Mapping[str, str] = field(default_factory=dict)
    """Which part a library of that folder is, by the beginning of its name."""
    left_out: tuple[LeftOut, ...] = ()
    elsewhere: str = ""
    """Where it is installed, when not on every system."""
    never: bool = False
    """It is never handed out."""


@dataclass(frozen=True)
class Interpreter:
    """CPython itself, in a folder that carries its own."""

    licence: str
    copyright: str
    source: str
    texts: tuple[str, ...]
    refused: Mapping[str, str]
    parts: tuple[DecidedPart, ...]


@dataclass(frozen=True)
class Decisions:
    """All of the table."""

    licences: Mapping[str, Allowed]
    spellings: Mapping[str, str]
    shipped: tuple[DecidedPart, ...]
    wheels: Mapping[str, Wheel]
    interpreter: Interpreter
    system: tuple[DecidedPart, ...]

    def wheel(self, name: str) -> Wheel:
        """What is decided of a wheel, which may be nothing."""
        return self.wheels.get(name, Wheel())


Record = TypeVar("Record")


def read_decisions(path: Path) -> Decisions:
    """Raises Stop with the place of what is wrong."""
    try:
        read = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Stop(f"{path} cannot be read: {error}", "Mend the file.") from None
    top = _Keys(path, "", read, {"licences", "spellings", "shipped", "wheels", "interpreter", "system"})
    return Decisions(
        licences={name: _allowed(path, name, value) for name, value in top.table("licences").items()},
        spellings=top.table("spellings"),
        shipped=_parts(path, "shipped", top.rows("shipped")),
        wheels={name: _wheel(path, name, value) for name, value in top.table("wheels").items()},
        interpreter=_interpreter(path, top.table("interpreter")),
        system=_parts(path, "system", top.rows("system")),
    )


class _Keys:
    """One table of the file: every key of it is known."""

    def __init__(self, path: Path, where: str, value: Any, known: set[str]) -> None:
        if not isinstance(value, dict):
            raise Stop(f"{path}: {where or 'the file'} is no table.", "Mend the file.")
        unknown = sorted(set(value) - known)
        if unknown:
            raise Stop(f"{path}: {where or 'the top'} has no key “{unknown[0]}”.", "Mend the file.")
        self._value = value

    def table(self, key: str) -> dict[str, Any]:
        found = self._value.get(key, {})
        return found if isinstance(found, dict) else {}

    def rows(self, key: str) -> list[Any]:
        found = self._value.get(key, [])
        return found if isinstance(found, list) else []


def _record(path: Path, where: str, kind: type[Record], value: Any, ready: Mapping[str, Any] | None = None) -> Record:
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    _Keys(path, where, value, names)
    ready = ready or {}
    made = {key: tuple(one) if isinstance(one, list) else one for key, one in value.items() if key not in ready}
    try:
        return kind(**made, **ready)
    except TypeError as error:
        raise Stop(f"{path}: {where}: {error}", "Mend the file.") from None


def _allowed(path: Path, name: str, value: Any) -> Allowed:
    _Keys(path, f"licences.{name}", value, {"source", "only", "with"})
    return Allowed(bool(value.get("source")), tuple(value.get("only", ())), tuple(value.get("with", ())))


def _parts(path: Path, where: str, rows: list[Any]) -> tuple[DecidedPart, ...]:
    return tuple(_record(path, where, DecidedPart, row) for row in rows)


def _wheel(path: Path, name: str, value: Any) -> Wheel:
    ready: dict[str, Any] = {}
    if "parts" in value:
        ready["parts"] = _parts(path, f"wheels.{name}.parts", value["parts"])
    if "left_out" in value:
        ready["left_out"] = tuple(_record(path, f"wheels.{name}.left_out", LeftOut, row) for row in value["left_out"])
    return _record(path, f"wheels.{name}", Wheel, value, ready)


def _interpreter(path: Path, value: dict[str, Any]) -> Interpreter:
    ready = {"parts": _parts(path, "interpreter.parts", value.get("parts", []))}
    return _record(path, "interpreter", Interpreter, value, ready)
