"""One file with the rows of its difference, as a card."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.ui.approvals.request.diffing import Diff
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

ROWS = 24
"""Rows of one file before it scrolls."""


def card_of(name: str, words: str, compared: Diff | None) -> QWidget:
    """One file with its rows."""
    card = pane("card")
    column = Column(card, margins=1, spacing=0)
    head = sized(pane("header" if compared is not None else "plain"), height=36)
    row = Row(head, margins=(12, 0, 12, 0), spacing=12)
    row.addWidget(Text(shown_line(name), "code", elide="middle"), 1)
    row.addWidget(Text(words, "small", "2"))
    column.addWidget(head)
    if compared is not None:
        view = LinesView(f"Changes of {name}", max_rows=ROWS)
        view.set_rows(compared.rows)
        view.wrapped.connect(lambda: view.setFixedHeight(view.sizeHint().height()))
        view.setFixedHeight(view.sizeHint().height())
        column.addWidget(view)
    return card
