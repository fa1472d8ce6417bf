"""What a person has seen of the tools of servers, and agreed to: a later change is off until it was looked at.

A pin is a digest of everything that is told of a tool, with the text that was seen, under the name of the server and
what the server is (program or address): the same name for another program has been agreed to by nobody.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from desktop.tools.mcp.offered import Offered

KEY = "mcp:"
Standing = Literal["seen", "new", "changed", "off"]
"""``off``: the person switched it off, whatever it has become since."""


class McpPinStore(Protocol):
    """Where pins are kept; called in threads. Values are JSON."""

    def get(self, key: str) -> Any:
        """The value, or None."""
        ...

    def put(self, values: Mapping[str, Any]) -> None:
        """Write all or nothing."""
        ...


class McpPins:
    """The pins of MCP servers' tools: what a person has seen. Thread-safe; blocks where the store does."""

    def __init__(self, store: McpPinStore) -> None:
        self._store = store
        self._lock = threading.Lock()

    def _of(self, server: str, identity: str) -> dict[str, Any]:
        found = self._store.get(KEY + server)
        if not isinstance(found, dict) or found.get("identity") != identity:
            return {}
        tools = found.get("tools")
        return tools if isinstance(tools, dict) else {}

    def standings(self, server: str, identity: str, offered: Iterable[Offered]) -> dict[str, tuple[Standing, str]]:
        """For each tool without a problem, by the server's name for it: how it stands, and the text that was seen."""
        seen = self._of(server, identity)
        found: dict[str, tuple[Standing, str]] = {}
        for one in offered:
            pin = seen.get(one.raw)
            if one.problem:
                continue
            if not isinstance(pin, dict):
                found[one.raw] = ("new", "")
            else:
                same: Standing = "seen" if pin.get("digest") == one.digest else "changed"
                found[one.raw] = ("off" if pin.get("off") is True else same, str(pin.get("text", "")))
        return found

    def accept(self, server: str, identity: str, tools: Iterable[Offered]) -> None:
        """The person has looked at exactly these. Raises OSError."""
        with self._lock:
            seen = dict(self._of(server, identity))
            seen |= {one.raw: {"digest": one.digest, "text": one.text} for one in tools if not one.problem}
            self._store.put({KEY + server: {"identity": identity, "tools": seen}})

    def switch_off(self, server: str, identity: str, tools: Iterable[str]) -> None:
        """The person wants none of these, by the server's names, until they accept one again. Raises OSError."""
        with self._lock:
            seen = dict(self._of(server, identity))
            for raw in tools:
                before = seen.get(raw)
                seen[raw] = {"digest": "", "text": "", **(before if isinstance(before, dict) else {}), "off": True}
            self._store.put({KEY + server: {"identity": identity, "tools": seen}})
