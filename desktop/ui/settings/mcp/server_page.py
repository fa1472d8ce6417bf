"""The page of one MCP server: how it is, its tools, its log, and how it is started.

Names, descriptions and hints are the server's words; they are shown as such and decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.servers.mcp import McpOffers
from desktop.domain.servers.sign_in import SignInFacts
from desktop.presenter.mcp.rows import McpRow
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.settings.mcp.card import run_buttons
from desktop.ui.settings.mcp.offered_view import OfferedView
from desktop.ui.settings.mcp.sign_in import SignInPanel
from desktop.ui.settings.mcp.started import started_card
from desktop.ui.settings.mcp.state import start_waits, state_of, trouble
from desktop.ui.settings.mcp.task_rows import TaskRows
from desktop.ui.settings.mcp.tool_list import ToolList
from desktop.ui.settings.mcp.tools_top import ToolsTop
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.help_button import HelpIcon
from desktop.ui.widgets.layout.containers import Notice, Scroller, clear
from desktop.ui.widgets.layout.tabs import Tabs
from desktop.ui.widgets.marks import Icon, StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

TABS = (
    ("tools", "Tools"),
    ("resources", "Resources"),
    ("prompts", "Prompts"),
    ("log", "Log"),
    ("started", "How it is started"),
)
MARGINS = (24, 14, 24, 24)


class ServerPage(QFrame):
    """``back`` to all servers, ``edit`` its entry in the file or ``remove`` it, ``look`` at what was not seen yet;
    ``in_sight``: it came on the screen, or left it."""

    back = Signal()
    edit = Signal(int)
    remove = Signal()
    look = Signal()
    look_all = Signal(bool)
    all_off = Signal()
    switched = Signal(object, bool)
    category = Signal(object, str)
    attempt = Signal(str)
    restart = Signal()
    stop = Signal()
    switch_on = Signal()
    sign_out = Signal()
    in_sight = Signal(bool)
    task_ended = Signal(str)
    look_at_tasks = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        self.name = ""
        self._row: McpRow | None = None
        self._keys: dict[str, object] = {}
        column = Column(self, spacing=0)
        column.addWidget(self._make_head())
        self.tabs = Tabs("What to show of it", TABS)
        strip = sized(pane("header"), height=48)
        row = Row(strip, margins=(24, 0, 16, 1))
        row.addWidget(self.tabs)
        row.addStretch(1)
        column.addWidget(strip)
        self._above = QWidget()
        above = Column(self._above, margins=(24, 12, 24, 0), spacing=8)
        self._failed = Notice("failed")
        self._failed.hide()
        self._trouble = Column(spacing=0)
        self.signing = SignInPanel()
        above.addWidget(self._failed)
        above.addLayout(self._trouble)
        above.addWidget(self.signing)
        self._above.hide()
        column.addWidget(self._above)
        self.stack = QStackedWidget()
        column.addWidget(self.stack, 1)
        self._makers: dict[str, Callable[[], QWidget]] = {
            "tools": self._make_tools,
            "resources": self._make_offered,
            "prompts": self._make_offered,
            "log": self._make_log,
            "started": self._make_started,
        }
        self._views: dict[str, QWidget] = {}
        self._view("tools")
        self.tabs.chosen.connect(self.show_tab)

    def _make_head(self) -> QWidget:
        head = sized(pane("header"), height=48)
        self._head = Row(head, margins=(16, 0, 16, 1), spacing=8)
        self.leave = IconButton("left", "All servers (Esc)")
        self.leave.clicked.connect(self.back)
        self._head.addWidget(self.leave)
        self._head.addWidget(Text("MCP servers", "title"))
        self._head.addWidget(Icon("right", "text-3", 16))
        self._name = Text("", "code", "1")
        self._state = StateLabel()
        self._head.addWidget(self._name)
        self._head.addWidget(self._state)
        self._head.addStretch(1)
        self._actions = Row(spacing=8)
        self._head.addLayout(self._actions)
        self._head.addWidget(HelpIcon())
        return head

    def _view(self, tab: str) -> QWidget:
        """What a tab shows, made when it is wanted."""
        if tab not in self._views:
            self._views[tab] = self._makers[tab]()
            self.stack.addWidget(self._views[tab])
        return self._views[tab]

    def make_views(self) -> Iterator[None]:
        """Make what is behind the tabs, one after the other."""
        for tab in self._makers:
            yield
            self._view(tab)

    def _make_tools(self) -> QWidget:
        view = Scroller(margins=MARGINS, spacing=10)
        self._tools_top = ToolsTop()
        self._tools_top.look.connect(self.look)
        self._tools_top.look_all.connect(self.look_all)
        self._tools_top.all_off.connect(self.all_off)
        self._tools_top.switched.connect(self.switched)
        self.tasks = TaskRows()
        self.tasks.ended.connect(self.task_ended)
        self.tasks.look.connect(self.look_at_tasks)
        view.column.addWidget(self.tasks)
        view.column.addWidget(self._tools_top)
        self.tools = ToolList()
        self.tools.switched.connect(self.switched)
        self.tools.category.connect(self.category)
        self.tools.attempt.connect(self.attempt)
        view.column.addWidget(self.tools)
        view.column.addStretch(1)
        return view

    def _make_offered(self) -> OfferedView:
        view = OfferedView()
        view.switched.connect(self.switched)
        return view

    def _make_log(self) -> QWidget:
        holder = QFrame()
        column = Column(holder, margins=MARGINS, spacing=8)
        column.addWidget(Paragraph("What it wrote, newest last. These are its own words.", "small", "2"))
        card = pane("quoted")
        self.log = LinesView("Log")
        self.log.set_indent(12)
        Column(card, margins=(1, 8, 1, 8), spacing=0).addWidget(self.log)
        column.addWidget(card, 1)
        return holder

    def _make_started(self) -> QWidget:
        view = Scroller(margins=MARGINS, spacing=10)
        self._started = Column(spacing=10)
        view.column.addLayout(self._started)
        view.column.addStretch(1)
        return view

    # -- following ----------------------------------------------------------------------------------------------------

    def show_row(self, row: McpRow) -> None:
        """Show the server as it is now; each part is built anew only when something in it changed."""
        if row.name != self.name:
            self.name, self._keys, self._row = row.name, {}, None
            self.tools.field.clear()
            self.show_tab("tools")
        self._row = row
        head = (row.name, row.state, row.enabled, row.line, row.sign_in)
        self._part("head", head, lambda: self._show_head(row))
        broken = row.state in ("waiting", "failed")
        self.signing.show_facts(row.sign_in if row.state != "off" else SignInFacts(), row.host)
        waits = "" if row.state != "starting" else row.reason
        seen = broken and (row.reason, row.log[-4:])
        self._part("trouble", (seen, waits), lambda: self._show_trouble(row, broken=broken))
        self._show_above()
        self.tasks.show_tasks(row.tasks)
        self._tools_top.show_row(row)
        self.tools.show_tools(row)
        self.tabs.set_count("tools", len(row.tools))
        self.tabs.set_count("resources", len(row.offers.resources) + len(row.offers.templates))
        self.tabs.set_count("prompts", len(row.offers.prompts))
        self._show_tab(row)

    def _show_tab(self, row: McpRow) -> None:
        """What only one tab shows is built when that is in sight."""
        if self.tabs.value == "log":
            self._part("log", row.log, lambda: self._show_log(row))
        elif self.tabs.value == "started":
            bare = replace(row, tools=(), log=(), instructions=None, offering=None, offers=McpOffers(""), tasks=())
            self._part("started", bare, lambda: self._show_started(row))
        elif isinstance(view := self._view(self.tabs.value), OfferedView):
            view.show_row(row, self.tabs.value)

    def say(self, why: str) -> None:
        """What a person wanted was not done."""
        self._failed.say(shown(why))
        self._failed.show()
        self._above.show()

    def _show_above(self) -> None:
        shown_parts = (self._trouble.count() > 0, not self.signing.isHidden(), not self._failed.isHidden())
        self._above.setVisible(any(shown_parts))

    def _part(self, name: str, key: object, build: Callable[[], None]) -> None:
        if name not in self._keys or self._keys[name] != key:
            self._keys[name] = key
            build()

    def show_tab(self, tab: str) -> None:
        """Show one of its parts."""
        self._failed.hide()
        self._show_above()
        self.tabs.set_value(tab)
        self.stack.setCurrentWidget(self._view(tab))
        if self._row is not None:
            self._show_tab(self._row)

    def _show_head(self, row: McpRow) -> None:
        self.setAccessibleName(f"{row.name}, {state_of(row)[1]}")
        self._name.setText(shown_line(row.name))
        self._state.set_state(*state_of(row))
        clear(self._actions)
        edit = Button("Edit", "quiet", small=True, tip=f"Edit {row.name} in the file")
        edit.clicked.connect(lambda: self.edit.emit(row.line))
        away = Button("Remove", "quiet", small=True, icon="delete", tip=f"Take {row.name} out of mcp.yaml, and end it")
        away.clicked.connect(self.remove)
        buttons = [edit, away, *run_buttons(row, self.stop, self.restart, self.switch_on)]
        if row.sign_in.stage == "in":
            out = Button("Sign out", small=True, tip=f"Sign out of {row.name}")
            out.clicked.connect(self.sign_out)
            buttons.append(out)
        for button in buttons:
            self._actions.addWidget(button)

    def _show_trouble(self, row: McpRow, *, broken: bool) -> None:
        clear(self._trouble)
        if broken:
            self._trouble.addWidget(trouble(row))
        elif row.state == "starting" and row.reason:
            self._trouble.addWidget(start_waits(row, self.stop))

    def _show_log(self, row: McpRow) -> None:
        self.log.set_text("\n".join(map(shown_line, row.log or ("(nothing)",))))
        self.log.verticalScrollBar().setValue(self.log.verticalScrollBar().maximum())

    def _show_started(self, row: McpRow) -> None:
        clear(self._started)
        self._started.addWidget(started_card(row))

    # -- keys and sight -----------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc goes back to all servers."""
        if event.key() == Qt.Key.Key_Escape:
            self.back.emit()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Its own head is the head of the page."""
        super().showEvent(event)
        self.in_sight.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """The page has its usual head again."""
        super().hideEvent(event)
        self.in_sight.emit(False)
