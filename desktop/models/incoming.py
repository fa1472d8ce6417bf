"""Items of the model host's stream as the domain's stream items; checked again on this side of the pipe."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from desktop.domain.errors import ProtocolViolation
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import StopReason, ToolCallBlock, Usage
from desktop.domain.models import (
    Finished,
    ReasoningDelta,
    ReasoningSealed,
    SettingsLeftOut,
    StreamItem,
    TextDelta,
    ToolCallProgress,
)
from desktop.domain.text.json_text import read_json

ARGUMENTS_MAX = 1_000_000  # characters of one call
CALLS_MAX = 128
LEFT_MAX = 16
SEALED_MAX = 1_000_000  # characters of what a maker wants back with one piece of its thinking
SEALED_ALL_MAX = 4_000_000  # of one answer
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_STOPS: Mapping[str, StopReason] = {"end": "end", "tool_calls": "tool_calls", "length": "length"}


@dataclass
class _Call:
    call_id: str
    tool: str
    problem: str
    pieces: list[str] = field(default_factory=list)
    characters: int = 0


class Incoming:
    """Reads one stream: ``item`` for each, then ``finished`` for the call's value. Raises ProtocolViolation."""

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}
        self._seal: list[str] = []
        self._sealed = 0

    def item(self, plain: Any) -> StreamItem | None:
        """The item to pass on, or None for pieces of a call that are collected."""
        try:
            kind = plain["k"]
            if kind == "text":
                return TextDelta(_text(plain["t"]))
            if kind == "think":
                return ReasoningDelta(_text(plain["t"]))
            if kind == "call":
                return ToolCallProgress(int(plain["i"]), _text(plain["n"]), int(plain["c"]))
            if kind == "left":
                return SettingsLeftOut(tuple(_text(one)[:200] for one in plain["n"][:LEFT_MAX]))
            if kind == "seal":
                return self._sealing(plain)
            self._collect(kind, plain)
        except (KeyError, TypeError, ValueError):
            raise ProtocolViolation("The model host sent something it may not.") from None
        return None

    def _sealing(self, plain: Mapping[str, Any]) -> ReasoningSealed | None:
        """A seal comes in pieces, the last of which says so."""
        self._seal.append(_text(plain["t"]))
        self._sealed += len(plain["t"])
        if self._sealed > SEALED_ALL_MAX or sum(map(len, self._seal)) > SEALED_MAX:
            raise ValueError
        if plain["end"] is not True:
            return None
        sealed, self._seal = "".join(self._seal), []
        return ReasoningSealed(sealed, plain["alone"] is True)

    def _collect(self, kind: str, plain: Mapping[str, Any]) -> None:
        index = int(plain["i"])
        if kind == "tool":
            if len(self._calls) >= CALLS_MAX:
                raise ValueError
            self._calls[index] = _Call(_text(plain["id"]), _text(plain["n"]), _text(plain["p"]))
        elif kind == "args":
            call = self._calls[index]
            call.pieces.append(_text(plain["t"]))
            call.characters += len(plain["t"])
            if call.characters > ARGUMENTS_MAX:
                raise ValueError
        else:
            raise ValueError

    def finished(self, value: Any, *, free: bool, maker: str = "") -> Finished:
        """The end of the stream. ``free``: the model runs on this machine and costs nothing, so its cost is 0.
        ``maker``: who gets the thinking again, unless the host did not get all of it."""
        if not isinstance(value, dict) or value.get("stop") not in _STOPS:
            raise ProtocolViolation("The model host ended a stream in a way it may not.")
        calls = tuple(_block(self._calls[index]) for index in sorted(self._calls))
        used = usage(value.get("usage"), free=free)
        again = maker if value.get("again") is True else ""
        return Finished(_STOPS[value["stop"]], calls, used, str(value.get("model") or ""), again)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _block(call: _Call) -> ToolCallBlock:
    raw = "".join(call.pieces)
    if call.problem:
        return ToolCallBlock(call.call_id, call.tool, None, raw, call.problem)
    arguments, problem = read_arguments(raw)
    return ToolCallBlock(call.call_id, call.tool, arguments, raw, problem)


def read_arguments(raw: str) -> tuple[dict[str, Any] | None, str]:
    """Arguments as a model wrote them: the object, or None and what is wrong with it (R-LOOP-13). Nothing is an
    empty object: models write no arguments that way. The host has already refused more values than are read quickly."""
    if not raw.strip():
        return {}, ""
    if len(raw) > ARGUMENTS_MAX:
        return None, f"The arguments are longer than {ARGUMENTS_MAX:,} characters."
    try:
        value = read_json(raw, parse_constant=_no_constant)
    except RecursionError:
        return None, "The arguments are nested too deeply."
    except ValueError as error:
        return None, f"The arguments are not valid JSON: {error}"
    if not isinstance(value, dict):
        return None, f"The arguments must be a JSON object, not {_name(value)}."
    if _HALF.search(raw) and not _encodable(value):
        return None, "The arguments hold half of a surrogate pair, which is no character."
    return value, ""


def _encodable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _name(value: Any) -> str:
    return {list: "a list", str: "text", bool: "true or false", type(None): "null"}.get(type(value), "a number")


def usage(plain: Any, *, free: bool) -> Usage | None:
    """Usage as reported, or None. Its cost stays None where no price is known."""
    if not isinstance(plain, dict):
        return None
    told = Usage.reported(
        *(plain.get(name) for name in ("input", "output", "reasoning", "cached", "written")),
        cost=plain.get("cost"),
        saved=plain.get("saved"),
    )
    return replace(told, cost_usd=0.0, saved_usd=0.0) if free else told
