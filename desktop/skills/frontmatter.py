"""Frontmatter: the YAML mapping between ``---`` lines, then the body (R-SK-1).

A small line parser reads the common case (scalars, flow and block lists, one nested level) and hands everything else
to PyYAML's C loader, which is imported only then: 10,000 files cost 0.4 s instead of 5.6.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from typing import Any

MAX_FRONTMATTER = 64_000
"""Characters; longer frontmatter is a load problem."""


class FrontmatterError(ValueError):
    """Unreadable frontmatter; ``line`` and ``column`` count from 1 in the file."""

    def __init__(self, message: str, line: int, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's frontmatter and body; ``body_line`` is the body's first line, from 1."""

    data: dict[str, Any]
    body: str
    body_line: int


def split(text: str) -> tuple[str, str, int]:
    """(frontmatter, body, the body's first line). FrontmatterError where the fences are missing."""
    text = text.removeprefix("\ufeff")
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        raise FrontmatterError("the file does not begin with a line ---", 1)
    length = 0
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == "---":
            return "".join(lines[1 : number - 1]), "".join(lines[number:]), number + 1
        length += len(line)
        if length > MAX_FRONTMATTER:
            raise FrontmatterError(f"the frontmatter is longer than {MAX_FRONTMATTER} characters", number)
    raise FrontmatterError("the frontmatter is not closed by a line ---", len(lines))


def parse(text: str) -> Parsed:
    """Read a skill file's text. Raises FrontmatterError with line and column."""
    head, body, body_line = split(text)
    data = _quick(head)
    if data is None:
        data = load_yaml_mapping(head, first_line=2)
    return Parsed(data, body, body_line)


# -- the quick way ----------------------------------------------------------------------------------------------------

_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$")
_PLAIN = re.compile(r"[A-Za-z_/(][^#:\[\]{}&*!|>'\"%@`,\t]*$")
_NUMBER = re.compile(r"(?:0|-?[1-9]\d{0,15})$")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_OTHER_WORDS = frozenset({"yes", "no", "on", "off", "y", "n", "true", "false", "null"})
"""Words that YAML 1.1 may read as something else."""
_ODD = object()


class _Quick:
    """Reads line by line; ``line`` returns False as soon as something is beyond it."""

    def __init__(self) -> None:
        self.root: dict[str, Any] = {}
        self._holder = self.root
        self._empty = ""  # the key above, when it has no value on its line
        self._items: list[Any] | None = None

    def line(self, line: str) -> bool:
        text = line.strip()
        if not text or text[0] == "#":
            return not text or line[0] == "#"
        indent = len(line) - len(line.lstrip(" "))
        if text.startswith("- "):
            return self._item(indent, text[2:].strip())
        match = _KEY.match(text)
        if match is None or indent not in (0, 2) or not self._enter(indent):
            return False
        key, rest = match[1], (match[2] or "").strip()
        value = _scalar(rest)
        if value is _ODD or key in self._holder or key in _OTHER_WORDS:
            return False
        self._holder[key] = value
        self._empty, self._items = ("" if rest else key), None
        return True

    def _enter(self, indent: int) -> bool:
        """Choose the mapping that a key of this indent belongs to."""
        if indent == 0:
            self._holder = self.root
        elif self._holder is self.root:
            if not self._empty:
                return False
            self._holder = self.root[self._empty] = {}
        return self._items is None or indent < self._depth

    @property
    def _depth(self) -> int:
        """The indent of list items below the mapping at hand."""
        return 2 if self._holder is self.root else 4

    def _item(self, indent: int, text: str) -> bool:
        value = _scalar(text)
        if indent != self._depth or value is _ODD:
            return False
        if self._items is None:
            if not self._empty:
                return False
            self._items = self._holder[self._empty] = []
            self._empty = ""
        self._items.append(value)
        return True


def _quick(head: str) -> dict[str, Any] | None:
    """The mapping, or None when anything is beyond this parser."""
    reader = _Quick()
    return reader.root if all(reader.line(line) for line in head.splitlines()) else None


def _scalar(text: str) -> Any:
    """A plain scalar, a flow list of plain scalars, or ``_ODD``."""
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.match(text):
        return int(text)
    if text[0] == "[" and text[-1] == "]":
        items = [_scalar(part.strip()) for part in text[1:-1].split(",")] if text[1:-1].strip() else []
        return _ODD if any(item is _ODD or item is None for item in items) else items
    if text[0] == text[-1] == '"' and len(text) > 1 and not set('"\\') & set(text[1:-1]):
        return text[1:-1]
    if _PLAIN.match(text) and text.lower() not in _OTHER_WORDS:
        return text
    return _ODD


# -- the thorough way -------------------------------------------------------------------------------------------------


def _yaml() -> Any:
    """The one place of this room that imports PyYAML (40 ms): in a thread, please."""
    return importlib.import_module("yaml")


def load_yaml_mapping(text: str, *, first_line: int = 1) -> dict[str, Any]:
    """Read YAML that has to be a mapping. Raises FrontmatterError; ``first_line`` is where ``text`` begins."""
    yaml = _yaml()
    try:
        data = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line, mark.column + 1) if mark is not None else (0, 1)
        problem = getattr(error, "problem", None) or "this is not valid YAML"
        raise FrontmatterError(str(problem), first_line + line, column) from error
    except (RecursionError, ValueError) as error:
        raise FrontmatterError("this is not valid YAML", first_line) from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise FrontmatterError("a mapping of keys to values is needed", first_line)
    return {str(key): value for key, value in data.items()}
