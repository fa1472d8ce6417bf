"""What a new version may newly do, or no longer: a line each."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.updates.words import RightRow
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Piece, Text

NOTHING = "Nothing that the version you have may not do."
MARK = 80
"""Pixels at 100 % of the column with the category."""


def section(words: str) -> QFrame:
    """The head of a part of the card."""
    head = pane("strip")
    Column(head, margins=(16, 6, 16, 6)).addWidget(Text(words, "strong"))
    return head


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
