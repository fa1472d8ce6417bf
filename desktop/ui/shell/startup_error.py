"""A window of its own for a person who has no terminal: why Assent cannot start, and what to do about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QFrame

from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Paragraph, Text

WIDTH = 520
"""Pixels at 100 %."""


class StartupErrorWindow(QFrame):
    """The window that says why the app cannot start. ``closed`` comes once: by its button, Escape, Enter or the
    window's own cross."""

    closed = Signal()

    def __init__(self, reason: str, next_step: str) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        self.setWindowTitle("Assent")
        self.setAccessibleName(f"Assent cannot start. {reason} {next_step}")
        column = Column(self, margins=24, spacing=8)
        head = Row(spacing=8)
        head.addWidget(Icon("failed", "failed", 20))
        head.addWidget(Text("Assent cannot start", "title"), 1)
        column.addLayout(head)
        column.addWidget(Paragraph(reason, "body"))
        if next_step:
            column.addWidget(Paragraph(next_step, "body", "2"))
        column.addSpacing(theme().px(8))
        column.addStretch(1)
        foot = Row(spacing=8)
        foot.addStretch(1)
        self.button = Button("Close", key="Esc")
        self.button.clicked.connect(self.close)
        foot.addWidget(self.button)
        column.addLayout(foot)
        width = theme().px(WIDTH)
        self.setFixedWidth(width)
        self.resize(width, max(column.heightForWidth(width), self.sizeHint().height()))
        self.button.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape, Enter or Return."""
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """However it was closed."""
        super().closeEvent(event)
        self.closed.emit()
