"""The rules as rows of a list, with the one that is being written first."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from desktop.domain.approval.rules import RuleView
from desktop.presenter.approvals.rules_words import spoken

Index = QModelIndex | QPersistentModelIndex
DRAFT = "draft"
"""The id of the row of a rule that is not saved yet."""


class RuleRole(IntEnum):
    """What a row says beside its text."""

    RULE = Qt.ItemDataRole.UserRole
    OPEN = Qt.ItemDataRole.UserRole + 1


class RuleListModel(QAbstractListModel):
    """``show`` replaces the rows, ``write`` changes the first one; ``OPEN`` is true for the rule that is edited.

    ``redrawn`` after rows say something else and are as many as before: a view that heard ``dataChanged`` would lay
    out all of its rows anew.
    """

    redrawn = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[RuleView, ...] = ()
        self._draft: RuleView | None = None
        self._places: dict[str, int] = {}
        self._open = ""

    @property
    def draft(self) -> RuleView | None:
        """The row of a new rule, if one is being written."""
        return self._draft

    def show(self, rows: Sequence[RuleView]) -> None:
        """Show other rows. Rows of the same rules in the same order keep the view where it is."""
        before, self._rows = self._rows, tuple(rows)
        if [rule.rule_id for rule in before] == [rule.rule_id for rule in self._rows]:
            self.redrawn.emit()
            return
        self.beginResetModel()
        self._places = {rule.rule_id: place for place, rule in enumerate(self._rows)}
        self.endResetModel()

    def write(self, draft: RuleView | None, open_id: str) -> None:
        """The rule that is being written, or None, and the saved one that is being changed."""
        other, self._open = open_id != self._open, open_id
        if draft is not None and self._draft is not None:
            other = other or draft != self._draft
            self._draft = draft
        elif draft is not None:
            self.beginInsertRows(QModelIndex(), 0, 0)
            self._draft = draft
            self.endInsertRows()
        elif self._draft is not None:
            self.beginRemoveRows(QModelIndex(), 0, 0)
            self._draft = None
            self.endRemoveRows()
        if other:
            self.redrawn.emit()

    def rule(self, place: int) -> RuleView | None:
        """The rule of a row."""
        if self._draft is not None:
            if place == 0:
                return self._draft
            place -= 1
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def place(self, rule_id: str) -> int:
        """The row of a rule, or -1."""
        if self._draft is not None and rule_id == DRAFT:
            return 0
        found = self._places.get(rule_id, -1)
        return found + 1 if found >= 0 and self._draft is not None else found

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """How many rules are shown."""
        return 0 if parent.isValid() else len(self._rows) + (self._draft is not None)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The record under ``RULE``; words for a screen reader."""
        rule = self.rule(index.row())
        if rule is None:
            return None
        if role == RuleRole.RULE:
            return rule
        if role == RuleRole.OPEN:
            return rule.rule_id in (self._open, DRAFT)
        if role == Qt.ItemDataRole.DisplayRole:
            return rule.pattern
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(rule)
        return None
