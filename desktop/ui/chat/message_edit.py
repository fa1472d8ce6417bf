"""Saying a sent message differently: a field over the composer; what was said before stays as a branch."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.ui.widgets.buttons import Button
from desktop.ui.widgets.fields import TextArea
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Text


class MessageEdit(QFrame):
    """Hidden until ``begin``; Ctrl+Enter sends, Escape leaves everything as it was."""

    done = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("pane", "card-attention")
        self._message_id = ""
        self._text = sized(TextArea("The message, said differently"), height=120)
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
        self.hide()

    def begin(self, message_id: str, text: str) -> None:
        """Edit a message."""
        self._message_id = message_id
        self._text.setPlainText(text)
        self.show()
        self._text.setFocus()

    def cancel(self) -> None:
        """Give up; nothing changes."""
        self._message_id = ""
        self.hide()

    def _finish(self) -> None:
        text = self._text.toPlainText()
        if self._message_id and text.strip():
            self.done.emit(self._message_id, text)
            self.cancel()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+Enter, Escape."""
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Escape:
            self.cancel()
        elif control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._finish()
        else:
            super().keyPressEvent(event)
