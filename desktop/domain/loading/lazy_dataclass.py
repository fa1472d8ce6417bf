"""``dataclass`` of the standard library, whose methods are compiled when they are first used.

The standard one compiles up to seven methods a class while its module is imported: half a millisecond and 10 KB each.
Of some 500 classes a start makes instances of a few dozen, and hardly ever compares or prints one. Here ``__init__``,
``__repr__``, ``__eq__`` and ``__hash__`` are each a placeholder until it is asked for; then the standard library makes
it, and it is what it would have been.
"""

from __future__ import annotations

import dataclasses
import threading
from inspect import get_annotations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """As ``dataclasses.dataclass``, with the same options."""
        return _made(cls, options) if cls is not None else lambda given: _made(given, options)


__all__ = ["dataclass"]

_LAYOUT = ("slots", "kw_only", "weakref_slot", "match_args")
"""Options that shape the class itself, not its methods."""


class _Later:
    """A placeholder for the method ``name`` of ``owner``."""

    __slots__ = ("_name", "_options", "_owner")

    def __init__(self, owner: type, name: str, options: dict[str, Any]) -> None:
        self._owner, self._name, self._options = owner, name, options

    def __get__(self, instance: object, kind: type | None = None) -> Any:
        if self._owner.__dict__[self._name] is self:
            setattr(self._owner, self._name, _compiled(self._owner, self._name, self._options))
        return self._owner.__dict__[self._name].__get__(instance, kind)


def _made(cls: type, options: dict[str, Any]) -> Any:
    """The class with its fields and slots, and placeholders for its methods."""
    frozen, eq = options.get("frozen", False), options.get("eq", True)
    loose = not frozen and _has_frozen_base(cls)
    if options.keys() - {*_LAYOUT, "frozen", "eq"} or loose or _has_init(cls):
        return dataclasses.dataclass(**options)(cls)
    own = set(cls.__dict__)
    cls.__doc__ = cls.__doc__ or cls.__name__  # the standard one would work out a signature for it
    layout = {name: options[name] for name in _LAYOUT if name in options}
    _deriving.now = True
    try:
        frozen_base = _has_frozen_base(cls)
        made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, frozen=frozen_base, **layout)(cls)
    finally:
        _deriving.now = False
    methods: dict[str, Any] = {name: _Later(made, name, options) for name in _placeholders(frozen, eq)}
    if eq and not frozen:
        methods["__hash__"] = None
    if frozen:
        made.__dataclass_params__ = _FrozenParams(made.__dataclass_params__)
        methods |= _FROZEN if options.get("slots") else _READ_ONLY
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    return made


_deriving = threading.local()
"""``now``: this thread makes a class."""


class _FrozenParams:
    """What a class was made with, and that it is frozen. The standard library is told that it is not while a class is
    derived from it here: it would compile two methods for that one, which are those below all the same."""

    def __init__(self, params: Any) -> None:
        self._params = params

    def __getattr__(self, name: str) -> Any:
        return getattr(self._params, name)

    @property
    def frozen(self) -> bool:
        return not getattr(_deriving, "now", False)


def _has_frozen_base(cls: type) -> bool:
    """Then the standard one wants the class to be frozen, too, and says so if it is not."""
    bases = (getattr(base, "__dataclass_params__", None) for base in cls.__mro__[1:])
    return any(bool(base.frozen) for base in bases if base is not None)


def _has_init(cls: type) -> bool:
    """A method of its own, or an argument that is no field and could not be found later."""
    return "__init__" in cls.__dict__ or "InitVar" in str(get_annotations(cls))


def _placeholders(frozen: bool, eq: bool) -> tuple[str, ...]:
    return ("__init__", "__repr__", *(("__eq__",) if eq else ()), *(("__hash__",) if eq and frozen else ()))


def _compiled(cls: Any, method: str, options: dict[str, Any]) -> Any:
    """The method as the standard library makes it for a class of the same fields. Two threads may do so at once: what
    they make is the same."""
    fields = dataclasses.fields(cls)
    body: dict[str, Any] = {field.name: _like(field) for field in fields}
    body |= {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    body["__annotations__"] = {field.name: field.type for field in fields}
    if method == "__init__" and hasattr(cls, "__post_init__"):
        body["__post_init__"] = cls.__post_init__
    made: Any = dataclasses.dataclass(
        init=method == "__init__",
        repr=method == "__repr__",
        eq=method in ("__eq__", "__hash__"),
        frozen=options.get("frozen", False) and method in ("__init__", "__hash__"),
        slots=options.get("slots", False) and method == "__init__",
    )(type(cls.__name__, (), body))
    return made.__dict__[method]


def _like(field: dataclasses.Field[Any]) -> Any:
    names = ("default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")
    options = {name: getattr(field, name) for name in names}
    return dataclasses.field(**{name: value for name, value in options.items() if value is not dataclasses.MISSING})


# -- what all frozen classes share ------------------------------------------------------------------------------------


def _is_closed(instance: Any, name: str) -> bool:
    """A class that is derived from a frozen one and is itself no dataclass may have attributes of its own."""
    return "__dataclass_params__" in type(instance).__dict__ or name in instance.__dataclass_fields__


def _set(self: Any, name: str, value: object) -> None:
    if _is_closed(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    if _is_closed(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _state(self: Any) -> list[Any]:
    """For ``copy`` and ``pickle``, which else would assign to the slots."""
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_READ_ONLY = {"__setattr__": _set, "__delattr__": _delete}
_FROZEN = {**_READ_ONLY, "__getstate__": _state, "__setstate__": _set_state}
