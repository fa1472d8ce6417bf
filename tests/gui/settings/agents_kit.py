"""The page of agents over real files, for its tests."""

import asyncio
import os
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.app.home.unsaved_texts import UnsavedTextFiles
from desktop.app.wiring.skills import PinFile
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.agents_editing import AgentsViewModel
from desktop.services.agents.editing import AgentService
from desktop.services.definitions.book import AgentFiles, AgentFolder
from desktop.skills.catalogue.pins import Pins
from desktop.ui.settings.agents.page import AgentsPage
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.toast import Toast
from tests.gui.settings.test_cli_page import until
from tests.unit.services.kit import ROOT, World

MINE = """\
# my own words stay
name: night_watch_agent  # and these
description: Looks after the gauges at night.
sideA:
  prompt: assistant
  maxSteps: 12
"""


class Shown:
    """The page, its view-model and the folders below it."""

    def __init__(self, made: World, home: Path) -> None:
        self.mine = home / "agents"
        self.mine.mkdir(exist_ok=True)
        self.theirs = home / "proj" / ".agent" / "agents"
        self.theirs.mkdir(parents=True)
        folders = [
            AgentFolder(str(self.mine)),
            AgentFolder(str(ROOT / "resources" / "agents"), "library"),
            AgentFolder(str(self.theirs), "project"),
        ]
        self.files = AgentFiles(folders, pins=Pins(PinFile(home / "data" / "agent-pins.json")))
        self.service = AgentService(self.files, lambda: made.runtime, mine=self.mine, trash=home / "trash")
        self.bridge = Bridge()
        self.unsaved = UnsavedTextFiles(home / "data", str)
        self.agents: Any = None
        self.page: Any = None
        self.toast: Any = None

    async def open(self, qtbot: QtBot) -> "Shown":
        await asyncio.to_thread(self.files.reload)
        self.agents = AgentsViewModel(self.service, self.bridge, lambda: "demo/demo", self.unsaved)
        self.page = AgentsPage(self.agents)
        qtbot.addWidget(self.page)
        self.toast = Toast(self.page)
        self.agents.told.connect(self.toast.say)
        self.toast.undone.connect(self.agents.undo)
        self.page.resize(1000, 760)
        self.page.show()
        await self.rest()
        return self

    async def rest(self) -> None:
        await asyncio.sleep(0.05)
        await until(lambda: not self.bridge.task_names and not self.agents._later.isActive(), "rest")
        await asyncio.sleep(0.02)

    async def choose(self, name: str) -> None:
        path = next(row.path for row in self.agents.rows if row.path.endswith(name))
        self.agents.choose(path)
        await self.rest()

    @property
    def words(self) -> str:
        return "\n".join(label.text() for label in self.page.findChildren(QLabel) if label.isVisible())

    def button(self, label: str, number: int = 0) -> Button:
        return [b for b in self.page.findChildren(Button) if b.label == label and b.isVisible()][number]

    def press(self, label: str, number: int = 0) -> None:
        QTest.mouseClick(self.button(label, number), Qt.MouseButton.LeftButton)

    def shoot(self, name: str) -> None:
        """A picture where somebody wants to look: ``ASSENT_SHOTS`` names a folder."""
        if folder := os.environ.get("ASSENT_SHOTS"):
            self.page.grab().save(f"{folder}/agents-{name}.png")
