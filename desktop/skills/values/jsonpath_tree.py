"""The tree of a JSONPath expression (RFC 9535): made by ``jsonpath``, walked by ``jsonpath_walk``."""

from __future__ import annotations

from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    """A member by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """An element by its place; negative from the end."""

    index: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Elements as Python's slices take them."""

    start: int | None
    stop: int | None
    step: int


@dataclass(frozen=True, slots=True)
class Wildcard:
    """Selects every child."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The children for which ``test`` holds."""

    test: Test


Selector = Name | Index | Slice | Wildcard | Filter


@dataclass(frozen=True, slots=True)
class Segment:
    """Selectors applied to each node, or to it and everything below it."""

    selectors: tuple[Selector, ...]
    descendant: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A path from the root (``$``) or, within a filter, from the value at hand (``@``)."""

    segments: tuple[Segment, ...]
    from_root: bool = True

    def steps(self) -> tuple[Name | Index, ...] | None:
        """The way of a path that leads to one place at most; None for any other."""
        found: list[Name | Index] = []
        for segment in self.segments:
            first = segment.selectors[0]
            if segment.descendant or len(segment.selectors) > 1 or not isinstance(first, Name | Index):
                return None
            found.append(first)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A text, number, true, false or null."""

    value: Any


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """``length(value)``, ``count(nodes)`` or ``value(nodes)``: a value; ``match`` and ``search``: true or false."""

    name: str
    arguments: tuple[Operand, ...]


Operand = LiteralValue | Query | FunctionCall


@dataclass(frozen=True, slots=True)
class Compare:
    """Two values and one of ``== != < <= > >=``."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether a path leads anywhere."""

    query: Query


@dataclass(frozen=True, slots=True)
class PatternTest:
    """Whether a text fits an expression: ``match(text, pattern)`` or ``search(text, pattern)``."""

    call: FunctionCall


@dataclass(frozen=True, slots=True)
class Not:
    """A test that holds where another one does not."""

    test: Test


@dataclass(frozen=True, slots=True)
class Both:
    """Every one of several tests, or (``any_of``) at least one."""

    tests: tuple[Test, ...]
    any_of: bool


Test = Compare | Exists | PatternTest | Not | Both
