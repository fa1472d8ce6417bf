"""Report a problem: the text as it would be passed on. The person changes it, copies it or saves it."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QWidget

from desktop.presenter.help.report import FILE_NAME, ReportViewModel
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.fields import TextArea
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.text import Text

WORDS = (
    "This is all of it, and nothing is sent from here: copy it or save it, and pass it on as you like. Chats, keys, "
    "names and paths are not in it. Say what happened at the top, and change what you want."
)
ANSWERS = (
    DialogAnswer("close", "Close", key="Esc"),
    DialogAnswer("save", "Save as…"),
    DialogAnswer("copy", "Copy", "primary"),
)
GATHERING = "Gathering…"
WRITE_AT = 2
"""The line of the text below which the person writes."""


class ReportDialog(Dialog):
    """Opened with ``open``; gathers its text by itself."""

    help_page = "help"

    def __init__(self, window: QWidget, report: ReportViewModel) -> None:
        super().__init__(window, "Report a problem", WORDS, ANSWERS, width=680)
        self._report = report
        self.text = TextArea("The report", mono=True)
        self.text.setPlainText(GATHERING)
        self.text.setReadOnly(True)
        self.body.addWidget(self.text, 1)
        self.note = Text("", "small", "2")
        self.body.addWidget(self.note)
        for name in ("save", "copy"):
            self.buttons[name].setEnabled(False)
            self.buttons[name].clicked.disconnect()
        self.buttons["save"].clicked.connect(self._save)
        self.buttons["copy"].clicked.connect(self._copy)
        report.begun.connect(self._begun)
        report.checked.connect(self._checked)
        report.said.connect(self.note.setText)
        report.begin()

    def resized(self) -> None:
        """As high as the window lets it be, up to some thirty lines."""
        if hasattr(self, "text"):
            self.text.setFixedHeight(max(theme().px(120), min(theme().px(440), self.height() - theme().px(300))))
        super().resized()

    def _begun(self, text: str) -> None:
        self.text.setReadOnly(False)
        self.text.setPlainText(text)
        cursor = self.text.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Down, n=WRITE_AT)
        self.text.setTextCursor(cursor)
        self.text.setFocus()
        for name in ("save", "copy"):
            self.buttons[name].setEnabled(True)

    def _checked(self, waiting: str, found: str) -> None:
        """Put the checks where their place is, unless the person took that away; what they write goes on."""
        at = self.text.toPlainText().find(waiting)
        if at < 0:
            return
        cursor = QTextCursor(self.text.document())
        cursor.setPosition(at)
        cursor.setPosition(at + len(waiting), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(found)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._report.ready(self.text.toPlainText()))
        self.note.setText("Copied")

    def _save(self) -> None:
        dialog = FileDialog(self.window(), "Save the report")
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("txt")
        dialog.selectFile(FILE_NAME)
        dialog.fileSelected.connect(lambda path: self._report.save(path, self.text.toPlainText()) if path else None)
        dialog.open()
