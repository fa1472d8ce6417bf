"""What the desktop says about motion is asked and followed: over a real bus, with a portal of ours on it."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.app.desktop.reduced_motion import SystemReducedMotion
from desktop.presenter.events.bridge import Bridge
from desktop.ui.theme import Theme
from tests.gui.app.kit import Heartbeat
from tests.harness.services import KeyringDaemon
from tests.harness.timeouts import WAIT_S, until

ROOT = Path(__file__).resolve().parents[3]
LESS = [
    ("org.freedesktop.appearance", "reduced-motion", "u", 1, 0),
    ("org.gnome.desktop.interface", "enable-animations", "b", False, True),
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor", "s", "0", "1"),
]


class Portal:
    def __init__(self, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", "tests.servers.portal"]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._said() == "ready"

    def _said(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def set(self, *setting: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(setting) + "\n")
        self.process.stdin.flush()
        assert self._said() == "told"

    def end(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(WAIT_S)
        self.process.stdout.close()


@pytest.fixture
def portal(keyring_session: KeyringDaemon) -> Iterator[Portal]:
    made = Portal({**os.environ, **keyring_session.environment})
    yield made
    made.end()


async def follow(theme: Theme) -> tuple[SystemReducedMotion, Bridge, list[bool]]:
    """Started, and what it has said so far."""
    theme.set_motion("system")
    bridge, said = Bridge(), list[bool]()
    motion = SystemReducedMotion(bridge)
    motion.changed.connect(said.append)
    motion.changed.connect(theme.set_system_less_motion)
    motion.start()
    await until(lambda: bool(said))
    return motion, bridge, said


@pytest.mark.parametrize(("namespace", "key", "signature", "less", "full"), LESS)
async def test_the_portals_wish_holds_from_the_start_and_when_it_changes(
    portal: Portal, theme: Theme, namespace: str, key: str, signature: str, less: object, full: object
) -> None:
    portal.set(namespace, key, signature, less)
    motion, bridge, _ = await follow(theme)
    assert theme.less_motion
    await asyncio.to_thread(portal.set, namespace, key, signature, full)
    await until(lambda: not theme.less_motion)
    await asyncio.to_thread(portal.set, namespace, key, signature, less)
    await until(lambda: theme.less_motion)
    theme.set_motion("full")
    assert not theme.less_motion, "the person's own choice goes first"
    theme.set_system_less_motion(False)
    motion.deleteLater()
    await bridge.shutdown(5.0)


@pytest.mark.parametrize(
    ("answer", "less"), [("echo false", True), ("echo true", False), ("exec sleep 60", False), ("exit 1", False)]
)
async def test_without_a_portal_gnomes_own_setting_is_asked(
    theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, less: bool
) -> None:
    """There is no bus at all here; a program that hangs is given up."""
    program = tmp_path / "gsettings"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    motion, bridge, said = await follow(theme)
    assert said == [less]
    theme.set_system_less_motion(False)
    motion.deleteLater()
    await bridge.shutdown(5.0)


@pytest.mark.parametrize("world", ["a bus that never speaks", "a portal that stopped"])
async def test_a_desktop_that_never_answers_has_asked_for_nothing_and_does_not_hold_the_window(
    portal: Portal, theme: Theme, short_tmp: Path, monkeypatch: pytest.MonkeyPatch, world: str
) -> None:
    monkeypatch.setenv("PATH", str(short_tmp))
    with socket.socket(socket.AF_UNIX) as line:
        if world == "a portal that stopped":
            portal.process.send_signal(signal.SIGSTOP)
        else:
            line.bind(str(short_tmp / "bus"))
            line.listen(5)
            monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={short_tmp / 'bus'}")
        try:
            with Heartbeat() as heart:
                motion, bridge, said = await follow(theme)
        finally:
            portal.process.send_signal(signal.SIGCONT)
    assert said == [False]
    assert heart.ticks > 10, heart.says(world)  # a question that held the window would leave it no turn for two seconds
    motion.deleteLater()
    await bridge.shutdown(5.0)
