"""The dialogs around repositories: adding one, with what happens meanwhile, and removing one."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from desktop.presenter.skills.repositories import Repositories, SourceView
from desktop.presenter.skills.repository_words import remove_words
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field, Labelled
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.dialogs.files import FileDialog, choose_folder
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.shown import shown, shown_line

WIDTH = 520
FILES = "Archives and lock files (*.zip *.skill *.tar *.tar.gz *.tgz skills.lock *.lock)"


class AddDialog(Dialog):
    """Asks for an address; stays until the repository is there, it is cancelled, or it cannot be had."""

    help_page = "repositories"

    def __init__(self, window: QWidget, repositories: Repositories) -> None:
        words = (
            "Assent looks at what it brings, with git. Nothing of it is taken, and nothing in it runs, before you take "
            "something yourself."
        )
        answers = (DialogAnswer("no", "Cancel", key="Esc"), DialogAnswer("yes", "Add and look", "primary"))
        super().__init__(window, "Add a repository", words, answers, width=WIDTH)
        self._repositories = repositories
        self.field = Field("Address", hint="https://…, git@host:path, or a folder", mono=True)
        note = "A skills.lock that somebody gave you is taken exactly as it says, each thing checked by its digest."
        self.label = Labelled("Address, folder, archive or skills.lock", self.field, note)
        self.body.addWidget(self.label)
        row = Row(spacing=8)
        self.folder = Button("Choose a folder…", icon="folder", small=True)
        self.file = Button("Choose an archive or skills.lock…", icon="file", small=True)
        self.folder.clicked.connect(lambda: choose_folder(self, "Add a folder", self.field.setText))
        self.file.clicked.connect(self._choose_file)
        row.addWidget(self.folder)
        row.addWidget(self.file)
        row.addStretch(1)
        self.body.addLayout(row)
        self.wrong = Notice("failed", "")
        self.wrong.hide()
        self.body.addWidget(self.wrong)
        self.state = StateLabel()
        self.state.hide()
        self.body.addWidget(self.state)
        self.buttons["yes"].clicked.disconnect()
        self.buttons["yes"].clicked.connect(self._add)
        self.field.textChanged.connect(self._ready)
        self.field.returnPressed.connect(self._add)
        repositories.progressed.connect(self._progressed)
        repositories.refused.connect(self._refused)
        repositories.added.connect(self._added)
        self.answered.connect(self._closed)
        self._ready()

    def _choose_file(self) -> None:
        dialog = FileDialog(self, "Add an archive or a lock file")
        dialog.setFileMode(FileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(FILES)
        dialog.fileSelected.connect(lambda path: self.field.setText(path) if path else None)
        dialog.open()

    def _ready(self) -> None:
        lock = self.field.text().strip().endswith(".lock")
        self.buttons["yes"].set_label("Take what it names" if lock else "Add and look")
        self.buttons["yes"].setEnabled(bool(self.field.text().strip()) and not self._repositories.busy)

    def begin(self, address: str) -> None:
        """Look at a place that the person has chosen already."""
        self.field.setText(address)
        self._add()

    def _add(self) -> None:
        if self.buttons["yes"].isEnabled():
            self.wrong.hide()
            self._repositories.add(self.field.text())

    def _progressed(self) -> None:
        words = self._repositories.progress
        self.state.set_state("running" if words else "", shown_line(words[:1].upper() + words[1:]))
        was = self.state.isVisible()
        self.state.setVisible(bool(words))
        self.field.setReadOnly(bool(words))  # and not disabled: the keys would go on to Cancel
        for part in (self.folder, self.file):
            part.setEnabled(not words)
        self._ready()
        if was != bool(words):
            self.resized()

    def _refused(self, sentence: str) -> None:
        self.wrong.say(shown(sentence))
        self.wrong.show()
        self.resized()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.selectAll()

    def _added(self, _name: str) -> None:
        self.answer("added")

    def _closed(self, answer: str) -> None:
        for signal, slot in (
            (self._repositories.progressed, self._progressed),
            (self._repositories.refused, self._refused),
            (self._repositories.added, self._added),
        ):
            signal.disconnect(slot)
        if answer != "added":
            self._repositories.cancel()


def ask_remove(window: QWidget, view: SourceView, repositories: Repositories) -> Dialog:
    """Ask whether a repository shall go, and say what goes with it."""
    words = ((shown_line(remove_words(view)), ""),)
    answers = (DialogAnswer("no", "Keep it", key="Esc"), DialogAnswer("yes", "Remove", "danger"))
    dialog = Dialog(window, f"Remove {view.source.name}?", words, answers, width=440)
    dialog.answered.connect(lambda answer: repositories.remove() if answer == "yes" else None)
    dialog.open()
    return dialog
