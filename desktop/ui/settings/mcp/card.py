"""One MCP server: its state and why, what it runs, its tools, and its log when that is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.mcp.servers import McpInstructions, McpRow, McpToolRow
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.settings.mcp.instructions import InstructionsRow
from desktop.ui.settings.mcp.tool_row import ToolRow
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice, clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

WHOSE = "Names and descriptions come from the server and are shown to models."
LOG_ROWS = 14
TOOLS_AT_FIRST = 20
LAST_LINES = 4
"""Of the log, with a server that does not run."""
STATES = {
    "off": ("aborted", "off"),
    "starting": ("running", "starting"),
    "running": ("done", "running"),
    "waiting": ("failed", "failed, will start again"),
    "failed": ("failed", "failed"),
}


class ServerCard(QFrame):
    """``edit`` with the line of its entry, ``attempt`` with a tool's name, ``look`` at what was not seen yet,
    ``switched`` with a tool's row."""

    edit = Signal(int)
    attempt = Signal(str)
    look = Signal()
    switched = Signal(object, bool)
    all_on = Signal()
    all_off = Signal()
    restart = Signal()
    stop = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "card")
        self._row: McpRow | None = None
        column = Column(self, margins=(16, 10, 12, 12), spacing=6)
        self._parts: dict[str, tuple[Column, object]] = {}
        for name in ("head", "tools", "log"):
            part = Column(spacing=6)
            column.addLayout(part)
            self._parts[name] = (part, None)
        self._log_open = self._all_tools = False
        self._open: dict[str, bool] = {}
        """Of tools, by the server's names: whether what they take is shown, where a person said so."""

    def show_row(self, row: McpRow) -> None:
        """Show the server as it is now; a part is built anew only when something in it changed, because a server may
        write to its log without end."""
        self._row = row
        broken = row.state in ("waiting", "failed")
        head = replace(row, tools=(), instructions=None, log=row.log[-LAST_LINES:] if broken else ())
        self._part("head", (head, row.unseen, row.unseen_instructions, self._log_open), lambda: self._head_widgets(row))
        known = (row.tools, row.instructions, self._all_tools, dict(self._open))
        self._part("tools", known, lambda: self._tool_widgets(row))
        self._part("log", (self._log_open, row.log if self._log_open else ()), lambda: self._log_widgets(row))

    def _part(self, name: str, key: object, build: Callable[[], list[QWidget]]) -> None:
        column, known = self._parts[name]
        if key == known:
            return
        self._parts[name] = (column, key)
        clear(column)
        for widget in build():
            column.addWidget(widget)

    def _head_widgets(self, row: McpRow) -> list[QWidget]:
        self.setAccessibleName(f"{row.name}, {STATES[row.state][1]}: {shown_line(row.where)}")
        widgets: list[QWidget] = [self._head(row), Text(shown_line(row.where), "code", "2", elide="right")]
        said = (row.confinement, row.weak and f"Every call asks you, as an admin call: {row.weak}.", row.note, row.says)
        widgets += [Paragraph(shown(words), "small", "2") for words in said if words]
        if row.state in ("waiting", "failed"):
            widgets.append(_trouble(row))
        if row.unseen or row.unseen_instructions:
            widgets.append(self._unseen(row))
        return widgets

    def _tool_widgets(self, row: McpRow) -> list[QWidget]:
        tools = row.tools if self._all_tools else row.tools[:TOOLS_AT_FIRST]
        widgets: list[QWidget] = [self._tools_head(row)] if row.tools else []
        if row.instructions is not None:
            widgets.insert(0, self._instructions(row.instructions))
        widgets += [self._tool(tool) for tool in tools]
        if len(tools) < len(row.tools):
            more = Button(f"Show all {len(row.tools)} tools", "quiet", small=True)
            more.clicked.connect(self._show_all)
            widgets.append(more)
        return widgets

    def _log_widgets(self, row: McpRow) -> list[QWidget]:
        return [_log("Log", row.log or ("(nothing)",))] if self._log_open else []

    def _show_all(self) -> None:
        self._all_tools = True
        self._again()

    def _toggle_log(self) -> None:
        self._log_open = not self._log_open
        self._again()

    def _again(self) -> None:
        if self._row is not None:
            self.show_row(self._row)

    def _head(self, row: McpRow) -> QWidget:
        holder = QWidget()
        head = Row(holder, spacing=8)
        head.addWidget(Text(shown_line(row.name), "code"))
        state = StateLabel()
        state.set_state(*STATES[row.state])
        head.addWidget(state)
        head.addStretch(1)
        running = row.state in ("running", "starting", "waiting")
        log = Button("Hide log" if self._log_open else "Log", "quiet", small=True)
        log.clicked.connect(self._toggle_log)
        edit = Button("Edit", "quiet", small=True, tip=f"Edit {row.name} in the file")
        edit.clicked.connect(lambda: self.edit.emit(row.line))
        head.addWidget(log)
        head.addWidget(edit)
        if running:
            stop = Button("Stop", "quiet", small=True, icon="stop", tip=f"End {row.name}")
            stop.clicked.connect(self.stop)
            head.addWidget(stop)
        if row.enabled or running:
            words = "Restart" if running else "Start"
            again = Button(words, small=True, icon="retry" if running else "play", tip=f"{words} {row.name}")
            again.clicked.connect(self.restart)
            head.addWidget(again)
        return holder

    def _unseen(self, row: McpRow) -> Notice:
        strip = Notice("ask", unseen_words(row))
        many = row.unseen + row.unseen_instructions != 1
        button = Button("Look at them" if many else "Look at it", small=True)
        button.clicked.connect(self.look)
        strip.add(button)
        return strip

    def _instructions(self, said: McpInstructions) -> QWidget:
        name = said.server_name
        row = InstructionsRow(said, is_open=self._open.get(name, False))
        row.switched.connect(lambda on: self.switched.emit(said, on))
        row.opened.connect(lambda is_open: self._open_tool(name, is_open))
        return row

    def _tool(self, tool: McpToolRow) -> QWidget:
        name = tool.server_name
        row = ToolRow(tool, is_open=self._open.get(name, tool.unseen))
        row.switched.connect(lambda on: self.switched.emit(tool, on))
        row.attempt.connect(lambda: self.attempt.emit(tool.name))
        row.opened.connect(lambda is_open: self._open_tool(name, is_open))
        return row

    def _open_tool(self, name: str, is_open: bool) -> None:
        self._open[name] = is_open
        self._again()

    def _tools_head(self, row: McpRow) -> QWidget:
        """How many are on, and all at once."""
        holder = QWidget()
        head = Row(holder, spacing=8)
        words = f"{row.on} of {len(row.tools)} on. "
        head.addWidget(Paragraph([(words, "strong"), (WHOSE, "")], "small", "2"), 1)
        can = [tool for tool in row.tools if tool.switchable]
        for label, signal, wanted in (
            ("All on", self.all_on, any(tool.off for tool in can)),
            ("All off", self.all_off, any(not tool.off for tool in can)),
        ):
            button = Button(label, "quiet", small=True, tip=f"{label}: the tools of {row.name}")
            button.setEnabled(wanted)
            button.clicked.connect(signal)
            head.addWidget(button)
        return holder


def unseen_words(row: McpRow) -> str:
    """What waits to be looked at: ``Its instructions and 2 tools are new or changed, and off until …``."""
    tools = f"{row.unseen} tool{'s' * (row.unseen != 1)}" if row.unseen else ""
    said = "instructions" if row.unseen_instructions else ""
    what = " and ".join(part for part in (f"its {said}" if said else "", tools) if part)
    are, them = ("is", "it") if row.unseen == 1 and not said else ("are", "them")
    return f"{what[:1].upper()}{what[1:]} {are} new or changed, and off until you switch {them} on."


def _trouble(row: McpRow) -> QWidget:
    holder = QWidget()
    column = Column(holder, spacing=6)
    column.addWidget(Notice("failed", shown_line(row.reason) or "It ended."))
    if row.log:
        column.addWidget(_log("Its last lines", row.log[-LAST_LINES:]))
    return holder


def _log(name: str, lines: tuple[str, ...]) -> QWidget:
    card = pane("quoted")
    view = LinesView(name, max_rows=LOG_ROWS)
    view.set_indent(12)
    view.set_text("\n".join(map(shown_line, lines)))
    view.setFixedHeight(view.sizeHint().height())
    Column(card, margins=(1, 8, 1, 8), spacing=0).addWidget(view)
    return card
