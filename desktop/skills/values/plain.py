"""Turns any value into plain, JSON-safe data: no cycles, no depth to fall into, no more of it than asked for.

None of a value's own code runs: built-in kinds are read through their built-in methods, records (dataclasses) field by
field past any property, and of everything else only the name of its type is told. It goes by a stack of its own, so
nesting costs no recursion.

======================================  ===============================================================
text                                    as it is; lone surrogates become U+FFFD, so that UTF-8 can hold it
whole numbers                           as they are; beyond 1,024 bits a description
NaN, infinities                         None, as JSON.stringify has it
mappings                                names of keys as JSON writes them; doubles get ``#2``, ``#3`` …
tuples, sets, deques, ranges            lists; sets of texts or numbers sorted
dataclasses                             their fields, without those left out of ``repr`` (secrets)
exceptions                              ``{"name": …, "message": …}``
dates, UUIDs, decimals, paths, enums    their usual text; an enum's value
functions, classes                      ``[Function: name]``, ``[Class: name]``
coroutines, futures, tasks              ``[Promise]``
bytes                                   ``[Bytes: 12]``
a container within itself               ``[Circular]``
containers beyond the depth             ``[Object]``, ``[Array]``
what no longer fits                     ``[Truncated: 12]`` at a list's end, ``"[Truncated]": 12`` in a mapping
anything else                           ``[NameOfItsType]``
======================================  ===============================================================
"""

from __future__ import annotations

import dataclasses
import gc
import inspect
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType, MemberDescriptorType
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.values.json_text import text_size
from desktop.skills.values.kinds import MISSING, ValueProblem, answers_itself
from desktop.skills.values.scalars import clean, describe, enum_value, is_function, key_text, scalar, type_name

MIN_BYTES = 64
FN = "$fn"
"""The one key of a mapping that stands for a function."""

_RESERVE = 32  # bytes kept for the mark of truncation of each open container
_LEFT_OUT: Any = object()
_OPENED: Any = object()
_NO_ROOM: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRules:
    """How to turn values into plain ones. Bytes are of compact JSON in UTF-8."""

    max_depth: int
    """How deep containers may be nested."""
    max_bytes: int
    """How long the whole may be."""
    max_values: int
    """How many values there may be."""
    max_text: int | None = None
    """How long one text may be; None: as the whole."""
    known: Mapping[int, str] = field(default_factory=dict)
    """The identity of functions -> the names they are written by (``{"$fn": name}``)."""
    revived: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Names -> the functions that replace such mappings."""
    drop_functions: bool = False
    """Leaves functions out of mappings."""
    refuse: bool = False
    """A limit raises ValueProblem where it would cut otherwise."""


def plain(value: object, rules: PlainRules) -> Any:
    """``value`` as plain data; whatever lies in it, this does not raise (but for ``refuse``)."""
    return _Conversion(rules).run(value)


@dataclass(slots=True)
class _Frame:
    """A container being filled. ``left`` counts the items not yet taken."""

    target: dict[str, Any] | list[Any]
    items: Iterator[tuple[Any, Any]]
    left: int
    identity: int
    doubles: dict[str, int] = field(default_factory=dict)


class _Conversion:
    """One conversion to plain data: the open containers, and how much room is left."""

    def __init__(self, rules: PlainRules) -> None:
        self._rules = rules
        self._room = max(MIN_BYTES, rules.max_bytes)
        self._values = rules.max_values
        self._stack: list[_Frame] = []
        self._open: set[int] = set()

    def run(self, value: object) -> Any:
        """Convert the root, then whatever it opened."""
        found = self._convert(value)
        if found is _LEFT_OUT:
            return None
        root: list[Any] = []
        self._put(root, None, found)
        while self._stack:
            self._next(self._stack[-1])
        return root[0]

    def _next(self, frame: _Frame) -> None:
        """Take one item of the innermost container, or close it."""
        try:
            key, value = next(frame.items)
        except (StopIteration, RuntimeError):  # the latter: it was changed meanwhile by another thread
            self._room += _RESERVE
            self._close(frame)
            return
        frame.left -= 1
        name = None if isinstance(frame.target, list) else self._name(frame, key)
        room = self._room
        self._room -= 1 if name is None else text_size(name) + 2
        found = self._convert(value) if self._room > 0 and self._values > 0 else _NO_ROOM
        self._values -= 1
        if found is _NO_ROOM:
            self._room = room
            frame.left += 1
            self._truncate(frame)
        elif found is _LEFT_OUT and name is not None:
            self._room = room
        else:
            self._put(frame.target, name, None if found is _LEFT_OUT else found)

    def _put(self, target: dict[str, Any] | list[Any], name: str | None, found: Any) -> None:
        value = self._stack[-1].target if found is _OPENED else found
        if isinstance(target, list):
            target.append(value)
        else:
            target[name or ""] = value

    def _name(self, frame: _Frame, key: object) -> str:
        """The text of a key, told apart from those before it."""
        name = key_text(key)
        while name in frame.target:
            count = frame.doubles.get(name, 1) + 1
            frame.doubles[name] = count
            name = f"{name}#{count}"
        return name

    def _truncate(self, frame: _Frame) -> None:
        self._limit("larger")
        if isinstance(frame.target, list):
            frame.target.append(f"[Truncated: {frame.left}]")
        else:
            frame.target["[Truncated]"] = frame.left
        self._close(frame)

    def _limit(self, what: str) -> None:
        if self._rules.refuse:
            raise ValueProblem(f"This value is {what} than allowed.", code="value.limit")

    def _close(self, frame: _Frame) -> None:
        self._stack.pop()
        self._open.discard(frame.identity)

    # -- one value ----------------------------------------------------------------------------------------------------

    def _convert(self, value: object) -> Any:
        """Convert one value: a plain scalar; or ``_OPENED`` with a new frame; or the mark that there is no room, or
        nothing to show."""
        value = enum_value(value)
        known = self._rules.known.get(id(value))
        if known is not None:
            return self._opened({FN: known}, value)
        found = scalar(value)
        if found is MISSING:
            return self._other(value)
        return self._fitting(found)

    def _fitting(self, found: Any) -> Any:
        """A scalar if there is room for it, a text cut to the room there is."""
        if isinstance(found, str):
            return self._text(found)
        self._room -= 4 if found is None or found is True else 5 if found is False else len(repr(found))
        return found if self._room >= 0 else _NO_ROOM

    def _text(self, text: str) -> Any:
        limit = self._room if self._rules.max_text is None else min(self._room, self._rules.max_text)
        size = text_size(text) if len(text) <= limit else limit + 1
        if size > limit:
            self._limit("larger")
            if limit < 24:
                return _NO_ROOM
            text = _cut(text, limit)
            size = text_size(text)
        self._room -= size
        return text

    def _other(self, value: object) -> Any:
        if self._rules.drop_functions and is_function(value):
            return _LEFT_OUT
        opened = open_container(value)
        if opened is None:
            return self._text(describe(value))
        if id(value) in self._open or opened.identity in self._open:
            return self._text("[Circular]")
        if len(self._stack) >= self._rules.max_depth:
            self._limit("nested deeper")
            return self._text("[Object]" if opened.named else "[Array]")
        revived = self._revived(value, opened)
        return self._push(opened) if revived is None else revived

    def _revived(self, value: object, opened: Opened) -> Callable[..., Any] | None:
        """The function that a mapping with the one key ``$fn`` stands for."""
        if not self._rules.revived or type(value) is not dict or opened.size != 1:
            return None
        name = value.get(FN)
        return self._rules.revived.get(name) if type(name) is str else None

    def _opened(self, mapping: dict[str, Any], value: object) -> Any:
        return self._push(Opened(iter(mapping.items()), 1, id(value), named=True))

    def _push(self, opened: Opened) -> Any:
        if self._room < 2 + _RESERVE:
            return _NO_ROOM
        self._room -= 2 + _RESERVE
        self._open.add(opened.identity)
        self._stack.append(_Frame({} if opened.named else [], opened.items, opened.size, opened.identity))
        return _OPENED


def _cut(text: str, limit: int) -> str:
    """Cut a text so that it fits, with an ellipsis, into ``limit`` bytes of JSON."""
    text = clean(text[:limit])
    while text and text_size(text) > limit - 3:
        text = text[: min(len(text) - 1, len(text) * (limit - 3) // text_size(text))]
    return text + "…"


# -- containers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Opened:
    """A container's items, read without its own code; ``named``: pairs of key and value, else the keys mean nothing."""

    items: Iterator[tuple[Any, Any]]
    size: int
    identity: int
    named: bool


def open_container(value: Any) -> Opened | None:
    """What lies in a container or record, or None for anything else."""
    if isinstance_of(value, MappingProxyType):
        value = gc.get_referents(value)[0]  # the mapping behind it, which it would ask by its own methods
    if isinstance_of(value, dict):
        items = OrderedDict.items(value) if isinstance_of(value, OrderedDict) else dict.items(value)
        return Opened(iter(items), dict.__len__(value), id(value), named=True)
    for kind in (list, tuple, deque, set, frozenset, range):
        if isinstance_of(value, kind):
            return _listed(value, kind)
    if isinstance_of(value, BaseException):
        return _named({"name": type_name(value), "message": _message(value)}, value)
    return _record(value)


def isinstance_of(value: object, kind: type) -> bool:
    """``isinstance`` by the type alone."""
    return issubclass(type(value), kind)


def _listed(value: Any, kind: Any) -> Opened:
    items = kind.__iter__(value)
    size = kind.__len__(value)
    if kind in (set, frozenset) and size <= 1_000:
        items = iter(_sorted(list(items)))
    return Opened(((None, item) for item in items), size, id(value), named=False)


def _sorted(items: list[Any]) -> list[Any]:
    """In order where all are texts or all numbers, so that equal sets look equal."""
    kinds = {type(item) for item in items}
    return sorted(items) if kinds <= {str} or kinds <= {int, float} else items


def _named(fields: dict[str, Any], value: object) -> Opened:
    return Opened(iter(fields.items()), len(fields), id(value), named=True)


def _message(error: BaseException) -> str:
    """An exception's text from its arguments; its own ``__str__`` is not asked."""
    arguments = BaseException.args.__get__(error)  # type: ignore[attr-defined]
    return ", ".join(key_text(argument) for argument in tuple.__iter__(arguments))


def _record(value: object) -> Opened | None:
    """A dataclass's fields, or None."""
    kind = type(value)
    if answers_itself(kind) or type(inspect.getattr_static(kind, "__dataclass_fields__", None)) is not dict:
        return None
    found = {}
    for each in dataclasses.fields(kind):  # type: ignore[arg-type]
        held = _field(value, each.name) if each.repr else MISSING
        if held is not MISSING:
            found[each.name] = held
    return _named(found, value)


def _field(value: object, name: str) -> Any:
    """What a field holds, past properties and ``__getattribute__``."""
    held = inspect.getattr_static(value, name, MISSING)
    if type(held) is MemberDescriptorType:
        try:
            return held.__get__(value, type(value))
        except AttributeError:
            return MISSING
    return held
