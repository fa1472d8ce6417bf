"""What a person has seen of the tools of servers, and agreed to: a later change is off until it was looked at.

A pin is a digest of everything that is told of a tool, with the text that was seen, under the name of the server and
what the server is (program or address): the same name for another program has been agreed to by nobody.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from desktop.tools.mcp.offered import Offered

KEY = "mcp:"
Standing = Literal["seen", "new", "changed", "off"]
"""``off``: the person switched it off, whatever it has become since."""


class SeenAs(NamedTuple):
    """How a tool stands, the text that was seen of it, and when its change was noticed (0: it has not changed)."""

    standing: Standing
    text: str = ""
    noticed: float = 0.0


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

    def __init__(self, store: McpPinStore, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.Lock()

    def _of(self, server: str, identity: str) -> dict[str, Any]:
        found = self._store.get(KEY + server)
        if not isinstance(found, dict) or found.get("identity") != identity:
            return {}
        tools = found.get("tools")
        return tools if isinstance(tools, dict) else {}

    def standings(self, server: str, identity: str, offered: Iterable[Offered]) -> dict[str, SeenAs]:
        """How each tool without a problem stands, by the server's name for it; a change that is there for the first
        time is kept with its time. Raises OSError."""
        with self._lock:
            seen, noticed = self._of(server, identity), dict[str, Any]()
            found: dict[str, SeenAs] = {}
            for one in offered:
                pin = seen.get(one.raw)
                if one.problem:
                    continue
                if not isinstance(pin, dict):
                    found[one.raw] = SeenAs("new")
                    continue
                at = 0.0
                if pin.get("digest") != one.digest:
                    known = pin.get("noticed")
                    if not isinstance(known, dict) or known.get("digest") != one.digest:
                        known = {"digest": one.digest, "at": self._clock()}
                        noticed[one.raw] = {**pin, "noticed": known}
                    at = float(known["at"]) if isinstance(known.get("at"), int | float) else 0.0
                same: Standing = "changed" if pin.get("digest") != one.digest else "seen"
                found[one.raw] = SeenAs("off" if pin.get("off") is True else same, str(pin.get("text", "")), at)
            if noticed:
                self._store.put({KEY + server: {"identity": identity, "tools": {**seen, **noticed}}})
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
