"""What kind of value something is, found out without running any of its code, and what is wrong with one.

``isinstance`` with an abstract class reads ``value.__class__``, which an object may compute; its type cannot lie.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, Final, TypeGuard

from desktop.domain.errors import KnownError

MAX_EXPRESSION = 2_000
"""Characters of a path expression."""


class ValueProblem(KnownError):
    """A value, its text or an expression about it is not usable; nothing was changed."""

    code = "value.invalid"


class PathError(ValueProblem):
    """A path expression is malformed, leads nowhere it could be written, or asks for too much work.

    ``column`` counts from 1 in the expression; 0 where no place is at fault.
    """

    code = "value.path"

    def __init__(self, message: str, *, column: int = 0, next_step: str = "", code: str | None = None) -> None:
        super().__init__(message, next_step=next_step, code=code)
        self.column = column


class Missing:
    """The type of MISSING: there is no such value, which is not the same as None."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()

_TEXTS = (str, bytes, bytearray, memoryview)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """A mapping, by its type."""
    kind = type(value)
    return kind is dict or issubclass(kind, Mapping)


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """A sequence of values, by its type: neither text nor bytes."""
    kind = type(value)
    return kind is list or (issubclass(kind, Sequence) and not issubclass(kind, _TEXTS))


def is_text(value: object) -> TypeGuard[str]:
    """A text, by its type."""
    return issubclass(type(value), str)


def is_number(value: object) -> TypeGuard[int | float]:
    """A number, by its type; true and false are none."""
    kind = type(value)
    return kind is not bool and issubclass(kind, int | float)


def answers_itself(kind: type) -> bool:
    """Whether a class has a metaclass that answers for its attributes, so that even looking at it runs code."""
    metaclass: Any = type(kind)
    return metaclass.__getattribute__ is not type.__getattribute__


def is_container(value: object) -> bool:
    """Something that a path can lead into."""
    return is_mapping(value) or is_sequence(value)


def is_writable_mapping(value: object) -> TypeGuard[MutableMapping[Any, Any]]:
    """A mapping that can be changed."""
    kind = type(value)
    return kind is dict or issubclass(kind, MutableMapping)


def is_writable_sequence(value: object) -> TypeGuard[MutableSequence[Any]]:
    """A sequence of values that can be changed."""
    kind = type(value)
    return kind is list or (issubclass(kind, MutableSequence) and not issubclass(kind, _TEXTS))
