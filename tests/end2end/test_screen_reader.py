"""The real app on a real display, read through AT-SPI as a screen reader reads it: every page, every control."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.harness.screen_reader import FOCUSABLE, SELECTED, SHOWING, Node, Reader, accessibility_bus
from tests.harness.services import KeyringDaemon
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "import sys; from desktop.app.main import main; sys.exit(main(sys.argv[1:], wiring='tests.end2end.person'))"


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
