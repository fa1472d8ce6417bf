"""The real app on a real display, read through AT-SPI as a screen reader reads it: every page, every control."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jeepney import DBusAddress, Properties, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.harness.services import KeyringDaemon
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "import sys; from desktop.app.main import main; sys.exit(main(sys.argv[1:], wiring='tests.end2end.person'))"
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
    """Follows the tree over the accessibility bus."""

    def __init__(self, connection: DBusConnection) -> None:
        self._connection = connection

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
        rows = role in ("list", "table", "tree")  # their rows are not widgets
        inside = [self.node(*one) for one in self.children(name, path)] if SHOWING in states and not rows else []
        return Node(role, words, states, tuple(box), inside)

    def app(self) -> Node:
        registry = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
        ((name, path),) = self.children(*registry)
        (window,) = [one for at in self.children(name, path) if SHOWING in (one := self.node(*at)).states]
        return window


def accessibility_bus(environment: dict[str, str]) -> DBusConnection:
    """Where screen readers and programs meet; started by the session bus when it is asked for."""
    session = open_dbus_connection(environment["DBUS_SESSION_BUS_ADDRESS"])
    asked = new_method_call(DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus"), "GetAddress")
    address = session.send_and_get_reply(asked, timeout=60).body[0]
    session.close()
    return open_dbus_connection(address)


def out_of_order(node: Node) -> list[tuple[str, str]]:
    """Neighbours in one container of which the later is wholly above the earlier, in the same column."""
    shown = [one for one in node.children if SHOWING in one.states and one.box[2] > 0 and one.box[3] > 0]
    found = []
    for first, later in pairwise(shown):
        (ax, ay, aw, _), (bx, by, bw, bh) = first.box, later.box
        if by + bh <= ay and bx < ax + aw and ax < bx + bw:
            found.append((f"{first.role} {first.name!r}", f"{later.role} {later.name!r}"))
    return found


def faults(page: str, window: Node) -> list[str]:
    nodes = [one for one in window.walk() if SHOWING in one.states]
    found = [
        f"{page}: a {one.role} that keys reach has no name" for one in nodes if FOCUSABLE in one.states and not one.name
    ]
    found += [f"{page}: {first} is read before {later}" for one in nodes for first, later in out_of_order(one)]
    (rail,) = (one for one in nodes if one.name == "Pages")
    entries = [one for one in rail.children if one.name]
    if {one.role for one in entries} != {"page tab"} or sum(SELECTED in one.states for one in entries) != 1:
        found.append(f"{page}: {[(one.role, one.name) for one in entries]}")
    if not all(FOCUSABLE in one.states for one in entries):
        found.append(f"{page}: not every page can be reached by keys")
    return found


@pytest.mark.soak
def test_a_screen_reader_finds_every_control_of_every_page_named_and_in_order(
    keyring_daemon: KeyringDaemon, x_display: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("models:\n  default: scripted/scripted\n")
    (tmp_path / "script.json").write_text(json.dumps({"rounds": [[{"text": "Hello."}]]}))
    environment = {
        **os.environ,
        **keyring_daemon.environment,
        "DISPLAY": x_display,
        "QT_QPA_PLATFORM": "xcb",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "AGENT_HOME": str(home),
        "HOME": str(tmp_path / "person"),
        "ASSENT_TEST_SCENARIO": "show_every_page",
        "ASSENT_SCRIPT": str(tmp_path / "script.json"),
    }
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    found, pages, controls = [], [], 0
    with (
        accessibility_bus(environment) as bus,
        subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, **pipes) as app,
    ):
        reader = Reader(bus)
        for line in app.stdout:
            fact = json.loads(line)
            assert fact["kind"] == "page", fact
            window = reader.app()
            pages.append(fact["page"])
            controls += sum(FOCUSABLE in one.states for one in window.walk())
            found += faults(fact["page"], window)
            app.stdin.write("next\n")
            app.stdin.flush()
        assert app.wait(WAIT_S) == 0
    assert found == []
    assert len(pages) >= 15
    assert controls > 200
