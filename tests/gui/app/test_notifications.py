"""The desktop is told that something waits, and nothing of it: over a real bus, with a listener of ours on it."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget
from pytestqt.qtbot import QtBot

from desktop.app.desktop.identity import APP_ID
from desktop.app.desktop.lazy_notifications import LazyNotes
from desktop.presenter.events.bridge import Bridge
from desktop.ui.shell.notify import TOGETHER_MS, Notifier
from desktop.ui.theme import Theme
from tests.gui.app.kit import Heartbeat, Running, call
from tests.harness.services import KeyringDaemon
from tests.harness.timeouts import WAIT_S, until

ROOT = Path(__file__).resolve().parents[3]
SECRET = "quarterly-layoffs"


class Listener:
    """The desktop's notification service, and what it was told."""

    def __init__(self, environment: dict[str, str], *arguments: str) -> None:
        command = [sys.executable, "-m", "tests.servers.notifications", *arguments]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == "ready"
        self.heard: list[tuple[str, list[Any]]] = []
        self._reader = threading.Thread(target=self._read, name="notification listener")
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            member, body = json.loads(line)
            self.heard.append((member, body))

    @property
    def notes(self) -> list[list[Any]]:
        return [body for member, body in self.heard if member == "Notify"]

    @property
    def closed(self) -> int:
        return sum(member == "CloseNotification" for member, _ in self.heard)

    def tell(self, member: str, value: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([member, value]) + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        self.process.stdout.close()


@pytest.fixture
def listener(keyring_session: KeyringDaemon, request: pytest.FixtureRequest) -> Iterator[Listener]:
    arguments = getattr(request, "param", ())
    made = Listener({**os.environ, **keyring_session.environment}, *arguments)
    yield made
    made.end()


async def rest() -> None:
    """Longer than what is told together is waited for."""
    await asyncio.sleep(TOGETHER_MS / 1000 + 0.15)


class Front:
    """Another window that can have the person's attention."""

    def __init__(self) -> None:
        self.window = QWidget()

    async def take(self) -> None:
        self.window.show()
        self.window.activateWindow()
        await until(self.window.isActiveWindow, "another window in front")

    def end(self) -> None:
        self.window.close()
        self.window.deleteLater()


@pytest.fixture
def front(qapp: QApplication) -> Iterator[Front]:
    made = Front()
    yield made
    made.end()


async def joined(app: Running) -> None:
    """Until the app speaks through the desktop's own notifications."""
    await until(lambda: app.window.notifier._notes is not None, "the desktop's notifications")


@pytest.mark.spec("R-PRM-1", "R-PRM-8")
async def test_behind_other_windows_a_request_is_told_without_a_word_of_it_and_a_press_brings_it(
    start, listener, front
):
    app = await start(call("write_file", path=f"{SECRET}.txt", content=SECRET), [{"text": "Written."}], joined=True)
    await joined(app)
    app.say(f"about {SECRET}")
    await front.take()
    request = await app.asked()
    await until(lambda: listener.notes, "a notification")
    name, replaces, icon, title, body, actions, hints, _ = listener.notes[0]
    assert (name, replaces, icon, title, actions) == ("Assent", 0, APP_ID, "Assent", ["default", "Show"])
    assert body == "A request waits for your answer."
    assert sorted(hints) == ["desktop-entry", "urgency"]
    told = json.dumps(listener.heard)
    for word in (SECRET, "write", "file", str(app.home.path), request.run_id, request.thread_id, "about"):
        assert word not in told, word
    listener.tell("Other", "default")
    await rest()
    assert not app.window.isActiveWindow(), "somebody else's note was pressed"
    listener.tell("ActivationToken", "a-token")
    listener.tell("ActionInvoked", "default")
    await until(app.window.isActiveWindow, "the window in front")
    assert app.startup._shell.page == "approvals"
    assert app.window.page("approvals").view.request == request
    assert "XDG_ACTIVATION_TOKEN" not in os.environ
    await until(lambda: listener.closed == 1, "the note taken back")
    assert not (app.home.path / "workspace" / f"{SECRET}.txt").exists(), "pressing a notification answers nothing"


@pytest.mark.spec("R-PRM-8")
async def test_nothing_is_told_while_the_person_is_here_or_wants_none(start, listener, front):
    steps = [call("write_file", path=f"{n}.txt", content="x") for n in range(3)]
    app = await start(*steps, [{"text": "Done."}], joined=True)
    await joined(app)
    app.window.activateWindow()
    await until(app.window.isActiveWindow, "the window in front")
    app.say("write")
    first = await app.asked()
    await rest()
    assert listener.notes == []
    app.models.settings.set("notifications.desktop", False)
    await until(lambda: not app.models.settings.get("notifications.desktop"), "the setting")
    await front.take()
    app.models.approvals.answer(first.request_id, "deny", digest=first.digest)
    await until(lambda: app.models.approvals.requests and app.models.approvals.requests[0] != first, "the next one")
    await rest()
    assert listener.notes == []
    app.models.settings.set("notifications.desktop", True)
    await until(lambda: app.models.settings.get("notifications.desktop"), "the setting")
    second = app.models.approvals.requests[0]
    app.models.approvals.answer(second.request_id, "deny", digest=second.digest)
    await until(lambda: len(listener.notes) == 1, "a notification of the third")


class Room:
    """A notifier before a window in the background, with the desktop's notifications."""

    def __init__(self, qtbot: QtBot) -> None:
        self.bridge = Bridge()
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.window.show()
        self.notifier = Notifier(self.window)
        self.notes = LazyNotes(self.bridge, self.window)
        self.notifier.speak_through(self.notes)

    @property
    def number(self) -> int | None:
        """Of the note that shows; None before the code for notes is there."""
        return self.notes._notes._number if self.notes._notes is not None else None


@pytest.fixture
async def room(qtbot: QtBot, theme: Theme) -> Room:
    return Room(qtbot)


@pytest.mark.spec("R-PRM-8")
async def test_a_burst_is_one_notification_and_later_ones_take_its_place(room: Room, listener: Listener, front: Front):
    await front.take()
    for number in range(1, 8):
        room.notifier.waiting(number, allowed=True)
    await until(lambda: listener.notes, "a notification")
    room.notifier.waiting(8, allowed=True)
    await until(lambda: len(listener.notes) == 2, "the next")
    room.notifier.waiting(2, allowed=True)
    await until(lambda: len(listener.notes) == 3, "the smaller number")
    bodies = [(note[1], note[4]) for note in listener.notes]
    assert bodies == [
        (0, "7 requests wait for your answer."),
        (7, "8 requests wait for your answer."),
        (7, "2 requests wait for your answer."),
    ]
    room.notifier.waiting(0, allowed=True)
    await until(lambda: listener.closed == 1, "the note taken back")
    await room.bridge.shutdown(1.0)


@pytest.mark.spec("R-PRM-8", "R-PRM-9")
async def test_a_note_that_the_person_closed_is_not_replaced_and_ours_goes_with_the_app(
    room: Room, listener: Listener, front: Front
):
    await front.take()
    room.notifier.waiting(1, allowed=True)
    await until(lambda: room.number == 7, "the note")
    listener.tell("NotificationClosed", 2)
    await until(lambda: room.number == 0, "closed by the person")
    room.notifier.waiting(2, allowed=True)
    await until(lambda: len(listener.notes) == 2, "a new note")
    assert listener.notes[1][1] == 0
    await until(lambda: room.number, "its number")
    assert listener.closed == 0
    assert await room.bridge.shutdown(5.0) == ()
    await until(lambda: listener.closed == 1, "taken back at the end")


class Silence(QObject):
    """Notes that always fail."""

    pressed = Signal()
    failed = Signal()

    def say(self, _sentence: str) -> None:
        self.failed.emit()

    def withdraw(self) -> None:
        """Nothing is shown."""


@pytest.mark.parametrize("listener", [("refuse",)], indirect=True)
async def test_a_desktop_that_refuses_costs_the_notification_and_nothing_else(
    room: Room, listener: Listener, front: Front
):
    failed: list[bool] = []
    room.notes.failed.connect(lambda: failed.append(True))
    await front.take()
    room.notifier.waiting(1, allowed=True)
    await until(lambda: failed, "its refusal")
    room.notifier.waiting(2, allowed=True)
    await until(lambda: len(listener.notes) == 2, "it is tried again")
    assert await room.bridge.shutdown(5.0) == ()


@pytest.mark.parametrize("address", ["", "unix:path=/nowhere/at/all", "tcp:host=localhost", "nonsense"])
async def test_without_a_desktop_there_is_no_notification_and_no_failure(
    room: Room, front: Front, address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    failed: list[bool] = []
    room.notes.failed.connect(lambda: failed.append(True))
    await front.take()
    with Heartbeat() as beat:
        room.notifier.waiting(1, allowed=True)
        await until(lambda: failed, "told that there is none")
    assert beat.longest_work < 1.5, beat.says("no desktop")
    assert room.notes._notes is not None
    assert room.notes._notes._running is False
    await room.bridge.shutdown(1.0)


async def test_where_there_is_no_such_service_a_tray_icon_speaks_if_there_is_a_tray(
    qtbot: QtBot, theme: Theme, front: Front
):
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    notifier, clicks = Notifier(window), list[bool]()
    silence = Silence(window)
    notifier.speak_through(silence)
    notifier.clicked.connect(lambda: clicks.append(True))
    await front.take()
    notifier.waiting(3, allowed=True)
    await rest()
    assert (notifier.tray.icon is not None) == QSystemTrayIcon.isSystemTrayAvailable()
    made = notifier.tray.made()
    made.messageClicked.emit()
    await until(window.isActiveWindow, "the window in front")
    assert clicks == [True]
    assert not made.isVisible()
