"""Settings, Assent for other apps: switches, what is pasted, who is connected (R-MSV-1)."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shots.other_apps import SampleOtherApps

from desktop.app.door.host import Guest
from desktop.app.wiring.outside import start_words
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.other_apps import KEY, OtherAppsViewModel, StartCommand
from desktop.services.outside.calls import OutsideLine
from desktop.services.outside.offered import Offerable
from desktop.settings import SettingsService
from desktop.ui.settings.other_apps.page import OtherAppsPage
from desktop.ui.theme import Theme
from tests.gui.shell.test_window import spin
from tests.harness.timeouts import until


def shown(qtbot: QtBot, model: Any, said: list[str]) -> OtherAppsPage:
    made = OtherAppsPage(model, said.append)
    qtbot.addWidget(made)
    made.resize(900, 900)
    made.show()
    made.activateWindow()
    spin()
    return made


def words(page: OtherAppsPage) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel))


@pytest.mark.spec("R-MSV-1")
def test_a_switch_offers_a_skill_and_keeps_the_focus(qtbot: QtBot, theme: Theme) -> None:
    model = SampleOtherApps()
    page = shown(qtbot, model, [])
    assert [(line.row.name, line.switch.isChecked()) for line in page.lines()][:2] == [
        ("researcher-agent", True),
        ("harbour-agent", False),
    ]
    line = page.lines()[1]
    line.switch.setFocus()
    QTest.keyClick(line.switch, Qt.Key.Key_Space)
    assert model.calls == [("harbour-agent", True)]
    again = page.lines()[1]
    assert (again.switch.isChecked(), again.switch.hasFocus()) == (True, True)
    assert again.switch.accessibleName() == "harbour-agent"


def test_what_is_shown_is_what_is_copied(qtbot: QtBot, theme: Theme) -> None:
    said: list[str] = []
    page = shown(qtbot, SampleOtherApps(), said)
    QTest.mouseClick(page.snippet.copy, Qt.MouseButton.LeftButton)
    assert (
        QGuiApplication.clipboard().text() == page.snippet.text.toPlainText() == "claude mcp add assent -- assent mcp"
    )
    assert said == ["What Claude Code needs is copied"]
    page.snippet.choice.set_value("Zed")
    page.snippet.choice.chosen.emit("Zed")
    assert json.loads(page.snippet.text.toPlainText())["context_servers"]["assent"]["command"] == "assent"


def test_who_is_connected_is_shown_as_it_is_and_without_anybody_it_says_so(qtbot: QtBot, theme: Theme) -> None:
    model = SampleOtherApps()
    page = shown(qtbot, model, [])
    assert "Claude Code" in words(page)
    model.connected = (("<b>Zed\u202e</b>", "process 1, since 14:00"),)
    model.changed.emit()
    assert "<b>Zed\\u{202e}</b>" in words(page)
    model.connected, model.lines = (), ()
    model.changed.emit()
    assert "No program is connected." in words(page)
    assert "Lately" not in words(page)


class Tools:
    def __init__(self) -> None:
        self.found = [
            Offerable("add", "skill", "Adds.", "read", "mine"),
            Offerable("boss", "agent", "", "admin", "agent"),
        ]

    async def offerable(self) -> tuple[Offerable, ...]:
        return self.found


async def test_what_a_person_switches_is_in_the_file_and_what_is_gone_can_be_switched_off(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("other_apps: {offered: [lost]}\n")
    settings = SettingsService(tmp_path)
    await settings.load()
    told: list[Any] = []
    outside = SimpleNamespace(tools=Tools(), lines=[OutsideLine(0.0, "Zed", "add: done")], on_line=told.append)
    zed = Guest(1, "acp", "Zed", "0.210", 4802, 0.0)
    door = SimpleNamespace(guests=(zed,), on_change=lambda _changed: lambda: None)
    command = StartCommand(*start_words(tmp_path))
    bridge = Bridge()
    model = OtherAppsViewModel(outside, settings, bridge, door, command)  # type: ignore[arg-type]
    model.look()
    await until(lambda: model.rows, "rows")
    assert [(row.name, row.on, row.group) for row in model.rows or ()] == [
        ("add", False, "Your skills"),
        ("boss", False, "Agents"),
        ("lost", True, "Not there"),
    ]
    model.switch("add", True)
    model.switch("lost", False)
    await until(lambda: settings.current.other_apps.offered == ("add",), "the file")
    assert "add" in (tmp_path / "config.yaml").read_text()
    await until(lambda: [row.name for row in model.rows or () if row.on] == ["add"], "its rows")
    assert settings.is_changed(KEY)
    assert model.lines[0][1:] == ("Zed", "add: done")
    assert model.connected[0][0] == "Zed"
    assert model.connected[0][1].startswith("version 0.210, by ACP, process 4802, since ")
    assert str(tmp_path) in model.snippets[0].text
    for one in model.snippets[1:]:
        (server,) = json.loads(one.text).values()
        assert server["assent"]["args"][-2:] == ["--home", str(tmp_path)]
    await bridge.shutdown()
