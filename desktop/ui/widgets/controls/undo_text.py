"""A text whose Ctrl+Z goes on to the page while there is nothing in it to take back, as to the toast after deleting."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit


class UndoText(QPlainTextEdit):
    """Qt's own keeps Ctrl+Z from every shortcut, also where it then does nothing."""

    @property
    def takes_undo(self) -> bool:
        """Whether Ctrl+Z is for what is typed here."""
        return not self.document().isEmpty() or self.document().isUndoAvailable()

    def event(self, event: QEvent) -> bool:
        """Lets the key be a shortcut of the page."""
        over = event if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride else None
        if over is not None and not self.takes_undo and over.matches(QKeySequence.StandardKey.Undo):
            event.ignore()
            return True
        return super().event(event)
