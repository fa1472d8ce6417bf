"""MCP servers: how each is, what it offers and what of it may be called, its log, the file, and trying a tool.

Whatever a server says (names, descriptions, hints, instructions) is shown as its own words, in plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from desktop.presenter.mcp.rows import McpRow
from desktop.presenter.mcp.servers import McpServersViewModel
from desktop.ui.settings.declared_page import DeclaredPage
from desktop.ui.settings.mcp.card import ServerCard
from desktop.ui.settings.mcp.form import ServerForm
from desktop.ui.settings.mcp.server_page import ServerPage
from desktop.ui.settings.mcp.sign_in import SignInPanel
from desktop.ui.settings.mcp.trial import McpTry
from desktop.ui.skills.difference import DifferenceView
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import EmptyState, clear
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.text import Paragraph, Selectable
from desktop.ui.widgets.turns import Turns

INTRO = (
    "Programs and services that offer tools. A tool is off until you switch it on, and off again when it changes. "
    "Its calls ask you each time, as admin calls, until you set another category for it. Programs are confined "
    "like commands."
)
SEEN_TITLE = "What is new or changed"
SEEN_WORDS = "This is what the server says about itself and its tools. Models read it too."


class McpPage(DeclaredPage):
    """The servers, one of them, the text, a form for one more, one tool that is tried, and what changed since it was
    seen. ``own_head``: a server has the head of the page for itself, or no longer."""

    own_head = Signal(bool)

    def __init__(self, mcp: McpServersViewModel) -> None:
        super().__init__(mcp)
        self._mcp = mcp
        self._cards: dict[str, ServerCard] = {}
        self._from_server = False
        self._filling, self._warming = Turns(self), Turns(self)
        self._top_key: object = None
        self._top, self._middle = Column(spacing=12), Column(spacing=12)
        self.list.column.addLayout(self._top)
        self.list.column.addLayout(self._middle)
        self.list.column.addWidget(Selectable(f"Saved in {mcp.path}", "small", "3"))
        self.list.column.addStretch(1)
        mcp.difference_ready.connect(self._look)
        mcp.failed.connect(self._failed)
        mcp.address_ready.connect(_open)
        self._begin()
        self._warming.begin(self._warmed())

    def _head_buttons(self) -> tuple[QWidget, ...]:
        self.add = Button("Add a server", "quiet", icon="new", small=True)
        self.add.clicked.connect(self.add_server)
        return (self.add,)

    # -- the views beside the list, each made when it is wanted -----------------------------------------------------

    def _warmed(self) -> Iterator[None]:
        """The page of a server is wanted next: it is made while nothing else goes on."""
        yield from self.server.make_views()

    @cached_property
    def form(self) -> ServerForm:
        """The form of a new server."""
        form = ServerForm(self._mcp)
        form.written.connect(lambda: self.show_view("text"))
        form.back.connect(lambda: self.show_view("servers"))
        self.stack.addWidget(form)
        return form

    @cached_property
    def trying(self) -> McpTry:
        """One tool that is tried."""
        trying = McpTry(self._mcp)
        trying.back.connect(self._back_to_server)
        self.stack.addWidget(trying)
        return trying

    @cached_property
    def difference(self) -> DifferenceView:
        """What is new or changed."""
        view = DifferenceView(self._mcp, title=SEEN_TITLE, words=SEEN_WORDS, done="I have read this, switch on")
        view.closed.connect(self._back_to_server)
        self.stack.addWidget(view)
        return view

    @cached_property
    def server(self) -> ServerPage:
        """The page of one server."""
        page, mcp = ServerPage(), self._mcp
        page.back.connect(self._leave_server)
        page.edit.connect(self._edit)
        page.remove.connect(lambda: mcp.remove(page.name))
        page.attempt.connect(self.try_tool)
        page.look.connect(lambda: mcp.look_at(page.name))
        page.look_all.connect(lambda reading: mcp.look_at_all(page.name, reading=reading))
        page.all_off.connect(lambda: mcp.switch_off(page.name))
        page.switched.connect(lambda tool, on: mcp.switch(page.name, tool, on))
        page.category.connect(lambda tool, category: mcp.set_category(page.name, tool, category))
        page.restart.connect(lambda: mcp.restart(page.name))
        page.stop.connect(lambda: mcp.stop(page.name))
        page.switch_on.connect(lambda: mcp.switch_on(page.name))
        page.task_ended.connect(lambda task_id: mcp.end_task(page.name, task_id))
        page.look_at_tasks.connect(lambda: mcp.look_at_tasks(page.name))
        page.tools.warns = mcp.names_closed
        page.in_sight.connect(self._server_in_sight)
        page.sign_out.connect(lambda: mcp.sign_out(page.name))
        self._connect_signing(page.signing, lambda: page.name)
        self.stack.addWidget(page)
        return page

    def _shows(self, view: str) -> bool:
        return self._has(view) and self.stack.currentWidget() is getattr(self, view)

    def _connect_signing(self, panel: SignInPanel, name: Callable[[], str]) -> None:
        mcp = self._mcp
        panel.begin.connect(lambda scopes: mcp.sign_in(name(), scopes))
        panel.cancelled.connect(lambda: mcp.cancel_sign_in(name()))
        panel.look_again.connect(lambda: mcp.look_at_sign_in(name()))
        panel.browser.connect(_open)
        panel.copied.connect(_copy)

    # -- one server ---------------------------------------------------------------------------------------------------

    def show_server(self, name: str) -> None:
        """Open the page of a server; an unknown name is ignored."""
        row = next((row for row in self._mcp.rows if row.name == name), None)
        if row is not None:
            self.server.show_row(row)
            self.choice.set_value("servers")
            self.stack.setCurrentWidget(self.server)
            self.server.leave.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_server(self) -> None:
        name = self.server.name
        self.show_view("servers")
        if (card := self._cards.get(name)) is not None:
            card.take_keys()

    def _back_to_server(self) -> None:
        """From what was opened out of its page, or out of the list."""
        if self._from_server:
            self.stack.setCurrentWidget(self.server)
            self.server.leave.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.show_view("servers")

    def _server_in_sight(self, is_shown: bool) -> None:
        self.head.setVisible(not is_shown)
        self.own_head.emit(is_shown)

    def _failed(self, why: str) -> None:
        if self._shows("server"):
            self.server.say(why)
        elif self._shows("form"):
            self.form.pasted.say_no(why)

    def add_server(self) -> None:
        """Show the form of a new one; what was written in it before and not added is still there."""
        self.stack.setCurrentWidget(self.form)
        self.form.show_again()

    def try_tool(self, name: str) -> None:
        """Show the form of a tool's arguments."""
        tool = self._mcp.tool(name)
        if tool is not None:
            self._from_server = self._shows("server")
            self.trying.show_tool(tool)
            self.stack.setCurrentWidget(self.trying)

    def _look(self, found: object) -> None:
        self._from_server = self._shows("server")
        self.difference.show_difference(found)  # type: ignore[arg-type]  # a signal's argument
        self.stack.setCurrentWidget(self.difference)

    # -- following ----------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show what the view-model has now; cards stay, with what is open in them."""
        rows = self._mcp.rows
        self._show_top(bool(rows))
        self._show_cards(rows)
        self._follow_server(rows)
        names = {tool.name for row in rows for tool in row.tools if not tool.off}
        if self._shows("trying") and self.trying.name not in names:
            self.show_view("servers")

    def _show_top(self, has_rows: bool) -> None:
        key = (has_rows, self._mcp.file_problems, self._mcp.keeps_last_good)
        if key == self._top_key:
            return
        self._top_key = key
        clear(self._top)
        self._top.addWidget(Paragraph(INTRO, "body", "2"))
        for widget in self._wrong():
            self._top.addWidget(widget)
        if not has_rows:
            self._top.addWidget(self._nothing())

    def _follow_server(self, rows: tuple[McpRow, ...]) -> None:
        if not self._has("server"):
            return
        row = next((row for row in rows if row.name == self.server.name), None)
        if row is not None:
            self.server.show_row(row)
        elif self._shows("server"):  # it was removed
            self.show_view("servers")
            self.add.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_cards(self, rows: tuple[McpRow, ...]) -> None:
        if list(self._cards) != [row.name for row in rows]:
            clear(self._middle)
            self._cards = {row.name: self._card(row) for row in rows}
            for card in self._cards.values():
                self._middle.addWidget(card)
        self._filling.begin(self._filled(rows))

    def _filled(self, rows: tuple[McpRow, ...]) -> Iterator[None]:
        for row in rows:
            if self._cards[row.name].show_row(row):
                yield

    def _card(self, row: McpRow) -> ServerCard:
        card, name = ServerCard(), row.name
        card.opened.connect(lambda: self.show_server(name))
        card.look.connect(lambda: self._mcp.look_at(name))
        card.restart.connect(lambda: self._mcp.restart(name))
        card.stop.connect(lambda: self._mcp.stop(name))
        card.switch_on.connect(lambda: self._mcp.switch_on(name))
        card.sign_out.connect(lambda: self._mcp.sign_out(name))
        self._connect_signing(card.signing, lambda: name)
        return card

    def _nothing(self) -> QWidget:
        write = Button("Add a server", "primary", icon="new")
        write.clicked.connect(self.add_server)
        words = "Enter a program or an address. Nothing starts before you say so."
        return EmptyState("server", "No MCP servers yet", words, (write,), framed=True)


def _open(address: str) -> None:
    QDesktopServices.openUrl(QUrl(address))


def _copy(address: str) -> None:
    QGuiApplication.clipboard().setText(address)
