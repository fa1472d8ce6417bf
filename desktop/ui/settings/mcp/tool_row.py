"""One tool of an MCP server: a switch, the server's words about it, and what it takes, in words or as JSON."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from desktop.presenter.mcp.servers import McpToolRow
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import MonoView
from desktop.ui.widgets.controls.toggles import Segmented, Switch
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

WORDS, JSON = "words", "json"
MAX_PARAMS = 60
MAX_JSON = 60_000
JSON_ROWS = 14
BESIDE_SWITCH = 44
"""Pixels at 100 % that the lines below the name are moved in: the switch and the space beside it."""


class ToolRow(QFrame):
    """``switched`` to on or off, ``attempt``: try it, ``opened``: what it takes is shown, or not any more."""

    switched = Signal(bool)
    attempt = Signal()
    opened = Signal(bool)

    def __init__(self, tool: McpToolRow, *, is_open: bool) -> None:
        super().__init__()
        self.setProperty("pane", "row")
        self._tool, self._open = tool, is_open
        name = shown_line(tool.name)[:80]
        state = f"off: {tool.off}" if tool.off else f"on, {tool.category}"
        self.setAccessibleName(f"{name}, {state}")
        column = Column(self, margins=(0, 8, 0, 8), spacing=4)
        self.switch = Switch(f"{name} may be called")
        self.switch.setChecked(not tool.off)
        self.switch.setEnabled(tool.switchable)
        self.switch.clicked.connect(self._switched)
        row = Row(spacing=12)
        row.addWidget(self.switch)
        row.addLayout(self._head(tool, name), 1)
        column.addLayout(row)
        column.addLayout(self._body(tool, is_open))

    def _body(self, tool: McpToolRow, is_open: bool) -> Column:
        column = Column(margins=(BESIDE_SWITCH, 0, 0, 0), spacing=4)
        if tool.description:
            column.addWidget(Paragraph(shown(tool.description), "small", "2"))
        if tool.claims:
            column.addWidget(Paragraph(shown(f"The server says: {', '.join(tool.claims)}."), "small", "3"))
        if tool.off:
            column.addWidget(Paragraph(shown(f"Off: {tool.off}."), "small", "3" if tool.switchable else "failed"))
        if is_open:
            column.addWidget(self._takes(tool))
        return column

    def _head(self, tool: McpToolRow, name: str) -> Row:
        head = Row(spacing=8)
        head.addWidget(Text(name, "code", "3" if tool.off else "1", elide="right"), 1)
        head.addWidget(Badge(tool.category))
        if not tool.off:
            attempt = Button("Try it", "quiet", small=True, icon="play", tip=f"Call {name} now")
            attempt.clicked.connect(self.attempt)
            head.addWidget(attempt)
        words = f"Hide what {name} takes" if self._open else f"Show what {name} takes"
        self.more = IconButton("down" if self._open else "right", words)
        self.more.clicked.connect(lambda: self.opened.emit(not self._open))
        head.addWidget(self.more)
        return head

    def _takes(self, tool: McpToolRow) -> QWidget:
        card = pane("card")
        column = Column(card, margins=(12, 8, 12, 10), spacing=8)
        head = Row(spacing=8)
        head.addWidget(Text("What it takes", "small", "2"))
        head.addStretch(1)
        self.how = Segmented("How to show what it takes", ((WORDS, "In words"), (JSON, "JSON")), small=True)
        self.how.chosen.connect(self._show_as)
        head.addWidget(self.how)
        column.addLayout(head)
        self._words, self.json = _in_words(tool), MonoView("What it takes, as JSON", tool.schema[:MAX_JSON], wrap=True)
        self.json.setFixedHeight(theme().px(18 * min(JSON_ROWS, tool.schema.count("\n") + 1) + 8))
        self.json.hide()
        column.addWidget(self._words)
        column.addWidget(self.json)
        return card

    def _show_as(self, how: str) -> None:
        self._words.setVisible(how == WORDS)
        self.json.setVisible(how == JSON)

    def _switched(self, on: bool) -> None:
        self.switch.setChecked(not self._tool.off)  # it moves when it is so
        self.switched.emit(on)


def _in_words(tool: McpToolRow) -> QWidget:
    holder = QWidget()
    if not tool.params:
        Column(holder, spacing=0).addWidget(Text("nothing", "small", "2"))
        return holder
    grid = QGridLayout(holder)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme().px(16))
    grid.setVerticalSpacing(theme().px(6))
    grid.setColumnStretch(2, 1)
    top = Qt.AlignmentFlag.AlignTop
    for at, (name, words, description) in enumerate(tool.params[:MAX_PARAMS]):
        grid.addWidget(Text(shown_line(name)[:60] or "value", "code"), at, 0, top)
        grid.addWidget(Text(shown_line(words)[:80], "small", "2"), at, 1, top)
        grid.addWidget(Paragraph(shown(description), "small", "2"), at, 2, top)
    if len(tool.params) > MAX_PARAMS:
        grid.addWidget(Text(f"and {len(tool.params) - MAX_PARAMS} more, see JSON", "small", "3"), MAX_PARAMS, 0)
    return holder
