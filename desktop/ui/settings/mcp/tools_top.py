"""What stands above the tools of a server: what waits to be looked at, its instructions, how many tools are on."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.mcp.rows import McpRow
from desktop.ui.settings.mcp.instructions import InstructionsRow
from desktop.ui.settings.mcp.state import state_of, unseen_words
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import EmptyState, Notice, clear
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown
from desktop.ui.widgets.text import Paragraph

BESIDE = "Its resources and prompts"
WHOSE = "Names and descriptions are the server's own words. Models are told them."


class ToolsTop(QWidget):
    """``look`` at what was not seen yet, ``look_all`` at all that is off (or only at what says that it reads),
    ``switched`` with the instructions."""

    look = Signal()
    look_all = Signal(bool)
    all_off = Signal()
    switched = Signal(object, bool)

    def __init__(self) -> None:
        super().__init__()
        self._row: McpRow | None = None
        self._said: object = None
        self._said_open = False
        column = Column(self, spacing=10)
        self._weak, self._unseen = Notice("ask"), Notice("ask")
        self._look = Button("Look at them", small=True)
        self._look.clicked.connect(self.look)
        self._unseen.add(self._look)
        column.addWidget(self._weak)
        column.addWidget(self._unseen)
        self._instructions = Column(spacing=0)
        column.addLayout(self._instructions)
        self._head = self._make_head()
        column.addWidget(self._head)
        self._nothing = EmptyState("server", "", "", framed=True)
        column.addWidget(self._nothing)

    def _make_head(self) -> QWidget:
        holder = QWidget()
        head = Row(holder, spacing=8)
        self._count = Paragraph("", "small", "2")
        head.addWidget(self._count, 1)
        self._reading = Button("On for all that only read", small=True, icon="read", shrinks=True)
        self._reading.setToolTip("Those that say of themselves that they only read; you see them first")
        self._reading.clicked.connect(lambda: self.look_all.emit(True))
        self._every = Button("All on", "quiet", small=True, tip="All on; you see them first")
        self._every.clicked.connect(lambda: self.look_all.emit(False))
        self._none = Button("All off", "quiet", small=True, tip="All off, until you switch them on again")
        self._none.clicked.connect(self.all_off)
        for button in (self._reading, self._every, self._none):
            head.addWidget(button)
        return holder

    def show_row(self, row: McpRow) -> None:
        """Show the server as it is now."""
        if self._row is not None and self._row.name != row.name:
            self._said_open = False
        self._row = row
        self._weak.setVisible(bool(row.weak))
        if row.weak:
            self._weak.say(shown(f"Every call asks you, as an admin call: {row.weak}."))
        self._unseen.setVisible(bool(row.waiting))
        if row.waiting:
            self._unseen.say(unseen_words(row))
            self._look.set_label("Look at them" if row.waiting != 1 else "Look at it")
        self._show_instructions(row)
        self._head.setVisible(bool(row.tools))
        self._nothing.setVisible(not row.tools)
        if row.tools:
            self._show_head(row)
        elif row.state == "running":
            self._nothing.say("It offers no tools", "Nothing that a model could call.")
        else:
            self._nothing.say(f"It is {state_of(row)[1]}", "What it offers is known once it runs.")

    def _show_head(self, row: McpRow) -> None:
        self._count.set_pieces([(f"{row.on} of {len(row.tools)} on. ", "strong"), (WHOSE, "")])
        off = [tool for tool in row.tools if tool.switchable and tool.off]
        self._reading.setEnabled(any(tool.reads for tool in off))
        self._every.setEnabled(bool(off))
        self._none.setEnabled(any(tool.switchable and not tool.off for tool in row.tools))

    def _show_instructions(self, row: McpRow) -> None:
        said, offering = row.instructions, row.offering
        if self._said == (said, offering, self._said_open):
            return
        self._said = (said, offering, self._said_open)
        clear(self._instructions)
        if said is not None:
            widget = InstructionsRow(said, is_open=self._said_open)
            widget.switched.connect(lambda on: self.switched.emit(said, on))
            widget.opened.connect(self._open)
            self._instructions.addWidget(widget)
        if offering is not None:
            beside = InstructionsRow(offering, is_open=True, title=BESIDE, off="Nothing of it is offered to you")
            beside.switched.connect(lambda on: self.switched.emit(offering, on))
            self._instructions.addWidget(beside)

    def _open(self, is_open: bool) -> None:
        self._said_open = is_open
        if self._row is not None:
            self._show_instructions(self._row)
