"""Where one is in a list of many pages, and the way to the next one."""

from __future__ import annotations

from collections.abc import Callable

from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.text import Text


class Pager(Row):
    """``turn`` hears 1 for the next page and -1 for the one before."""

    def __init__(self, turn: Callable[[int], None]) -> None:
        super().__init__(spacing=8)
        self.where = Text("", "small", "2")
        self.before = Button("Before", "quiet", small=True, icon="left")
        self.next = Button("Next", "quiet", small=True, icon="right")
        self.before.clicked.connect(lambda: turn(-1))
        self.next.clicked.connect(lambda: turn(1))
        self.addWidget(self.where)
        self.addStretch(1)
        self.addWidget(self.before)
        self.addWidget(self.next)

    def show_place(self, page: int, first: int, shown: int, count: int, size: int) -> None:
        """``shown`` rows from ``first`` on are in sight, of ``count``: a ``page`` of pages of ``size``."""
        pages = max(1, -(-count // size))
        self.where.setText(f"{first + 1:,} to {first + shown:,} of {count:,}")
        for part in (self.where, self.before, self.next):
            part.setVisible(pages > 1)
        self.before.setEnabled(page > 0)
        self.next.setEnabled(page < pages - 1)
