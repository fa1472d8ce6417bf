"""What an earlier process did inside a call that is gone on with: how calls are named so that they are known again, and
what is known of them (semantics.md 22, issue 7).

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
_ENCODE = json.JSONEncoder(sort_keys=True, default=str).encode


def likeness(tool: str, arguments: Mapping[str, Any] | None) -> str:
    """The same for calls of the same tool with the same arguments. None are looked at where these are None."""
    return tool if arguments is None else f"{tool}\0{_ENCODE(arguments)}"


def inside_key(above: str, like: str, number: int) -> str:
    """What names a call made inside the call ``above``: the ``number``-th of its ``likeness``."""
    digest = hashlib.sha256(f"{above}\0{like}\0{number}".encode("utf-8", "replace")).hexdigest()
    return f"{_INSIDE}{digest[:24]} {outermost(above)}"


def is_inside(key: str) -> bool:
    """Whether a call was made inside another."""
    return key.startswith(_INSIDE)


def outermost(key: str) -> str:
    """The call of the chat, or of a called agent, that this one was made inside of; itself, if it is none of these."""
    return key.split(" ", 2)[2] if is_inside(key) else key


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is known of a call from before. ``result``: it is done, this came of it. ``again``: it had begun, nobody
    knows whether it was done, and a person is asked this. ``goes_on``: it had begun, and all it does are calls of which
    each is known or asked about by itself. ``arguments`` are those a person had made of its own;
    ``masked``: without a secret that was among them."""

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

    def recall(self, run_id: str, key: str, spec: ToolSpec) -> Recalled | None:
        """Once for each call; None: it is to be made as any other."""
        ...

    def question(self, run_id: str, key: str, spec: ToolSpec) -> str | None:
        """What a person is asked before this call, made inside no other, is made again: "" where it may be, unasked;
        None: nothing is known of it."""
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
