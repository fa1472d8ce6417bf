"""MCP servers: how each is, what it offers and what of it may be called, its log, the file, and trying a tool.

Whatever a server says (names, descriptions, hints, instructions) is shown as its own words, in plain text.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.skills import SkillProblem
from desktop.presenter.mcp.servers import McpRow, McpServersViewModel
from desktop.ui.settings.mcp.card import ServerCard
from desktop.ui.settings.mcp.form import ServerForm
from desktop.ui.settings.mcp.trial import McpTry
from desktop.ui.settings.yaml_editor import CliEditor
from desktop.ui.skills.cards import problem_rows, row_card
from desktop.ui.skills.difference import DifferenceView
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.layout.containers import EmptyState, Notice, Scroller, clear
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Selectable

INTRO = (
    "Programs and services that offer tools. A tool is off until you switch it on, and off again when it changes. "
    "Its calls ask you each time, as admin calls, until you set another category for it. Programs are confined "
    "like commands."
)
KEPT = "mcp.yaml has a mistake. The servers below keep working as they were."
SOME = "Some entries of mcp.yaml have mistakes and are not used."
SEEN_TITLE = "What is new or changed"
SEEN_WORDS = "This is what the server says about itself and its tools. Models read it too."


class McpPage(QFrame):
    """The servers, the text, a form for one more, one tool that is tried, and what changed since it was seen."""

    def __init__(self, mcp: McpServersViewModel) -> None:
        super().__init__()
        self._mcp = mcp
        self._cards: dict[str, ServerCard] = {}
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        column.addWidget(self._make_head())
        self.editor, self.trying, self.form = CliEditor(mcp), McpTry(mcp), ServerForm(mcp)
        self.difference = DifferenceView(mcp, title=SEEN_TITLE, words=SEEN_WORDS, done="I have read this, switch on")
        self._list = Scroller(margins=(24, 20, 24, 24), spacing=12)
        self._top, self._middle = Column(spacing=12), Column(spacing=12)
        self._list.column.addLayout(self._top)
        self._list.column.addLayout(self._middle)
        self._list.column.addWidget(Selectable(f"Saved in {mcp.path}", "small", "3"))
        self._list.column.addStretch(1)
        self.stack = QStackedWidget()
        for view in (self._list, self.editor, self.form, self.trying, self.difference):
            self.stack.addWidget(view)
        column.addWidget(self.stack, 1)
        self._connect()
        mcp.look_at_file()
        mcp.open()
        self.refresh()

    def _make_head(self) -> QWidget:
        head = sized(pane("header"), height=48)
        row = Row(head, margins=(24, 0, 16, 1), spacing=8)
        self.choice = Segmented("What to show", (("servers", "Servers"), ("text", "Text")), small=True)
        row.addWidget(self.choice)
        row.addStretch(1)
        self.add = Button("Add a server", "quiet", icon="new", small=True)
        self.reload = Button("Reload", "quiet", icon="retry", small=True, tip="Read the file again")
        row.addWidget(self.add)
        row.addWidget(self.reload)
        return head

    def _connect(self) -> None:
        mcp = self._mcp
        self.choice.chosen.connect(self.show_view)
        self.add.clicked.connect(self.add_server)
        self.reload.clicked.connect(mcp.reload)
        self.form.written.connect(lambda: self.show_view("text"))
        self.form.back.connect(lambda: self.show_view("servers"))
        self.trying.back.connect(lambda: self.show_view("servers"))
        self.difference.closed.connect(lambda: self.show_view("servers"))
        mcp.difference_ready.connect(self._look)
        mcp.changed.connect(self.refresh)

    def show_view(self, name: str) -> None:
        """``servers`` or ``text``."""
        self.choice.set_value(name)
        self.stack.setCurrentWidget(self.editor if name == "text" else self._list)
        if name == "text":
            self.editor.source.setFocus(Qt.FocusReason.OtherFocusReason)

    def add_server(self) -> None:
        """Show the form of a new one; what was written in it before and not added is still there."""
        self.stack.setCurrentWidget(self.form)
        self.form.show_again()

    def try_tool(self, name: str) -> None:
        """Show the form of a tool's arguments."""
        tool = self._mcp.tool(name)
        if tool is not None:
            self.trying.show_tool(tool)
            self.stack.setCurrentWidget(self.trying)

    def _look(self, found: object) -> None:
        self.difference.show_difference(found)  # type: ignore[arg-type]  # a signal's argument
        self.stack.setCurrentWidget(self.difference)

    # -- following ----------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Follow the view-model; a card that is there stays, with what is open in it."""
        mcp, rows = self._mcp, self._mcp.rows
        clear(self._top)
        self._top.addWidget(Paragraph(INTRO, "body", "2"))
        problems = mcp.file_problems
        if problems:
            errors = any(problem.severity == "error" for problem in problems)
            if mcp.kept or errors:
                self._top.addWidget(Notice("failed" if mcp.kept else "ask", KEPT if mcp.kept else SOME))
            self._top.addWidget(row_card(problem_rows(problems, self._jump)))
        if not rows:
            self._top.addWidget(self._nothing())
        self._show_cards(rows)
        names = {tool.name for row in rows for tool in row.tools if not tool.off}
        if self.stack.currentWidget() is self.trying and self.trying.name not in names:
            self.show_view("servers")

    def _show_cards(self, rows: tuple[McpRow, ...]) -> None:
        names = [row.name for row in rows]
        if list(self._cards) != names:
            clear(self._middle)
            self._cards = {row.name: self._card(row) for row in rows}
            for card in self._cards.values():
                self._middle.addWidget(card)
        for row in rows:
            self._cards[row.name].show_row(row)

    def _card(self, row: McpRow) -> ServerCard:
        card, name = ServerCard(), row.name
        card.edit.connect(self._edit)
        card.attempt.connect(self.try_tool)
        card.look.connect(lambda: self._mcp.look_at(name))
        card.switched.connect(lambda tool, on: self._mcp.switch(name, tool, on))
        card.all_on.connect(lambda: self._mcp.look_at_all(name))
        card.all_off.connect(lambda: self._mcp.switch_off(name))
        card.restart.connect(lambda: self._mcp.restart(name))
        card.stop.connect(lambda: self._mcp.stop(name))
        return card

    def _nothing(self) -> QWidget:
        write = Button("Add a server", "primary", icon="new")
        write.clicked.connect(self.add_server)
        words = "Enter a program or an address. Nothing starts before you say so."
        return EmptyState("server", "No MCP servers yet", words, (write,), framed=True)

    def _edit(self, line: int) -> None:
        self.show_view("text")
        self.editor.go_to(line, 1)

    def _jump(self, problem: SkillProblem) -> None:
        self.show_view("text")
        self.editor.go_to(problem.line, problem.column)
