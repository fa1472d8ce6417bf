"""What a new version may newly do, or no longer: a line each, a page at a time.

Lines are made one by one, so that however many a version brings, nothing is held up.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.updates.words import RightRow
from desktop.ui.widgets.layout.pager import Pager
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Piece, Text
from desktop.ui.widgets.turns import Turns

HEAD = "What it may newly do"
NOTHING = "Nothing that the version you have may not do."
PAGE = 25
"""Lines that are shown at once; the gravest come first."""
MARK = 80
"""Pixels at 100 % of the column with the category."""


def coded(text: str) -> list[Piece]:
    """A text with its ``code`` in the letters of code."""
    parts = shown_line(text).split("`")
    return [(part, "mono" if at % 2 else "") for at, part in enumerate(parts) if part]


class RightLine(QFrame):
    """One line. What is no longer done has no category."""

    def __init__(self, row: RightRow) -> None:
        super().__init__()
        self.row = row
        self.setProperty("pane", "row")
        line = Row(self, margins=(16, 10, 16, 10), spacing=16)
        mark = sized(QWidget(), width=MARK)
        Row(mark).addWidget(
            Badge(row.category) if row.category else Text("no longer", "small", "2"), 0, Qt.AlignmentFlag.AlignLeft
        )
        line.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        words = Column(spacing=2)
        words.addWidget(Paragraph(coded(row.title), "medium" if row.category else "body"))
        if row.detail:
            words.addWidget(Paragraph(coded(row.detail), "small", "2"))
        line.addLayout(words, 1)
        self.setAccessibleName(f"{row.category or 'no longer'}: {row.title} {row.detail}".replace("`", "").strip())


class RightsList(QWidget):
    """All lines, a page at a time. Without any it says so."""

    def __init__(self) -> None:
        super().__init__()
        self._all: tuple[RightRow, ...] | None = None
        self._page = 0
        column = Column(self, spacing=0)
        self._head = Text("", "strong")
        head = pane("strip")
        Column(head, margins=(16, 6, 16, 6)).addWidget(self._head)
        column.addWidget(head)
        self._lines = Column(spacing=0)
        column.addLayout(self._lines)
        self._foot = pane("strip")
        foot = Column(self._foot, margins=(16, 4, 8, 4))
        self.pager = Pager(self._turn)
        foot.addLayout(self.pager)
        column.addWidget(self._foot)
        self._making = Turns(self)

    def show_rows(self, rows: tuple[RightRow, ...]) -> None:
        """Show these, from the first on, unless they are the same as before."""
        if rows is self._all or rows == self._all:
            return
        self._all, self._page = rows, 0
        self._head.setText(f"{HEAD} ({len(rows):,})" if len(rows) > PAGE else HEAD)
        self._refresh()

    def _turn(self, by: int) -> None:
        self._page += by
        self._refresh()

    def _refresh(self) -> None:
        rows = self._all or ()
        first = self._page * PAGE
        shown = rows[first : first + PAGE]
        self.pager.show_place(self._page, first, len(shown), len(rows), PAGE)
        self._foot.setVisible(len(rows) > PAGE)
        self._making.begin(self._made(shown))

    def _made(self, rows: tuple[RightRow, ...]) -> Iterator[None]:
        """Each line in the place of the one that was there; what is left over goes."""
        for at, row in enumerate(rows):
            self._put(at, RightLine(row))
            yield
        if not rows:
            nothing = pane("row")
            Column(nothing, margins=(16, 10, 16, 10)).addWidget(Paragraph(NOTHING, "body", "2"))
            self._put(0, nothing)
            yield
        while self._lines.count() > max(1, len(rows)):
            self._drop(self._lines.count() - 1)
            yield

    def _put(self, at: int, line: QWidget) -> None:
        if at < self._lines.count():
            self._drop(at)
        self._lines.insertWidget(at, line)
        line.show()

    def _drop(self, at: int) -> None:
        item = self._lines.takeAt(at)
        widget = item.widget() if item is not None else None
        if widget is not None:
            widget.hide()
            widget.deleteLater()
