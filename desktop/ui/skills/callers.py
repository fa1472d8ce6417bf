"""Who may call a skill, and by which rule: answered by the lists that decide when it is called (R-PAT-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QRect, QStringListModel, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QStackedLayout

from desktop.presenter.skills.page import MayCall, SkillDetail
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, state
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.tips import plain_tip

CALLER = int(Qt.ItemDataRole.UserRole)
TITLES = {"agent": "Agents", "skill": "Skills that call others"}
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)


class CallersModel(QStringListModel):
    """Titles (plain text) and callers, those that may before those that may not. Qt counts the rows (see
    ``SkillListModel``): there may be one for each skill."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[str | MayCall] = []

    def show(self, callers: Sequence[MayCall]) -> None:
        """Show other callers."""
        self._rows = []
        for kind, title in TITLES.items():
            found = [one for one in callers if one.kind == kind]
            may = len([one for one in found if one.allowed])
            if found:
                self._rows.append(f"{title}: {may:,} of {len(found):,} may")
                self._rows += [*(one for one in found if one.allowed), *(one for one in found if not one.allowed)]
        self.setStringList([""] * len(self._rows))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The record under ``CALLER``; words for a screen reader."""
        row = self._rows[index.row()]
        if role == CALLER:
            return row
        words = row if isinstance(row, str) else _spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(words)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return words
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Titles are passed over."""
        row = self._rows[index.row()] if index.isValid() else ""
        title = isinstance(row, str)
        return Qt.ItemFlag.NoItemFlags if title else Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class CallerDelegate(RowDelegate):
    """May or may not, the name, and the rule that decides."""

    height = 34
    inset = 16

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one line."""
        t = theme()
        row = index.data(CALLER)
        inner = box.adjusted(t.px(8), 0, -t.px(8), 0)
        if isinstance(row, str):
            painter.setFont(t.font("body", 600))
            painter.setPen(t.color("text"))
            painter.drawText(inner.adjusted(0, t.px(6), 0, 0), _LEFT, row)
            return
        state(painter, inner, "allow" if row.allowed else "deny", "may" if row.allowed else "may not")
        name_at, rule_at = inner.x() + t.px(88), inner.x() + t.px(88) + (inner.width() - t.px(88)) * 2 // 5
        role, weight = ("body", 500) if row.kind == "agent" else ("code", None)
        painter.setPen(t.color("text"))
        painter.setFont(t.font(role, weight))
        room = rule_at - name_at - t.px(12)
        name = elided(shown_line(row.name), role, room, weight=weight)
        painter.drawText(QRect(name_at, inner.y(), room, inner.height()), _LEFT, name)
        painter.setPen(t.color("text-2"))
        painter.setFont(t.font("code"))
        rule = elided(shown_line(row.rule), "code", (inner.right() - rule_at) // 2)
        painter.drawText(QRect(rule_at, inner.y(), inner.right() - rule_at, inner.height()), _LEFT, rule)
        after = rule_at + (painter.fontMetrics().horizontalAdvance(rule) + t.px(12) if rule else 0)
        painter.setFont(t.font("small"))
        room = inner.right() - after
        painter.drawText(
            QRect(after, inner.y(), room, inner.height()), _LEFT, elided(shown_line(row.reason), "small", room)
        )


class Callers(QFrame):
    """Agents first, then skills with a list of their own; rows are painted as they come into sight."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        self.model = CallersModel()
        self.rows = RowList("Who may call it", CallerDelegate())
        self.rows.setModel(self.model)
        self.rows.setViewportMargins(0, 8, 0, 8)
        sentence = "No agent or skill limits what it may call."
        self._nobody = EmptyState("agent", "Nobody to ask", sentence)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self.rows)
        self._stack.addWidget(self._nobody)

    def show_detail(self, detail: SkillDetail) -> None:
        """Show the callers of another skill."""
        self.model.show(detail.may_call)
        self._stack.setCurrentWidget(self.rows if detail.may_call else self._nobody)


def _spoken(one: MayCall) -> str:
    words = f"{one.name} {'may' if one.allowed else 'may not'} call it. {one.rule} {one.reason}"
    return shown_line(words.strip())
