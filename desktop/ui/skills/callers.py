"""Who may call a skill, and by which rule: answered by the lists that decide when it is called (R-SK, R-PAT-5)."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.skills import MayCall, SkillDetail
from desktop.ui.skills.cards import row_card
from desktop.ui.widgets.containers import EmptyState, Scroller, clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

MOST = 300


class Callers(QFrame):
    """Agents first, then skills with a list of their own; those that may, before those that may not."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        self._scroller = Scroller()
        Column(self, spacing=0).addWidget(self._scroller)
        self.rows = Column(spacing=16)
        self._scroller.column.addLayout(self.rows)
        self._scroller.column.addStretch(1)

    def show_detail(self, detail: SkillDetail) -> None:
        """Another skill."""
        clear(self.rows)
        if not detail.may_call:
            sentence = "No agent and no skill has a list of what it may call."
            self.rows.addWidget(EmptyState("agent", "Nobody to ask", sentence))
            return
        for kind, title in (("agent", "Agents"), ("skill", "Skills that call others")):
            found = sorted((one for one in detail.may_call if one.kind == kind), key=lambda one: not one.allowed)
            if found:
                self.rows.addWidget(Text(title, "strong"))
                self.rows.addWidget(row_card([_row(one) for one in found[:MOST]]))
            if len(found) > MOST:
                self.rows.addWidget(Text(f"and {len(found) - MOST:,} more", "small", "2"))


def _row(one: MayCall) -> QWidget:
    holder = QWidget()
    row = Row(holder, spacing=12)
    row.addWidget(sized(StateLabel("allow" if one.allowed else "deny", "may" if one.allowed else "may not"), width=76))
    role = "medium" if one.kind == "agent" else "code"
    row.addWidget(Text(shown_line(one.name), role, elide="right"), 2)
    pieces = ((shown_line(one.rule), "mono"), ("  " if one.rule else "", ""), (shown_line(one.reason), ""))
    row.addWidget(Paragraph(pieces, "body", "2"), 5)
    holder.setAccessibleName(f"{one.name} {'may' if one.allowed else 'may not'} call it. {one.rule} {one.reason}")
    return holder
