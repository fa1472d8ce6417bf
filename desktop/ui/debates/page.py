"""Debates: the page says what it will be, and pretends nothing."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame

from desktop.ui.widgets.containers import EmptyState, PaneHeader
from desktop.ui.widgets.scaling import Column

SENTENCE = (
    "Two agents take sides, each with its own model and prompt, and you watch, pause, or step in as moderator. "
    "This version does not have that yet."
)


class DebatesPage(QFrame):
    """An honest empty page."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        column.addWidget(PaneHeader("Debates"))
        column.addWidget(EmptyState("debates", "Debates come in a later version", SENTENCE), 1)
