"""What the folder of a chat tells the model: its instruction files, each with whether it is told; looking at one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.files.projects import InstructionFile
from desktop.presenter.projects.page import SeenFile, file_line, files_words
from desktop.ui.skills.difference import DifferenceView
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

STATE = 176
SHOWN = 6
"""Files that have room; those that wait for a look come first among the rest."""
TITLE = "What this file says"
WORDS = (
    "It is told to the model once you have read it. It allows nothing: every call is asked about as before. Lines that "
    "are new since you last looked are marked."
)
UNSEEN = ("changed", "new")


class FolderCard(QFrame):
    """Hidden where the folder has no such files. It folds to one line; what waits for a look unfolds it."""

    look_wanted = Signal(object)
    """a file"""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "strip")
        outer = Column(self, margins=(24, 6, 24, 6), spacing=0)
        head = Row(spacing=8)
        self._words = Text("", "small", "2", elide="right")
        self.fold = Button("Hide", "quiet", small=True)
        self.fold.clicked.connect(self._fold)
        head.addWidget(Text("From the folder", "medium"))
        head.addWidget(self._words, 1)
        head.addWidget(self.fold)
        outer.addLayout(head)
        self._body = QWidget()
        self.rows = Column(self._body, spacing=0)
        outer.addWidget(self._body)
        self._files: Sequence[InstructionFile] = ()
        self._open = False
        self.hide()

    def show_files(self, files: Sequence[InstructionFile]) -> None:
        """Show them; one that is not told until it is looked at unfolds the card."""
        waits = [file for file in files if file.state in UNSEEN]
        if waits and waits != [file for file in self._files if file.state in UNSEEN]:
            self._open = True
        self._files = files
        self._words.setText(files_words(files))
        self.setAccessibleName(f"From the folder: {files_words(files)}")
        clear(self.rows)
        ordered = files if len(files) <= SHOWN else [*waits, *(file for file in files if file not in waits)]
        for file in ordered[:SHOWN]:
            self.rows.addWidget(self._row(file))
        if len(files) > SHOWN:
            self.rows.addWidget(Text(f"and {len(files) - SHOWN} more", "small", "3"))
        self._show_open()
        self.setVisible(bool(files))

    def _row(self, file: InstructionFile) -> QWidget:
        line = file_line(file)
        holder = sized(pane("empty"), height=32)
        row = Row(holder, spacing=8)
        row.addWidget(Icon("file"))
        row.addWidget(Text(shown_line(file.name), "code", elide="middle"), 3)
        row.addWidget(Text(shown_line(line.about), "small", "2", elide="right"), 4)
        state = sized(QWidget(), width=STATE)
        words = Row(state, spacing=6)
        words.addStretch(1)
        words.addWidget(Icon(line.icon, line.tone))
        words.addWidget(Text(line.state, "small-medium", line.tone))
        row.addWidget(state)
        look = Button("Look at it", "normal" if file.state in UNSEEN else "quiet", small=True)
        look.setAccessibleName(f"Look at {shown_line(file.name)}, {line.state}")
        look.setEnabled(bool(file.digest))
        look.clicked.connect(lambda: self.look_wanted.emit(file))
        row.addWidget(look)
        return holder

    def _fold(self) -> None:
        self._open = not self._open
        self._show_open()

    def _show_open(self) -> None:
        self._body.setVisible(self._open)
        self.fold.set_label("Hide" if self._open else "Show")
        self.fold.setAccessibleName(f"{self.fold.label} the files from the folder")


class LookDialog(Dialog):
    """One file: what it says, beside what it said when the person last looked."""

    help_page = "projects"

    def __init__(self, window: QWidget, file: InstructionFile, seen: SeenFile) -> None:
        super().__init__(window, shown_line(file.name), "", (), width=820)
        if file.state == "told":
            self.body.addWidget(Paragraph("It is told to the model as it stands here.", "body", "2"))
        done = "Tell it to the model" if file.state in UNSEEN else "Told already"
        self.view = DifferenceView(seen, title=TITLE, words=WORDS, done=done)
        self.view.keep.set_label("Keep it off" if file.state in UNSEEN else "Close")
        self.view.accept.setVisible(file.state in UNSEEN)
        self.view.closed.connect(lambda: self.answer("cancel"))
        self.body.addWidget(self.view)
        if seen.difference is not None:
            self.view.show_difference(seen.difference)

    def resized(self) -> None:
        """As high as the window lets it be."""
        if hasattr(self, "view"):  # not built yet
            self.view.setFixedHeight(max(theme().px(160), min(theme().px(460), self.height() - theme().px(140))))
        super().resized()

    def open(self, focus: QWidget | None = None) -> None:
        """Show it, with the keys on the safe button."""
        super().open(focus or self.view.keep)
