"""MCP servers: how each is, what it offers and what of it may be called, its log, the file, and trying a tool.

Whatever a server says (names, descriptions, hints, instructions) is shown as its own words, in plain text.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.presenter.mcp.servers import McpRow, McpServersViewModel
from desktop.ui.settings.declared_page import DeclaredPage
from desktop.ui.settings.mcp.card import ServerCard
from desktop.ui.settings.mcp.form import ServerForm
from desktop.ui.settings.mcp.trial import McpTry
from desktop.ui.skills.difference import DifferenceView
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import EmptyState, clear
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.text import Paragraph, Selectable

INTRO = (
    "Programs and services that offer tools. A tool is off until you switch it on, and off again when it changes. "
    "Its calls ask you each time, as admin calls, until you set another category for it. Programs are confined "
    "like commands."
)
SEEN_TITLE = "What is new or changed"
SEEN_WORDS = "This is what the server says about itself and its tools. Models read it too."


class McpPage(DeclaredPage):
    """The servers, the text, a form for one more, one tool that is tried, and what changed since it was seen."""

    def __init__(self, mcp: McpServersViewModel) -> None:
        super().__init__(mcp)
        self._mcp = mcp
        self._cards: dict[str, ServerCard] = {}
        self.trying, self.form = McpTry(mcp), ServerForm(mcp)
        self.difference = DifferenceView(mcp, title=SEEN_TITLE, words=SEEN_WORDS, done="I have read this, switch on")
        self._top, self._middle = Column(spacing=12), Column(spacing=12)
        self.list.column.addLayout(self._top)
        self.list.column.addLayout(self._middle)
        self.list.column.addWidget(Selectable(f"Saved in {mcp.path}", "small", "3"))
        self.list.column.addStretch(1)
        for view in (self.form, self.trying, self.difference):
            self.stack.addWidget(view)
        self._connect()
        self._begin()

    def _head_buttons(self) -> tuple[QWidget, ...]:
        self.add = Button("Add a server", "quiet", icon="new", small=True)
        self.add.clicked.connect(self.add_server)
        return (self.add,)

    def _connect(self) -> None:
        self.form.written.connect(lambda: self.show_view("text"))
        for view in (self.form.back, self.trying.back, self.difference.closed):
            view.connect(lambda: self.show_view("servers"))
        self._mcp.difference_ready.connect(self._look)

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
        """Show what the view-model has now; cards stay, with what is open in them."""
        rows = self._mcp.rows
        clear(self._top)
        self._top.addWidget(Paragraph(INTRO, "body", "2"))
        for widget in self._wrong():
            self._top.addWidget(widget)
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
