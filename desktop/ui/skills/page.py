"""Skills: until they can be browsed here, the page says what it will hold and lists what the library has."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QWidget

from desktop.ui.widgets.containers import EmptyState, PaneHeader, Scroller
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Paragraph, Text

SENTENCE = (
    "Skills are files that teach an agent something: a procedure, a tool, a way of working. "
    "They will be found, read and edited here. This version does not have that yet."
)


class SkillsPage(QFrame):
    """``library``: (name, one line) of the skills that the app ships and uses."""

    def __init__(self, library: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        column.addWidget(PaneHeader("Skills"))
        if not library:
            column.addWidget(EmptyState("skills", "Skills come in a later version", SENTENCE), 1)
            return
        scroller = Scroller()
        scroller.column.addWidget(Paragraph(SENTENCE, "body", "2"))
        scroller.column.addWidget(Text("In the library", "strong"))
        scroller.column.addWidget(_list(library))
        scroller.column.addStretch(1)
        column.addWidget(scroller, 1)


def _list(library: Sequence[tuple[str, str]]) -> QWidget:
    card = pane("card")
    rows = Column(card, margins=0, spacing=0)
    for at, (name, line) in enumerate(library):
        holder = pane("row" if at < len(library) - 1 else "row-last")
        row = Row(holder, margins=(12, 8, 12, 8), spacing=12)
        row.addWidget(Icon("skills", "text-2", 16))
        row.addWidget(Text(name, "code"))
        row.addWidget(Text(line, "small", "2", elide="right"), 1)
        rows.addWidget(holder)
    return card
