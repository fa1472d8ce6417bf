"""Values into plain data and JSON text, and back (S-RES-1). What becomes of each kind of value: see ``plain``.

``$fn`` convention: a mapping with that one key stands for a function. Python never makes code out of it. With
``functions`` given (a registry: name to function), ``serialize`` writes a registered function as ``{"$fn": name}`` and
``deserialize`` puts the registered one back; a name that is not registered, source text from a JavaScript isolate
included, stays the plain mapping it is. Without a registry functions become descriptions. Whoever passes a registry to
``deserialize`` lets the data choose among its functions, so it should hold only what that sender may name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, NoReturn

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.skills.values.contexts import ContextView
from desktop.skills.values.json_text import write
from desktop.skills.values.kinds import ValueProblem
from desktop.skills.values.plain import PlainRules, plain

MAX_DEPTH = 100
MAX_BYTES = 16_000_000
MAX_VALUES = 1_000_000

Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SerializeOptions:
    """Limits and conventions of a conversion; bytes are of compact JSON in UTF-8 (64 at least).

    What exceeds a limit is cut and marked; nothing raises. ``max_values`` bounds the work where one container occurs
    many times. ``indent`` is for ``stringify`` alone.
    """

    functions: Functions = field(default_factory=dict)
    max_depth: int = MAX_DEPTH
    max_bytes: int = MAX_BYTES
    max_values: int = MAX_VALUES
    indent: int | None = None


CloneOptions = SerializeOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class DeserializeOptions:
    """Limits and conventions of the way back. Beyond ``max_depth`` or ``max_bytes`` the data is refused."""

    functions: Functions = field(default_factory=dict)
    max_depth: int = MAX_DEPTH
    max_bytes: int = MAX_BYTES
    max_values: int = MAX_VALUES


_SERIALIZE = SerializeOptions()
_DESERIALIZE = DeserializeOptions()


def serialize(value: object, opts: SerializeOptions = _SERIALIZE) -> Any:
    """``value`` as plain data that ``json`` can write. Never raises."""
    known = {id(function): name for name, function in opts.functions.items()}
    return plain(value, replace(_rules(opts), known=known))


def deserialize(value: object, opts: DeserializeOptions = _DESERIALIZE) -> Any:
    """A copy of plain data in which registered functions stand for their ``{"$fn": name}``.

    Raises ValueProblem where the data is nested deeper, or holds more, than ``opts`` allow: a cut copy would pass for
    the whole.
    """
    return plain(value, replace(_rules(opts), revived=opts.functions, refuse=True))


def stringify(value: object, opts: SerializeOptions = _SERIALIZE) -> str:
    """``serialize`` as JSON text; compact unless ``opts.indent`` says otherwise. Never raises; UTF-8 can hold it."""
    return write(serialize(value, opts), opts.indent)


def parse(text: str, opts: DeserializeOptions = _DESERIALIZE) -> Any:
    """The data of a JSON text, by ``deserialize``. Raises ValueProblem for anything that is not JSON (NaN is not)."""
    if len(text) > opts.max_bytes:
        raise ValueProblem(f"This JSON text has more than {opts.max_bytes} characters.")
    try:
        found = read_json(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueProblem("This JSON text is nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise ValueProblem(f"Line {error.lineno}, column {error.colno} of this JSON text: {error.msg}.") from error
    except ValueError as error:
        raise ValueProblem(f"This is no JSON text: {error}.") from error
    return deserialize(found, opts)


def safe_stringify(value: object, indent: int | None = None) -> str:
    """JSON text of anything, functions, awaitables and cycles included."""
    return write(serialize(value), indent)


def safe_clone(value: object, opts: CloneOptions = _SERIALIZE) -> Any:
    """A deep copy as plain data that shares nothing with ``value``."""
    return serialize(value, opts)


def safe_snapshot(value: object, max_depth: int = 4, max_bytes: int = 10_240) -> Any:
    """A copy for events and debugging: its compact JSON has ``max_bytes`` (64 at least) at most.

    One text takes no more than a quarter, so that others are seen beside it.
    """
    rules = PlainRules(max_depth=max_depth, max_bytes=max_bytes, max_values=max_bytes, max_text=max(64, max_bytes // 4))
    return plain(value, rules)


def serialize_context(ctx: ContextView | None, max_depth: int = 4, max_bytes: int = 65_536) -> dict[str, Any] | None:
    """A context for logs and debugging, or None for none.

    Functions are left out, the manager with them; other contexts show as their ids, the own one as ``[Circular]``.
    Texts are not redacted here: a log does that.
    """
    if ctx is None:
        return None
    envelope = ctx.envelope
    shown = {
        "envelope": {
            "id": envelope.id,
            "target": "[Circular]" if envelope.target is ctx else _context_id(envelope.target),
            "parent": _context_id(envelope.parent),
        },
        **{name: getattr(ctx, name) for name in ("args", "run", "locals", "nonlocals", "globals")},
    }
    rules = PlainRules(max_depth=max_depth + 1, max_bytes=max_bytes, max_values=max_bytes, drop_functions=True)
    found: dict[str, Any] = plain(shown, rules)
    return found


def _context_id(ctx: ContextView | None) -> str | None:
    return None if ctx is None else ctx.envelope.id


def _rules(opts: SerializeOptions | DeserializeOptions) -> PlainRules:
    return PlainRules(max_depth=opts.max_depth, max_bytes=opts.max_bytes, max_values=opts.max_values)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")
