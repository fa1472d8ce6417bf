"""Folders opened for this session: the list in the settings, and the question before one is opened."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.settings.grants import GrantsViewModel
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.dialogs.files import choose_folder
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

HELP = (
    "Open until Assent is closed, and never saved. Every call that needs one of these folders is an admin call, "
    "reading included: it asks each time and is never remembered. What is denied stays denied."
)
OPENING = (
    "Until Assent ends, agents may read and write in it, and commands reach it, too. Each call asks you first. It is "
    "forgotten when Assent ends."
)


def ask_to_open(window: QWidget, grants: GrantsViewModel, folder: str) -> Dialog:
    """What it means, and whether; the safe answer first."""
    answers = (DialogAnswer("cancel", "Keep it closed", key="Esc"), DialogAnswer("open", "Open it", "admin"))
    dialog = Dialog(window, f"Open {shown_line(folder)[:60]} for this session?", OPENING, answers, width=480)
    dialog.answered.connect(lambda value: grants.open(folder) if value == "open" else None)
    dialog.open()
    return dialog


class GrantsCard(QFrame):
    """The folders that are open, each to be closed again, and a line to open one more."""

    asked = Signal(object)
    """The dialog that asks, for whoever wants to answer it."""

    def __init__(self, grants: GrantsViewModel) -> None:
        super().__init__()
        self._grants = grants
        self.setProperty("pane", "card")
        column = Column(self, margins=(16, 12, 16, 12), spacing=8)
        head = Row(spacing=8)
        head.addWidget(Text("Opened for this session", "medium"))
        head.addStretch(1)
        self._badge = Badge("admin")
        head.addWidget(self._badge)
        column.addLayout(head)
        column.addWidget(Paragraph(HELP, "small", "2"))
        self._rows = Column(spacing=0)
        column.addLayout(self._rows)
        row = Row(spacing=8)
        self.field = Field("Folder to open for this session", hint="/a/folder or ~/a/folder", mono=True)
        self.field.returnPressed.connect(self._ask)
        row.addWidget(self.field, 1)
        self.open_button = Button("Open…", icon="folder")
        self.open_button.clicked.connect(self._ask)
        choose = Button("Choose…", "quiet")
        choose.clicked.connect(self._browse)
        row.addWidget(self.open_button)
        row.addWidget(choose)
        column.addLayout(row)
        self.refusal = Paragraph("", "small", "failed")
        self.refusal.hide()
        column.addWidget(self.refusal)
        grants.changed.connect(self.refresh)
        grants.refused.connect(self._refused)
        self.refresh()

    def refresh(self) -> None:
        """Show what the view-model has now."""
        clear(self._rows)
        self.refusal.hide()
        folders = self._grants.folders
        self._badge.setVisible(bool(folders))
        for folder in folders:
            self._rows.addWidget(self._row(folder))

    def _row(self, folder: str) -> QWidget:
        holder = sized(QWidget(), height=34)
        row = Row(holder, spacing=8)
        row.addWidget(Text(shown_line(folder), "code", elide="middle"), 1)
        close = Button("Close", "quiet", small=True, tip="Close it again, from the next call on")
        close.setAccessibleName(f"Close {shown_line(folder)}")
        close.clicked.connect(lambda: self._grants.close(folder))
        row.addWidget(close)
        return holder

    def _ask(self) -> None:
        folder = self.field.text().strip()
        if folder:
            self.field.clear()
            self.asked.emit(ask_to_open(self.window(), self._grants, folder))

    def _browse(self) -> None:
        choose_folder(self.window(), "Choose a folder", self.field.setText)

    def _refused(self, sentence: str) -> None:
        self.refusal.set_pieces(shown_line(sentence))
        self.refusal.show()
