"""What stands in the place of a page until there is one."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame

from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.text import Text

LOADING = "Loading Assent"
PATIENCE_MS = 500
"""A page mostly comes before that: words would only flicker."""


class StandIn(QFrame):
    """Empty at first; then it says what a person waits for. It takes the keys, which the window keeps for the page."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "bg")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._words = Text(LOADING, "body", "2")
        self._words.hide()
        column = Column(self, margins=16)
        column.addWidget(self._words, 1, Qt.AlignmentFlag.AlignCenter)
        QTimer.singleShot(PATIENCE_MS, self, self._words.show)

    def say(self, words: str) -> None:
        """Say what the person waits for."""
        self._words.setText(words)
