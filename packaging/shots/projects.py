"""Sample folders for the pictures of the chat page: those that chats work in, and the dialog that chooses one."""

from __future__ import annotations

import os
import time
from typing import Any, cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.files.projects import FolderOffer, InstructionFile, ProjectFolder, ProjectLook, ProjectRow
from desktop.domain.threads import ThreadRecord
from desktop.presenter.projects.page import FolderLine, ProjectsViewModel, SeenFile, lines_of
from desktop.ui.chat.folder_card import LookDialog
from desktop.ui.chat.project_dialog import ProjectDialog

WORK = os.path.expanduser("~/work")
SENSORS, REPORT, ARCHIVE = f"{WORK}/harbour-sensors", f"{WORK}/annual-report", f"{WORK}/gauge-archive"
CLOSED = {ARCHIVE: "is gone"}
DAY = 86_400.0
FILES = (
    InstructionFile("AGENTS.md", "told", 1229, "x", "d"),
    InstructionFile("data/AGENTS.md", "told", 640, "x", "d"),
    InstructionFile("scripts/AGENTS.md", "changed", 901, "Run the checks.\nAsk first.\n", "e", "Run the checks.\n"),
    InstructionFile("vendored/CLAUDE.md", "too big", why="has 5,000,000 bytes, over 32,768"),
)
_BROUGHT = (
    FolderOffer("instructions", "AGENTS.md, 3 files", "", "2 told to the model. 1 changed: not told until you look."),
    FolderOffer("skills", "3 skills", ".claude/skills", "Not taken over. Look at them on the page Skills."),
    FolderOffer("servers", "2 MCP servers", ".mcp.json", "1 starts a program, 1 uses the network."),
)


def records(now: float) -> list[ThreadRecord]:
    """The chats of the list."""
    rows = (
        ("t1", "Tide gauges: March clean-up", SENSORS, 0.1),
        ("t2", "Gaps in the March tide data", SENSORS, 0.0),
        ("t3", "Why does the nightly job double rows?", SENSORS, 0.1),
        ("t4", "Rename the ingest module", SENSORS, 0.2),
        ("t5", "Read the new CF conventions", SENSORS, 2.0),
        ("t6", "Compare gauge 7 with gauge 8", SENSORS, 3.0),
        ("t7", "Where do the spikes come from?", SENSORS, 9.0),
        ("t8", "Grant report, section 3", REPORT, 0.3),
        ("t9", "Plot styles for print", REPORT, 4.0),
        ("ta", "Station metadata: sources that disagree with each other", ARCHIVE, 5.0),
        ("tb", "Explain the Doodson filter", "", 1.0),
        ("tc", "Draft reply to the harbour office", "", 2.0),
        ("td", "Weekly report template", "", 3.0),
    )
    return [
        ThreadRecord(key, title, now, now - days * DAY, pinned=key == "t1", project=project)
        for key, title, project, days in rows
    ]


def rows(now: float) -> list[ProjectRow]:
    """The folders of the dialog."""
    return [
        ProjectRow(ProjectFolder(SENSORS, SENSORS), 9, now),
        ProjectRow(ProjectFolder(REPORT, REPORT), 2, now - 3 * DAY),
        ProjectRow(ProjectFolder(f"{WORK}/tide-tables", "/srv/tide-tables"), 1, now - 4 * DAY),
        ProjectRow(ProjectFolder(ARCHIVE, ARCHIVE, "is gone"), 1, now - 5 * DAY),
        ProjectRow(ProjectFolder(f"{SENSORS}/keys", f"{SENSORS}/keys", "is in a denied folder"), 0, now - 6 * DAY),
    ]


class SampleProjects(QObject):
    """In the place of ``ProjectsViewModel``."""

    listed = Signal()
    looked = Signal(object)
    files_changed = Signal()
    said = Signal(str)

    def __init__(self, chat: Any) -> None:
        super().__init__()
        self._rows, self.current = rows(time.time()), SENSORS
        self.files = FILES

    def take(self, events: object) -> None:
        """Nothing happens in a picture."""

    def read(self) -> None:
        """All are known."""
        self.listed.emit()

    def lines(self, text: str) -> tuple[FolderLine, ...]:
        """As the app shows them."""
        return lines_of(self._rows, text)

    def look(self, path: str) -> None:
        """What the folder brings."""
        row = next((one for one in self._rows if path in (one.folder.given, one.folder.path)), self._rows[0])
        self.looked.emit(ProjectLook(row, () if row.folder.closed else _BROUGHT))

    def use(self, path: str) -> None:
        """Nothing is chosen in a picture."""


def sample_projects(chat: Any) -> ProjectsViewModel:
    """The view-model of the pictures."""
    return cast(ProjectsViewModel, SampleProjects(chat))


def choosing(page: QWidget, find: str = "") -> QWidget:
    """The dialog over a page."""
    page.show()
    dialog = ProjectDialog(page, sample_projects(None))
    dialog.open()
    if find:
        dialog.field.setText(find)
    return page


def looking(page: QWidget) -> QWidget:
    """A changed file beside what it was, over a page."""
    page.show()
    LookDialog(page, FILES[2], SeenFile(FILES[2], lambda: None)).open()
    return page
