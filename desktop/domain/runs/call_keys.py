"""How calls are named in the journal of a run, so that they are known again when it is gone on with.

A call of a chat has the name that its thread gives it (``effects.call_key``). One that is made inside it has ids of the
moment, so it is named by what it is: whose it is, of which tool, with which arguments, the how-manieth of its like. Of
an agent that does several things at once, the name begins with what stands for its caller and its branch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_INSIDE = "inside "
_BRANCHED = "b-"
_ENCODE = json.JSONEncoder(sort_keys=True, default=str).encode


def likeness(tool: str, arguments: Mapping[str, Any] | None, said: str = "") -> str:
    """The same for calls of the same tool with the same arguments and the same message. None of these are looked at
    where the arguments are None."""
    if arguments is None:
        return tool
    return f"{tool}\0{_ENCODE(arguments)}\0{said}" if said else f"{tool}\0{_ENCODE(arguments)}"


def inside_key(above: str, like: str, number: int, branch: str = "") -> str:
    """What names a call made inside the call ``above``: the ``number``-th of its ``likeness``, in this branch."""
    digest = _sha(f"{above}\0{like}\0{number}")[:24]
    if branch:
        digest = f"{_BRANCHED}{_sha(f'{above}{_BRANCHED}{branch}')[:8]}{_sha(f'{branch}{_BRANCHED}{digest}')[:16]}"
    by = f"/{_digests(above)[0]}" if is_inside(above) else ""
    return f"{_INSIDE}{digest}{by} {outermost(above)}"


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def group_of(key: str) -> tuple[str, str]:
    """The same for calls that one caller made in one branch; the second part is "" where there are no branches."""
    if not is_inside(key):
        return "", ""
    own, above = _digests(key)
    return above, own[:10] if own.startswith(_BRANCHED) else ""


def _digests(key: str) -> tuple[str, str]:
    """The digests of a call and of the call that contains it; "" where the thread itself made it."""
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
        """Register a call that begins, so that calls inside it can be named."""
        if is_inside(key):
            self._keys[_digests(key)[0]] = key

    def above(self, key: str) -> tuple[list[str], bool]:
        """The calls that this one was made inside of, the nearest first, and whether these are all: of the last one
        nobody may know for whom it was made."""
        found: list[str] = []
        while (by := self._by(key)) and by not in found:
            found.append(key := by)
        return found, by is not None

    def caller(self, key: str) -> str:
        """The call that made this one; "" where nobody knows."""
        return self._by(key) or ""

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
