"""Reading config.yaml with the place of every key. Imported only in a thread: PyYAML is not loaded at the start.

Aliases are refused (a few lines of them can stand for gigabytes), unknown tags too, and files over a megabyte.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from desktop.domain.errors import SettingsError

MAX_BYTES = 1_000_000
_EDIT = "Correct the file and save it; until then the last good settings stay in force."

Place = tuple[int, int]
"""line and column, from 1"""


@dataclass(frozen=True, slots=True)
class SettingsDocument:
    """The file's values nested as written, and where each dotted key stands. ``twice``: keys that occur again."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    twice: tuple[tuple[str, Place], ...] = ()


def parse(raw: bytes) -> SettingsDocument:
    """Raises SettingsError with line and column."""
    if len(raw) > MAX_BYTES:
        raise SettingsError("config.yaml is larger than a megabyte.", next_step=_EDIT)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        raise _error("it is not UTF-8 text", line, column) from error
    loader = yaml.CSafeLoader(text)
    try:
        root = loader.get_single_node()
        reader = _Reader()
        if root is not None:
            reader.walk(root, "")
        values = {} if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        raise _from_yaml(error) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(f"config.yaml cannot be read: {str(error).splitlines()[0]}.", next_step=_EDIT) from error
    finally:
        loader.dispose()
    if values is None:
        return SettingsDocument()
    if not isinstance(values, dict):
        raise _error("it must hold names with values, such as 'appearance:'", 1, 1)
    return SettingsDocument(values, reader.places, tuple(reader.twice))


class _Reader:
    """Notes where keys stand."""

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        self.twice: list[tuple[str, Place]] = []
        self._seen: set[int] = set()

    def walk(self, node: yaml.Node, key: str) -> None:
        place = (node.start_mark.line + 1, node.start_mark.column + 1)
        if id(node) in self._seen:
            raise _error("anchors and aliases (& and *) are not supported", *place)
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                self._entry(name, value, key)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                self.walk(value, f"{key}[]")

    def _entry(self, name: yaml.Node, value: yaml.Node, key: str) -> None:
        place = (name.start_mark.line + 1, name.start_mark.column + 1)
        if not isinstance(name, yaml.ScalarNode):
            raise _error("a name must be a plain word", *place)
        full = f"{key}.{name.value}" if key else str(name.value)
        if full in self.places and "[]" not in full:
            self.twice.append((full, place))
        self.places[full] = place
        self.walk(value, full)


def _from_yaml(error: yaml.MarkedYAMLError) -> SettingsError:
    mark = error.problem_mark or error.context_mark
    what = (error.problem or "it is not valid YAML").strip()
    if "\\t" in what or "'\t'" in what:
        what = "a tab is used to indent; use spaces"
    return _error(what, mark.line + 1, mark.column + 1) if mark else SettingsError(what, next_step=_EDIT)


def _error(what: str, line: int, column: int) -> SettingsError:
    return SettingsError(
        f"config.yaml, line {line}, column {column}: {what}.", line=line, column=column, next_step=_EDIT
    )


def reads_as(text: str) -> Any:
    """What a bare word means to YAML: ``on`` is true, ``1:30`` is ninety."""
    try:
        return yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return None
