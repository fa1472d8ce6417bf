"""A definition's text, YAML or JSON, under limits of size, depth and weight (R-DEF-14, R-DEF-16).

Read as frontmatter is: by the quick reader where it will do and no places are asked for, else PyYAML's, which
is imported with the first such text and knows bombs of aliases, tags that call Python, doubled keys: use a thread.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from desktop.domain.definitions import AgentDefinition, DefinitionProblem
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.domain.text.places import FormatError, Place
from desktop.services.definitions.format import read_definition
from desktop.systems import open_flags
from desktop.yaml_text import lines, values

MAX_BYTES = 64_000
MAX_DEPTH = 12
SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class AgentText:
    """What a text says. ``definition`` None: an error keeps it from being one. ``places`` has where each field's value
    stands, by its path; JSON has none but that of an error of writing, which stands under ""."""

    definition: AgentDefinition | None
    problems: tuple[DefinitionProblem, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)

    def place(self, path: str) -> Place:
        """The place (line, column) of a field, or of the nearest one around it."""
        while path and path not in self.places:
            path = path.rpartition(".")[0]
        return self.places.get(path, (1, 1))


def read_text(text: str, origin: str, *, places: bool = True) -> AgentText:
    """Parse a definition; never raises for what the text says. ``json_text`` None: as the origin's name says. Without
    ``places`` most texts need no YAML library (1.4 MB)."""
    as_json = origin.endswith(".json")
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        return _unreadable("file.size", f"a definition has {MAX_BYTES // 1000} KB at most", (1, 1))
    if as_json:
        return _from_json(text, origin)
    if not places and (quick := lines.read(text)) is not None:
        return _checked(quick, origin, {})
    try:
        read = values.read(text, marks=True, what="file")
    except FormatError as error:
        return _unreadable("file.syntax", str(error), (error.line, error.column))
    found = {".".join(map(str, keys)): place for keys, place in read.marks.items()}
    return _checked(read.data, origin, found)


def _from_json(text: str, origin: str) -> AgentText:
    try:
        data = read_json(text, object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        return _unreadable("file.syntax", f"this is not valid JSON: {error.msg}", (error.lineno, error.colno))
    except (ValueError, RecursionError) as error:
        return _unreadable("file.syntax", f"this is not usable JSON: {error}"[:200], (1, 1))
    return _checked(data, origin, {})


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _checked(data: Any, origin: str, places: Mapping[str, Place]) -> AgentText:
    if not isinstance(data, Mapping):
        return _unreadable("file.syntax", "a definition is a mapping of fields to values", (1, 1))
    if _depth(data, MAX_DEPTH):
        return _unreadable("file.depth", f"values are nested more than {MAX_DEPTH} deep", (1, 1))
    definition, problems = read_definition(data, origin)
    return AgentText(definition, problems, places, data)


def _depth(value: Any, left: int) -> bool:
    """Whether something is nested deeper than so many levels."""
    if not isinstance(value, (Mapping, list)):
        return False
    inside = value.values() if isinstance(value, Mapping) else value
    return left <= 0 or any(_depth(item, left - 1) for item in inside)


def _unreadable(code: str, text: str, place: Place) -> AgentText:
    return AgentText(None, (DefinitionProblem("", code, text),), {"": place})


def read_raw(path: str) -> bytes:
    """The content of a file. Raises OSError, and ValueError for what is none of this size. Never waits for a pipe."""
    handle = os.open(path, os.O_RDONLY | open_flags.NONBLOCK | open_flags.CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("this is no file")
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"a definition has {MAX_BYTES // 1000} KB at most")
    return raw


def text_of(raw: bytes) -> str:
    """Decode a file. Raises ValueError."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("this is not UTF-8 text") from None
