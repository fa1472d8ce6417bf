"""Single values as plain ones, and what is told about those that have no plain form. None of their own code runs."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import types
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import Enum
from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from types import NoneType
from typing import Any
from uuid import UUID

from desktop.skills.values.kinds import MISSING, answers_itself

MAX_NAME = 80
_MAX_BITS = 1_024

_FUNCTIONS: tuple[type, ...] = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    functools.partial,
)
_TYPE_NAME: Any = type.__dict__["__name__"]  # reads a class's name past whatever its metaclass makes of it


def clean(text: str) -> str:
    """The same text, or one with U+FFFD for surrogates that stand alone, which UTF-8 cannot hold."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def scalar(value: object) -> Any:
    """The plain form of a value that holds no others, or MISSING where it has none or is a container."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return clean(str.__str__(value))
    if issubclass(kind, int):
        return _whole(int.__index__(value))  # type: ignore[arg-type]
    if issubclass(kind, float):
        number = float.__float__(value)  # type: ignore[arg-type]
        return number if math.isfinite(number) else None
    read = _TEXTS.get(kind) or (str if kind is _late_kind("decimal", "Decimal") else None)
    return MISSING if read is None else clean(read(value))


def _whole(number: int) -> int | str:
    bits = number.bit_length()
    return number if bits <= _MAX_BITS else f"[Integer of {bits} bits]"


def _moment(value: Any) -> str:
    """A date and time; a zone of a kind that we don't know is left out, as asking it would run its code."""
    known = type(value.tzinfo) in _zones()
    text: str = value.isoformat() if known else value.replace(tzinfo=None).isoformat()
    return text.removesuffix("+00:00") + "Z" if value.tzinfo is UTC else text


def _zones() -> tuple[type, ...]:
    """The time zone classes whose code may be run."""
    zone = _late_kind("zoneinfo", "ZoneInfo")
    return (NoneType, timezone) if zone is None else (NoneType, timezone, zone)


def _late_kind(module: str, name: str) -> type | None:
    """A kind of the standard library, None before somebody loaded it, which takes memory: no value is of it yet."""
    kind: type | None = getattr(sys.modules.get(module), name, None)
    return kind


_TEXTS: dict[type, Callable[[Any], str]] = {
    datetime: _moment,
    time: _moment,
    date: date.isoformat,
    timedelta: str,
    UUID: str,
    complex: str,
    PosixPath: str,
    WindowsPath: str,
    PurePosixPath: str,
    PureWindowsPath: str,
}


def enum_value(value: object) -> object:
    """What an enum's member stands for; anything else unchanged."""
    for _ in range(4):
        if not issubclass(type(value), Enum) or answers_itself(type(value)):
            return value
        value = inspect.getattr_static(value, "_value_", None)
    return value


def key_text(key: object) -> str:
    """A mapping's key as JSON would write its name."""
    found = scalar(enum_value(key))
    if isinstance(found, str):
        return found
    if found is None or isinstance(found, bool):
        return "null" if found is None else str(found).lower()
    return describe(key) if found is MISSING else repr(found)


def is_function(value: object) -> bool:
    """A function, method, or partial application of one."""
    return issubclass(type(value), _FUNCTIONS)


def type_name(value: object) -> str:
    """The name of a value's type."""
    return _named(type(value))


def _named(kind: type) -> str:
    return clean(str(_TYPE_NAME.__get__(kind))[:MAX_NAME])


def describe(value: object) -> str:
    """What a value is, in brackets, when it has no plain form."""
    kind = type(value)
    if is_function(value):
        return _function(value)
    if issubclass(kind, type):
        return f"[Class: {_named(value)}]"  # type: ignore[arg-type]
    if not answers_itself(kind) and issubclass(kind, Awaitable | Future):
        return "[Promise]"
    for raw in (bytes, bytearray, memoryview):
        if issubclass(kind, raw):
            return f"[Bytes: {raw.__len__(value)}]"  # type: ignore[arg-type]
    return f"[{type_name(value)}]"


def _function(value: Any) -> str:
    """A function's name; for a method that of its function, because wrappers hand the question on to what they wrap."""
    inner = value.__func__ if type(value) is types.MethodType else value
    if type(inner) not in (types.FunctionType, types.BuiltinFunctionType):
        return "[Function]"
    name = inner.__name__
    return f"[Function: {clean(name[:MAX_NAME])}]" if type(name) is str else "[Function]"
