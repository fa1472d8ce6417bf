"""A list of machine texts: each with a cross, a field to add one more. Folders can also be picked."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.ui.settings.add_row import AddRow
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text


class ListEditor(QWidget):
    """``edited(tuple)`` carries the whole new list."""

    edited = Signal(object)

    def __init__(self, name: str, *, folders: bool = False) -> None:
        super().__init__()
        self._entries: tuple[str, ...] = ()
        column = Column(self, spacing=8)
        self._card = pane("card")
        self._rows = Column(self._card, margins=0, spacing=0)
        column.addWidget(self._card)
        adding = AddRow(name, folders=folders)
        adding.wanted.connect(self._add)
        self.field, self.add = adding.field, adding.add
        column.addWidget(adding)

    def set_entries(self, entries: tuple[str, ...]) -> None:
        """Show other entries."""
        if entries == self._entries and self._rows.count():
            return
        self._entries = entries
        clear(self._rows)
        for at, entry in enumerate(entries):
            self._rows.addWidget(self._row(at, entry))
        self._card.setVisible(bool(entries))

    def _row(self, at: int, entry: str) -> QWidget:
        holder = sized(pane("row" if at < len(self._entries) - 1 else "row-last"), height=34)
        row = Row(holder, margins=(12, 0, 4, 0))
        row.addWidget(Text(shown_line(entry), "code", elide="middle"), 1)
        remove = IconButton("close", f"Remove {entry}", side=28, glyph_side=14)
        remove.clicked.connect(lambda: self._remove(entry))
        row.addWidget(remove)
        return holder

    def _add(self) -> None:
        text = self.field.text().strip()
        if text and text not in self._entries:
            self.edited.emit((*self._entries, text))
        self.field.clear()

    def _remove(self, entry: str) -> None:
        self.edited.emit(tuple(e for e in self._entries if e != entry))
