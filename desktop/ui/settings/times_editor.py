"""A list of tools with a time each: a cross at each, a line to add one more."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text


class TimesEditor(QWidget):
    """``edited`` carries the whole new list: pairs of a name and a number, or the text that is none."""

    edited = Signal(object)

    def __init__(self, name: str, unit: str) -> None:
        super().__init__()
        self._unit = unit
        self._entries: tuple[tuple[str, float], ...] = ()
        column = Column(self, spacing=8)
        self._card = pane("card")
        self._rows = Column(self._card, margins=0, spacing=0)
        column.addWidget(self._card)
        row = Row(spacing=8)
        self.tool = Field(f"Tool, {name}", hint="bash, or the name of another tool", mono=True)
        self.time = sized(Field(f"Time, {name}", hint="600"), width=96)
        self.add = Button("Add", icon="new")
        self.add.clicked.connect(self._add)
        for field in (self.tool, self.time):
            field.returnPressed.connect(self._add)
        row.addWidget(self.tool, 1)
        row.addWidget(self.time)
        row.addWidget(Text(unit, "body", "2"))
        row.addWidget(self.add)
        column.addLayout(row)

    def set_entries(self, entries: tuple[tuple[str, float], ...]) -> None:
        """Show other entries."""
        self._entries = entries
        clear(self._rows)
        for at, (name, seconds) in enumerate(entries):
            self._rows.addWidget(self._row(name, seconds, last=at == len(entries) - 1))
        self._card.setVisible(bool(entries))

    def _row(self, name: str, seconds: float, *, last: bool) -> QWidget:
        holder = sized(pane("row-last" if last else "row"), height=34)
        row = Row(holder, margins=(12, 0, 4, 0), spacing=8)
        row.addWidget(Text(shown_line(name), "code", elide="middle"), 1)
        unit = self._unit.removesuffix("s") if seconds == 1 else self._unit
        row.addWidget(Text(f"{seconds:,.10g} {unit}", "body", "2"))
        remove = IconButton("close", f"Remove the time limit of {name}", side=28, glyph_side=14)
        remove.clicked.connect(lambda: self.edited.emit(tuple(entry for entry in self._entries if entry[0] != name)))
        row.addWidget(remove)
        return holder

    def _add(self) -> None:
        name, text = self.tool.text().strip().replace("_", "-"), self.time.text().strip().replace(",", ".")
        if not name or not text:
            (self.tool if not name else self.time).setFocus()
            return
        try:
            seconds: float | str = float(text)
        except ValueError:
            seconds = text
        kept = tuple(entry for entry in self._entries if entry[0] != name)
        self.edited.emit((*kept, (name, seconds)))
        self.tool.clear()
        self.time.clear()
