"""Saying a sent message differently: a field over the composer; what was said before stays as a branch."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame

from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import TextArea
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Text


class MessageEdit(QFrame):
    """The field in which a message is edited; hidden until ``begin``. Ctrl+Enter sends, Escape leaves everything as it
    was."""

    done = Signal(str, str)
    changed = Signal()
    given_up = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "card-attention")
        self.message_id = ""
        self._text = sized(TextArea("Your message"), height=120)
        self._send = Button("Send as a new branch", "primary", key="Ctrl+Enter")
        cancel = Button("Cancel", key="Esc")
        column = Column(self, margins=12, spacing=8)
        column.addWidget(Text("Edit your message", "small-medium"))
        column.addWidget(self._text)
        row = Row(spacing=8)
        row.addWidget(Text("The old one stays reachable", "small", "3"))
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(self._send)
        column.addLayout(row)
        cancel.clicked.connect(self.cancel)
        self._send.clicked.connect(self._finish)
        self._text.textChanged.connect(self._typed)
        self.hide()

    @property
    def text(self) -> str:
        """How it is said now."""
        return self._text.toPlainText()

    def begin(self, message_id: str, text: str) -> None:
        """Open the field for a message."""
        self.resume(message_id, text)
        self._text.setFocus()

    def resume(self, message_id: str, text: str) -> None:
        """Go on with what was begun before, leaving the keys where they are."""
        self.message_id = ""
        self._text.setPlainText(text)
        self._text.moveCursor(self._text.textCursor().MoveOperation.End)
        self.message_id = message_id
        self.show()

    def put_away(self) -> None:
        """Hide the field, because another thread is shown; the text is kept with its thread."""
        self.message_id = ""
        self.hide()

    def cancel(self) -> None:
        """Close the field without a change."""
        self.put_away()
        self.given_up.emit()

    def _typed(self) -> None:
        if self.message_id:
            self.changed.emit()

    def _finish(self) -> None:
        message_id, text = self.message_id, self.text
        if message_id and text.strip():
            self.put_away()
            self.done.emit(message_id, text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send on Ctrl+Enter, cancel on Escape."""
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Escape:
            self.cancel()
        elif control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._finish()
        else:
            super().keyPressEvent(event)
