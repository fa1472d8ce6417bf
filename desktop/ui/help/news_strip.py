"""A strip above the page after an update: which version this is, and what is new in it."""

from __future__ import annotations

from PySide6.QtCore import Signal

from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.layout.containers import Notice


class NewsStrip(Notice):
    """``wanted``: the person wants to read it. It goes with that, or with its cross."""

    wanted = Signal()

    def __init__(self, version: str) -> None:
        super().__init__("info", f"This is Assent {version} now.", banner=True)
        self.read = Button("What is new", small=True)
        self.read.clicked.connect(self.wanted)
        self.read.clicked.connect(self._go)
        self.close_button = IconButton("close", "Dismiss what is new", side=24, glyph_side=14)
        self.close_button.clicked.connect(self._go)
        self.add(self.read)
        self.add(self.close_button)

    def _go(self) -> None:
        self.hide()
        self.deleteLater()
