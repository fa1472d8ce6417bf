"""What an earlier process did inside a call that is gone on with: how calls are named so that they are known again, and
what is known of them.

A call of a chat has the name that its thread gives it (``effects.call_key``). One that is made inside it has ids of the
moment, so it is named by what it is: whose it is, of which tool, with which arguments, the how-manieth of its like.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from desktop.domain.tools import ToolResult, ToolSpec

_INSIDE = "inside "
VALUE_UNKNOWN = "value.unknown"
"""The code of a result of which it is known that the call was done, and not what it gave."""
_ENCODE = json.JSONEncoder(sort_keys=True, default=str).encode


def likeness(tool: str, arguments: Mapping[str, Any] | None) -> str:
    """The same for calls of the same tool with the same arguments. None are looked at where these are None."""
    return tool if arguments is None else f"{tool}\0{_ENCODE(arguments)}"


def inside_key(above: str, like: str, number: int) -> str:
    """What names a call made inside the call ``above``: the ``number``-th of its ``likeness``."""
    digest = hashlib.sha256(f"{above}\0{like}\0{number}".encode("utf-8", "replace")).hexdigest()[:24]
    by = f"/{_digests(above)[0]}" if is_inside(above) else ""
    return f"{_INSIDE}{digest}{by} {outermost(above)}"


def _digests(key: str) -> tuple[str, str]:
    """Of a call made inside another, and of that one; "" for one of the thread."""
    own, _, above = key.split(" ", 2)[1].partition("/")
    return own, above


class Names:
    """The calls of a log, and which of them made which. ``callers``: what is known of calls that are not inside
    others by name, because an agent makes them in a thread of its own. By a call's key, or by its message: the key of
    the call that the agent works for; "" for none."""

    def __init__(self, callers: Mapping[str, str]) -> None:
        self._callers = callers
        self._keys: dict[str, str] = {}

    def add(self, key: str) -> None:
        """It has begun."""
        if is_inside(key):
            self._keys[_digests(key)[0]] = key

    def above(self, key: str) -> tuple[list[str], bool]:
        """The calls that this one was made inside of, the nearest first, and whether these are all: of the last one
        nobody may know for whom it was made."""
        found: list[str] = []
        while (by := self._by(key)) and by not in found:
            found.append(key := by)
        return found, by is not None

    def _by(self, key: str) -> str | None:
        if is_inside(key):
            return self._keys.get(_digests(key)[1]) or outermost(key)
        return self._callers.get(key, self._callers.get(key.partition(":")[0]))


def is_inside(key: str) -> bool:
    """Whether a call was made inside another."""
    return key.startswith(_INSIDE)


def outermost(key: str) -> str:
    """The call of the chat, or of a called agent, that this one was made inside of; itself, if it is none of these."""
    return key.split(" ", 2)[2] if is_inside(key) else key


@dataclass(frozen=True, slots=True)
class RecalledCall:
    """What is known of a call from before. ``result``: it is done, this came of it. ``again``: it had begun, nobody
    knows whether it was done, and a person is asked this. ``goes_on``: it had begun, with the tool as it is now, and
    all it does are calls of which each is known or asked about by itself. ``arguments`` are those a person had made of
    its own; ``masked``: without a secret that was among them."""

    result: ToolResult | None = None
    again: str = ""
    goes_on: bool = False
    arguments: Mapping[str, Any] | None = None
    masked: bool = False


class Memory(Protocol):
    """What a run knows of the calls that earlier runs left open."""

    def knows(self, run_id: str) -> bool:
        """Whether this run goes on with anything."""
        ...

    def recall(self, run_id: str, key: str, spec: ToolSpec) -> RecalledCall | None:
        """Once for each call; None: it is to be made as any other."""
        ...

    def question(self, run_id: str, key: str, spec: ToolSpec) -> str | None:
        """What a person is asked before this call, made inside no other, is made again: "" where it may be, unasked;
        None: nothing is known of it."""
        ...

    def same_tool(self, run_id: str, key: str, spec: ToolSpec) -> bool:
        """Whether such a call was allowed with the tool as it is now: only then it may go on unasked."""
        ...

    def left(self, run_id: str, key: str) -> tuple[str, ...]:
        """What was done inside this call before, or may have been, and was not asked for again; a line each."""
        ...

    def refused(self, run_id: str, key: str) -> tuple[str, ...]:
        """The same of a call that is not made again."""
        ...

    def other_way(self, run_id: str, key: str) -> str:
        """What a person is asked before this call is made, because what was made in its place before has not been asked
        for again; "" for most."""
        ...

    def stop(self, run_id: str) -> None:
        """A person ends the run instead of saying what became of a call."""
        ...
