"""Find in the open thread: a field over the transcript, how many were found, next and previous."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame

from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.scaling import Row, sized
from desktop.ui.widgets.text import Text


class FindBar(QFrame):
    """Enter goes on, Shift+Enter back, Escape closes."""

    wanted = Signal(str, bool)
    closed = Signal()

    def __init__(self, *, name: str = "Find in this chat") -> None:
        super().__init__()
        self.setProperty("pane", "header")
        self.field = sized(Field(name, hint=name, icon="search"), max_width=360)
        self._count = Text("", "small", "3")
        back = IconButton("left", "Previous match", shortcut="Shift+Enter")
        ahead = IconButton("right", "Next match", shortcut="Enter")
        close = IconButton("close", "Close", shortcut="Esc")
        row = Row(self, margins=(24, 6, 12, 6), spacing=8)
        for widget in (self.field, back, ahead, self._count):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(close)
        self._later = QTimer(self, singleShot=True, interval=120)
        self._later.timeout.connect(lambda: self.wanted.emit(self.field.text(), True))
        self.field.textChanged.connect(lambda _: self._later.start())
        back.clicked.connect(lambda: self.wanted.emit(self.field.text(), False))
        ahead.clicked.connect(lambda: self.wanted.emit(self.field.text(), True))
        close.clicked.connect(self.put_away)
        self.setVisible(False)

    def begin(self) -> None:
        """Show it and put the keys there."""
        self.setVisible(True)
        self.field.setFocus()
        self.field.selectAll()

    def put_away(self) -> None:
        """Hide the bar; the highlights go with it."""
        self.setVisible(False)
        self.wanted.emit("", True)
        self.closed.emit()

    def show_count(self, place: int, count: int) -> None:
        """Show the count, such as ``2 of 14``."""
        asked = bool(self.field.text())
        self._count.setText(f"{place} of {count}" if count else "Nothing found" if asked else "")
        self._count.updateGeometry()

    def say(self, words: str) -> None:
        """How far a search is that takes long."""
        self._count.setText(words)
        self._count.updateGeometry()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter, Shift+Enter, Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.put_away()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.wanted.emit(self.field.text(), not event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        else:
            super().keyPressEvent(event)
