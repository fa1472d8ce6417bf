"""A document as YAML 1.1 means it, dates and numbers in base 60 included, with the place of every dotted key.

Aliases are refused (a few lines of them can stand for gigabytes), and tags that are not of YAML itself.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.places import FormatError, Place
from desktop.yaml_text.parsing import composed, in_words, yaml


@dataclass(frozen=True, slots=True)
class Document:
    """The values nested as written (None: an empty text), and where each dotted key stands. ``twice``: keys that occur
    again."""

    values: Any = None
    places: dict[str, Place] = field(default_factory=dict)
    twice: tuple[tuple[str, Place], ...] = ()


def read(text: str) -> Document:
    """Raises FormatError; its line is 0 where the library knows none."""
    reader = _Reader()
    try:
        root, loader = composed(text)
        if root is None:
            return Document()
        reader.walk(root, "")
        values = loader.construct_document(root)
    except FormatError:
        raise
    except yaml.YAMLError as error:
        raise in_words(error, text) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(str(error).splitlines()[0], 0) from error
    return Document(values, reader.places, tuple(reader.twice))


class _Reader:
    """Notes where keys stand."""

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        self.twice: list[tuple[str, Place]] = []
        self._seen: set[int] = set()

    def walk(self, node: yaml.Node, key: str) -> None:
        if id(node) in self._seen:
            raise FormatError("anchors and aliases (& and *) are not supported", *_place(node))
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                self._entry(name, value, key)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                self.walk(value, f"{key}[]")

    def _entry(self, name: yaml.Node, value: yaml.Node, key: str) -> None:
        if not isinstance(name, yaml.ScalarNode):
            raise FormatError("a name must be a plain word", *_place(name))
        full = f"{key}.{name.value}" if key else str(name.value)
        if full in self.places and "[]" not in full:
            self.twice.append((full, _place(name)))
        self.places[full] = _place(name)
        self.walk(value, full)


def _place(node: yaml.Node) -> Place:
    mark = node.start_mark
    return mark.line + 1, mark.column + 1
