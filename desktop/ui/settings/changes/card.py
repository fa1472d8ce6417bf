"""How much is kept of files that calls changed, and the button that clears it."""

from __future__ import annotations

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame

from desktop.presenter.changes.kept import KeptViewModel
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Paragraph, Text

HELP = (
    "What files held before and after calls changed them, readable by you alone, in data/changes of Assent's folder. "
    "Files of keys and passwords are never among it."
)
KEEP, CLEAR = "keep", "clear"


class KeptCard(QFrame):
    """The amount, looked at anew each time that it is shown."""

    def __init__(self, kept: KeptViewModel) -> None:
        super().__init__()
        self._kept = kept
        self.setProperty("pane", "card")
        column = Column(self, margins=(16, 12, 16, 12), spacing=8)
        head = Row(spacing=8)
        head.addWidget(Text("Kept now", "medium"))
        head.addStretch(1)
        self.clear_button = Button("Clear…", small=True, icon="delete")
        self.clear_button.clicked.connect(self._ask)
        head.addWidget(self.clear_button)
        column.addLayout(head)
        self.words = Paragraph("", "body", "2")
        column.addWidget(self.words)
        column.addWidget(Paragraph(HELP, "small", "2"))
        self.refusal = Paragraph("", "small", "failed")
        self.refusal.hide()
        column.addWidget(self.refusal)
        kept.changed.connect(self._show_amount)
        kept.failed.connect(self._failed)
        self._show_amount()

    def showEvent(self, event: QShowEvent) -> None:
        """Look again."""
        super().showEvent(event)
        self._kept.refresh()

    def _show_amount(self) -> None:
        self.words.set_pieces(self._kept.words)
        self.refusal.hide()
        self.clear_button.setEnabled(self._kept.some)

    def _failed(self, why: str) -> None:
        self.refusal.set_pieces(why)
        self.refusal.show()

    def _ask(self) -> None:
        dialog = Dialog(
            self.window(),
            "Clear what is kept of changed files?",
            "Nothing that was changed until now can be undone any more. The files themselves stay as they are.",
            (DialogAnswer(KEEP, "Keep it", key="Esc"), DialogAnswer(CLEAR, "Clear", "danger")),
        )
        dialog.answered.connect(lambda answer: self._kept.clear() if answer == CLEAR else None)
        dialog.open()
