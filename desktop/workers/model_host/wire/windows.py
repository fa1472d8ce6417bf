"""Message windows as the app sends them: only what is new since the last request crosses the pipe.

A request names a window it built on (``base``), how many of its messages to keep, and brings the rest as parts:
``["m", {message}]`` opens a message, ``["b", {block}]`` adds a block, ``["+", field, text]`` continues a long text.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from desktop.workers.inside import CallError
from desktop.workers.model_host.limits import WINDOWS_KEPT, WINDOWS_SIZE

Message = dict[str, Any]
_ROLES = ("system", "user", "assistant", "tool")


@dataclass
class Window:
    """What the app and this process both know; ``size`` in characters."""

    version: int
    messages: list[Message]
    size: int


class Windows:
    """The latest windows by key. Raises CallError ``window.lost`` when the app builds on one that is gone."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Window] = OrderedDict()

    def apply(self, change: dict[str, Any], parts: Sequence[Any]) -> list[Message]:
        key, base = str(change.get("key", "")), int(change.get("base", 0))
        keep, version = int(change.get("keep", 0)), int(change.get("version", 0))
        known = self._kept.pop(key, None)
        kept: list[Message] = []
        if keep:
            if known is None or known.version != base or not 0 < keep <= len(known.messages):
                raise CallError("window.lost", "The message window is not known here.")
            kept = known.messages[:keep]
        messages = kept + assemble(parts)
        self._kept[key] = Window(version, messages, sum(map(_size, messages)))
        self._shrink()
        return messages

    def _shrink(self) -> None:
        while len(self._kept) > WINDOWS_KEPT or (
            len(self._kept) > 1 and sum(w.size for w in self._kept.values()) > WINDOWS_SIZE
        ):
            self._kept.popitem(last=False)


def _size(message: Message) -> int:
    return sum(len(v) for block in message["blocks"] for v in block.values() if isinstance(v, str)) + 100


def assemble(parts: Sequence[Any]) -> list[Message]:
    """Messages from parts. Raises CallError for parts that do not fit together."""
    messages: list[Message] = []
    texts: list[str] = []
    try:
        for part in parts:
            _add(messages, texts, part)
        _join(messages, texts)
    except (KeyError, IndexError, TypeError, ValueError):
        raise CallError("model.bad_request", "The request's messages are malformed.") from None
    return messages


def _add(messages: list[Message], texts: list[str], part: Any) -> None:
    kind, content = part[0], part[1]
    if kind == "+":
        texts.extend((part[2],) if texts else (content, part[2]))
        return
    _join(messages, texts)
    if kind == "b":
        messages[-1]["blocks"].append(dict(content))
    elif kind == "m" and content["role"] in _ROLES:
        messages.append({"role": content["role"], "blocks": []})
    else:
        raise ValueError(kind)


def _join(messages: list[Message], texts: list[str]) -> None:
    """Append the collected continuations to the block they belong to, in one go."""
    if texts:
        block = messages[-1]["blocks"][-1]
        block[texts[0]] = "".join((block[texts[0]], *texts[1:]))
        texts.clear()
