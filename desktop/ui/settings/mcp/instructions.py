"""How an MCP server wants to be used, in its own words: a switch for whether models are told, and the words."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from desktop.presenter.mcp.rows import McpInstructions
from desktop.ui.settings.mcp.tool_row import BESIDE_SWITCH
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.toggles import Switch
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown
from desktop.ui.widgets.text import Paragraph, Text

TITLE = "Its instructions for models"
NOT_TOLD = "Models are not told"
FOLDED = 240
"""Characters that are shown until a person wants to see all."""


class InstructionsRow(QFrame):
    """``switched`` to on or off, ``opened``: all of it is shown, or not any more."""

    switched = Signal(bool)
    opened = Signal(bool)

    def __init__(self, said: McpInstructions, *, is_open: bool, title: str = TITLE, off: str = NOT_TOLD) -> None:
        super().__init__()
        self.setProperty("pane", "row")
        self._said = said
        self.setAccessibleName(f"{title}, {f'off: {said.off}' if said.off else 'on'}")
        column = Column(self, margins=(0, 8, 0, 8), spacing=4)
        head = Row(spacing=12)
        self.switch = Switch(title)
        self.switch.setChecked(not said.off)
        self.switch.clicked.connect(self._switched)
        head.addWidget(self.switch)
        head.addWidget(Text(title, "strong", "3" if said.off else "1"), 1)
        folded = len(said.text) > FOLDED and not is_open
        if len(said.text) > FOLDED:
            self.more = IconButton("right" if folded else "down", f"{'Show' if folded else 'Fold'} {title.lower()}")
            self.more.clicked.connect(lambda: self.opened.emit(folded))
            head.addWidget(self.more)
        column.addLayout(head)
        body = Column(margins=(BESIDE_SWITCH, 0, 0, 0), spacing=4)
        words = f"{said.text[:FOLDED].rstrip()} …" if folded else said.text
        body.addWidget(Paragraph(shown(words), "small", "2"))
        if said.off:
            body.addWidget(Paragraph(shown(f"{off}: {said.off}."), "small", "3"))
        column.addLayout(body)

    def _switched(self, on: bool) -> None:
        self.switch.setChecked(not self._said.off)  # it moves when it is so
        self.switched.emit(on)
