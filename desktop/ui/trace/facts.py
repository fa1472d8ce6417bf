"""Facts one below the other, each with its name, as the trace and the agents of a run show them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt

from desktop.presenter.trace.words import NodeFact
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.scaling import Column, Margins, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

NAMES = 72
"""Pixels at 100 % that the names have."""


class FactList(Column):
    """``show_facts`` fills it; a change of words alone builds nothing anew."""

    def __init__(self, *, margins: Margins = 0) -> None:
        super().__init__(margins=margins, spacing=6)
        self._values: list[Paragraph] = []
        self._shape: tuple[tuple[str, bool], ...] = ()

    def show_facts(self, facts: Sequence[NodeFact]) -> None:
        """Show these as they are now."""
        shape = tuple((fact.name, fact.mono) for fact in facts)
        if shape != self._shape:
            self._shape = shape
            self._build(facts)
        for value, fact in zip(self._values, facts, strict=True):
            _say(value, fact)

    def _build(self, facts: Sequence[NodeFact]) -> None:
        clear(self)
        self._values = []
        for fact in facts:
            row = Row(spacing=0)
            name = sized(Text(shown_line(fact.name), "small", "3"), width=NAMES)
            row.addWidget(name, 0, Qt.AlignmentFlag.AlignTop)
            value = Paragraph("", "small")
            row.addWidget(value, 1)
            self._values.append(value)
            self.addLayout(row)


def _say(value: Paragraph, fact: NodeFact) -> None:
    text = shown_line(fact.text)
    if value.text() != text:
        value.set_pieces(((text, "mono" if fact.mono else ""),))
        value.setAccessibleName(f"{fact.name}: {text}")
        value.setMinimumHeight(value.heightForWidth(max(1, value.width())) if value.width() > 60 else 0)
