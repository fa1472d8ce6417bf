"""The whole app, started as often as a test likes on one home."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QThreadPool
from PySide6.QtTest import QTest

from desktop.app.door.host import Door
from desktop.app.home.crash import CrashReporter
from desktop.app.home.folder import open_home
from desktop.app.lifecycle import wiring
from desktop.app.lifecycle.composition import Hooks
from desktop.presenter.events.bridge import Bridge
from tests.gui.app.kit import Running
from tests.harness.timeouts import WAIT_S


@pytest.fixture
async def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theme: Any) -> AsyncIterator[Callable[..., Any]]:
    """Starts the app with a script of rounds. ``home``: another folder than the test's own; ``whole=False``: do not
    wait for the chat page, because it will not come; ``typed``: before there is any page; ``joined``: with what it
    begins a moment after its pages stand: processes of its own, servers, jobs, the desktop, the keyring."""
    running: list[Running] = []
    script = tmp_path / "script.json"
    monkeypatch.setenv("ASSENT_SCRIPT", str(script))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))  # whoever runs the tests may have skills of their own

    async def begin(
        *rounds: Any,
        home: Path | None = None,
        whole: bool = True,
        repeat: bool = False,
        typed: str = "",
        joined: bool = False,
    ) -> Running:
        script.write_text(json.dumps({"rounds": list(rounds), "repeat": repeat}))
        held = open_home(home or tmp_path / "home")
        config = held.path / "config.yaml"
        if not config.exists():
            config.write_text("models:\n  default: scripted/scripted\n")
        window = wiring.make_window(held)
        window.show()
        for _ in wiring.furnish(window):
            pass
        QTest.keyClicks(window.focusWidget() or window, typed)
        bridge = Bridge()
        crashes = CrashReporter(held.logs)
        quits: list[bool] = []
        hooks = Hooks(crashes, lambda: quits.append(True), window.show, Door(lambda: None, window=True))
        app = wiring.build(held, window, bridge, hooks)
        made = Running(held, bridge, window, app, crashes, quits)
        running.append(made)
        bridge.spawn(made.start(joined=joined), name="start")
        if whole:
            await made.opened()
        return made

    yield begin
    for made in running:
        if made.home._lock is not None:
            await made.end()
    QThreadPool.globalInstance().waitForDone(int(WAIT_S * 1000))  # the interpreter may end right after
