"""The resources or the prompts of a server, as it lists them, a page at a time: what a person can put into a
message."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.servers.mcp import McpPrompt, McpResource, McpTemplate
from desktop.presenter.chat.from_servers import kind_words
from desktop.presenter.mcp.rows import McpRow
from desktop.ui.settings.mcp.state import state_of
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.layout.containers import EmptyState, Notice, Scroller, clear
from desktop.ui.widgets.layout.pager import Pager
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.turns import Turns

PAGE = 20
FIND_FROM = 12
MARGINS = (24, 14, 24, 24)
LONGEST = 400
HOW = {
    "resources": "Type @ in a message to put one in. It is read when you send, and kept as it was then.",
    "prompts": "Type / in a message to put one in. You see what it says before it goes out.",
}
NOTHING = {
    "resources": ("It offers no resources", "Nothing that could be put into a message."),
    "prompts": ("It offers no prompts", "Nothing that could be put into a message."),
}


Listed = McpResource | McpTemplate | McpPrompt


@dataclass(frozen=True, slots=True)
class ListedRow:
    """One of them in words."""

    name: str
    address: str
    hint: str
    description: str
    problem: str


class OfferedView(Scroller):
    """``switched`` with what the server offers beside tools."""

    switched = Signal(object, bool)

    def __init__(self) -> None:
        super().__init__(margins=MARGINS, spacing=10)
        self._known: object = None
        self._rows: tuple[ListedRow, ...] = ()
        self._page = 0
        self._making = Turns(self)
        self._off = Notice("ask")
        self._on = Button("Switch on", small=True)
        self._off.add(self._on)
        self._offering: object = None
        self._on.clicked.connect(lambda: self.switched.emit(self._offering, True))
        self.column.addWidget(self._off)
        self._how = Paragraph("", "small", "2")
        self.column.addWidget(self._how)
        self.field = Field("Find one", hint="Find one", icon="search")
        self.field.textChanged.connect(self._again)
        self.column.addWidget(self.field)
        self._card = pane("card")
        self._list = Column(self._card, margins=1, spacing=0)
        self.column.addWidget(self._card)
        self._nothing = EmptyState("server", "", "", framed=True)
        self.column.addWidget(self._nothing)
        self.pager = Pager(self._turn)
        self.column.addLayout(self.pager)
        self._notes = Paragraph("", "small", "ask")
        self.column.addWidget(self._notes)
        self.column.addStretch(1)

    def _made(self, rows: list[ListedRow]) -> Iterator[None]:
        for at, row in enumerate(rows):
            self._list.addWidget(_listed(row, last=at == len(rows) - 1))
            yield

    def show_row(self, row: McpRow, kind: str) -> None:
        """Show what it offers now: ``resources``, with families of them, or ``prompts``."""
        key = (row.name, row.offers, row.offering, row.state)
        if key == self._known:
            return
        self._known, self._offering = key, row.offering
        offering = row.offering
        self._off.setVisible(offering is not None and bool(offering.off))
        if offering is not None and offering.off:
            self._off.say(shown(f"Nothing of it is offered to you: {offering.off}."))
        offers = row.offers
        beside: tuple[Listed, ...] = (*offers.resources, *offers.templates)
        found = offers.prompts if kind == "prompts" else beside
        self._rows = tuple(map(_row_of, found))
        self._how.set_pieces(f"{HOW[kind]} Names and descriptions are the server's own words.")
        self._how.setVisible(bool(self._rows))
        self._notes.set_pieces(shown("\n".join(offers.notes)))
        self._notes.setVisible(bool(offers.notes))
        title, sentence = NOTHING[kind]
        if row.state != "running":
            title, sentence = f"It is {state_of(row)[1]}", "What it offers is known once it runs."
        self._nothing.say(title, sentence)
        self._page = 0
        self._show()

    def _again(self) -> None:
        self._page = 0
        self._show()

    def _turn(self, by: int) -> None:
        self._page += by
        self._show()

    def _show(self) -> None:
        words = self.field.text().lower().split()
        found = [r for r in self._rows if all(w in f"{r.name} {r.address} {r.description}".lower() for w in words)]
        first = self._page * PAGE
        rows = found[first : first + PAGE]
        clear(self._list)
        self._making.begin(self._made(rows))
        self.field.setVisible(len(self._rows) >= FIND_FROM)
        self._card.setVisible(bool(rows))
        self._nothing.setVisible(not self._rows)
        self.pager.show_place(self._page, first, len(rows), len(found), PAGE)
        if self._rows and not rows:
            self.pager.where.setText("Nothing found")
            self.pager.where.show()


def _row_of(one: Listed) -> ListedRow:
    if isinstance(one, McpPrompt):
        takes = ", ".join(f"{a.name}{'' if a.required else ' (may be left out)'}" for a in one.arguments)
        hint = f"takes {takes}" if takes else "takes nothing"
        return ListedRow(one.title or one.name, one.name if one.title else "", hint, one.description, one.problem)
    if isinstance(one, McpTemplate):
        hint = f"asks for {', '.join(one.variables)}" if one.variables else ""
        return ListedRow(one.title or one.name, one.template, hint, one.description, one.problem)
    return ListedRow(one.title or one.name or one.uri, one.uri, kind_words(one), one.description, one.problem)


def _listed(one: ListedRow, *, last: bool) -> QWidget:
    row = pane("row-last" if last else "row")
    column = Column(row, margins=(12, 8, 12, 8), spacing=2)
    head = Row(spacing=12)
    head.addWidget(Text(shown_line(one.name)[:120], "body", "3" if one.problem else "1", elide="right"), 2)
    head.addWidget(Text(shown_line(one.address)[:LONGEST], "code", "2", elide="middle"), 3)
    head.addWidget(Text(shown_line(one.hint)[:80], "small", "2", elide="right"), 2)
    column.addLayout(head)
    if one.problem:
        column.addWidget(Paragraph(shown(f"Refused: {one.problem}."), "small", "failed"))
    elif one.description:
        column.addWidget(Paragraph(shown(one.description[:LONGEST]), "small", "2"))
    row.setAccessibleName(", ".join(filter(None, (shown_line(one.name)[:120], one.address[:LONGEST], one.hint))))
    return row
