"""The tools of one server, a page at a time: rows are made one by one, so that a list of hundreds holds nothing up."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.mcp.rows import McpRow, McpToolRow
from desktop.ui.settings.mcp.tool_row import ToolRow
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.layout.pager import Pager
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.turns import Turns

PAGE = 25
"""Tools that are shown at once."""
FIND_FROM = 12
"""Tools from which on there is a field to find one."""
Shown = tuple[McpToolRow, bool, str, bool]
"""(tool, whether it is open, why its category is fixed, whether it is the last)."""


class ToolList(QWidget):
    """``switched`` and ``category`` with the tool that was shown, ``attempt`` with its name."""

    switched = Signal(object, bool)
    category = Signal(object, str)
    attempt = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.warns: Callable[[str, str], str] = lambda *_: ""
        """Of a path that a changed declaration names and is closed to all tools."""
        self._tools: tuple[McpToolRow, ...] = ()
        self._server, self._fixed, self._page = "", "", 0
        self._open: dict[str, bool] = {}
        """By the server's names: whether what they take is shown, where a person said so."""
        self._wanted: list[Shown] = []
        self._rows: list[tuple[Shown, ToolRow]] = []
        column = self._lines = Column(self, spacing=8)
        self.field = Field("Find a tool", hint="Find a tool", icon="search")
        self.field.textChanged.connect(self._first_page)
        column.addWidget(self.field)
        self._card, self._column = _card()
        column.addWidget(self._card)
        self._none = Text("No tool has these words.", "small", "2")
        column.addWidget(self._none)
        self.pager = Pager(self._turn)
        column.addLayout(self.pager)
        self._making = Turns(self)

    def show_tools(self, row: McpRow) -> None:
        """Show the tools as they are now; what is the same stays, with what is open in it."""
        if row.name != self._server:
            self._start_over()
        self._server, self._tools, self._fixed = row.name, row.tools, row.weak
        self._refresh()

    def _start_over(self) -> None:
        """No row of another server is in sight while those of this one are made."""
        before, self._rows = self._card, []
        self._card, self._column = _card()
        self._lines.replaceWidget(before, self._card)
        before.hide()
        before.deleteLater()

    def _found(self) -> list[McpToolRow]:
        words = self.field.text().lower().split()
        return [t for t in self._tools if all(w in f"{t.server_name} {t.name} {t.description}".lower() for w in words)]

    def _refresh(self) -> None:
        self.field.setVisible(len(self._tools) >= FIND_FROM or bool(self.field.text()))
        found = self._found()
        pages = max(1, -(-len(found) // PAGE))
        self._page = min(self._page, pages - 1)
        first = self._page * PAGE
        tools = found[first : first + PAGE]
        self.pager.show_place(self._page, first, len(tools), len(found), PAGE)
        self._card.setVisible(bool(tools))
        self._none.setVisible(bool(self._tools) and not tools)
        last = len(tools) - 1
        self._wanted = [(tool, self._is_open(tool), self._fixed, at == last) for at, tool in enumerate(tools)]
        self._making.begin(self._made())

    def _is_open(self, tool: McpToolRow) -> bool:
        return self._open.get(tool.server_name, tool.unseen and tool.changed)

    def _made(self) -> Iterator[None]:
        """Drops the rows that are too many, and makes those that are not as they should be."""
        while len(self._rows) > len(self._wanted):
            self._drop(self._rows.pop()[1])
            yield
        for at, wanted in enumerate(self._wanted):
            if at >= len(self._rows) or self._rows[at][0] != wanted:
                self._put(at, wanted)
                yield
            for _ in self._rows[at][1].rest:  # not "yield from": what comes in between would end the row's own pieces
                yield
        self._card.setMinimumHeight(0)

    def _hold_place(self, row: ToolRow) -> None:
        """The card is as high as all rows will make it: nothing but the new row is laid out and painted."""
        self._card.setMinimumHeight(row.sizeHint().height() * len(self._wanted) + 2)

    def _put(self, at: int, wanted: Shown) -> None:
        row = self._row(wanted)
        if at == len(self._rows):
            self._column.insertWidget(at, row)
            self._rows.append((wanted, row))
            row.show()
            if at == 0:
                self._hold_place(row)
            return
        before, self._rows[at] = self._rows[at][1], (wanted, row)
        keys = before.keys_at
        before.hide()
        self._column.replaceWidget(before, row)
        row.show()
        row.take_keys(keys)
        before.deleteLater()

    def _drop(self, row: ToolRow) -> None:
        row.hide()  # while it still has its place: keys that are in it go on beside it
        self._column.removeWidget(row)
        row.deleteLater()

    def _row(self, wanted: Shown) -> ToolRow:
        tool, is_open, fixed, last = wanted
        row = ToolRow(tool, is_open=is_open, fixed=fixed, last=last, warns=self.warns)
        row.switched.connect(lambda on: self.switched.emit(tool, on))
        row.category.connect(lambda category: self.category.emit(tool, category))
        row.attempt.connect(lambda: self.attempt.emit(tool.name))
        row.opened.connect(lambda is_open: self._show_open(tool.server_name, is_open))
        return row

    def _show_open(self, name: str, is_open: bool) -> None:
        self._open[name] = is_open
        self._refresh()
        at = next((at for at, shown in enumerate(self._wanted) if shown[0].server_name == name), None)
        if at is not None and at < len(self._rows):  # this one now: keys go on in it
            self._put(at, self._wanted[at])
            self._rows[at][1].take_keys("more")

    def _first_page(self) -> None:
        self._page = 0
        self._refresh()

    def _turn(self, by: int) -> None:
        self._page += by
        self._refresh()


def _card() -> tuple[QWidget, Column]:
    """A card for rows, which stand at its top."""
    card = pane("card")
    column = Column(card, margins=1, spacing=0)
    column.addStretch(1)
    return card, column
