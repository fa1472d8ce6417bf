"""Reads a window through AT-SPI, as a screen reader does."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, Properties, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

ACCESSIBLE, COMPONENT = "org.a11y.atspi.Accessible", "org.a11y.atspi.Component"
SHOWING, FOCUSABLE, SELECTED = 25, 11, 23
"""Bits of AtspiStateType."""


@dataclass
class Node:
    """One accessible thing, with what is in it."""

    role: str
    name: str
    states: set[int]
    box: tuple[int, int, int, int]
    children: list["Node"]

    def walk(self) -> Iterator["Node"]:
        yield self
        for child in self.children:
            yield from child.walk()


class Reader:
    """Follows the tree over the accessibility bus. ``rows``: how many of a list's rows it reads, from its end."""

    def __init__(self, connection: DBusConnection, *, rows: int = 0) -> None:
        self._connection, self._rows = connection, rows

    def _call(self, name: str, path: str, interface: str, member: str, *arguments: Any) -> Any:
        message = new_method_call(DBusAddress(path, name, interface), member, *arguments)
        return self._connection.send_and_get_reply(message, timeout=60).body[0]

    def children(self, name: str, path: str) -> list[tuple[str, str]]:
        return [tuple(one) for one in self._call(name, path, ACCESSIBLE, "GetChildren")]

    def node(self, name: str, path: str) -> Node:
        low, high = self._call(name, path, ACCESSIBLE, "GetState")
        states = {bit for bit in range(64) if (low | high << 32) >> bit & 1}
        about = Properties(DBusAddress(path, name, ACCESSIBLE)).get("Name")
        words = self._connection.send_and_get_reply(about, timeout=60).body[0][1]
        role = self._call(name, path, ACCESSIBLE, "GetRoleName")
        box = self._call(name, path, COMPONENT, "GetExtents", "u", (0,))
        below = self.children(name, path) if SHOWING in states else []
        if role in ("list", "table", "tree"):  # their rows are not widgets
            below = below[-self._rows :] if self._rows else []
        return Node(role, words, states, tuple(box), [self.node(*one) for one in below])

    def app(self) -> Node:
        registry = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
        ((name, path),) = self.children(*registry)
        (window,) = [one for at in self.children(name, path) if SHOWING in (one := self.node(*at)).states]
        return window


def accessibility_bus(environment: Mapping[str, str]) -> DBusConnection:
    """Where screen readers and programs meet; started by the session bus when it is asked for."""
    session = open_dbus_connection(environment["DBUS_SESSION_BUS_ADDRESS"])
    asked = new_method_call(DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus"), "GetAddress")
    address = session.send_and_get_reply(asked, timeout=60).body[0]
    session.close()
    return open_dbus_connection(address)
