"""The rows of the Skills page as a model of 10,000 lines: numbers of a catalogue, read when a line is painted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QStringListModel, Qt

from desktop.presenter.skills.words import badges_of, source_word
from desktop.skills.catalogue.rows import SkillRow
from desktop.skills.catalogue.search import SkillCatalog

__all__ = ["Key", "SkillListModel", "SkillRole", "SkillRow"]

Key = tuple[str, str]
READ = 256
"""Rows that are kept after they were read: a screen of them is painted from several roles each."""


class SkillRole(IntEnum):
    """Roles beside ``DisplayRole`` (the name)."""

    KEY = Qt.ItemDataRole.UserRole + 1
    LINE = Qt.ItemDataRole.UserRole + 2
    BADGES = Qt.ItemDataRole.UserRole + 3
    SOURCE = Qt.ItemDataRole.UserRole + 4
    TAGS = Qt.ItemDataRole.UserRole + 5


class SkillListModel(QStringListModel):
    """``show`` replaces everything at once; nothing is copied but the numbers.

    A list view asks for the index of every row, and each index for the number of rows: with 10,000 rows that is 10 ms
    in Python. So the number is a list of empty strings that Qt itself counts, and only ``data`` is ours.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._catalog = SkillCatalog()
        self._rows: Sequence[int] = ()
        self._changed: Collection[str] = ()
        self._read: dict[int, SkillRow] = {}

    def show(self, catalog: SkillCatalog, rows: Sequence[int], changed: Collection[str]) -> None:
        """Show other rows. ``changed``: paths with the badge "changed on disk"."""
        self._catalog, self._rows, self._changed = catalog, rows, changed
        self._read.clear()
        self.setStringList([""] * len(rows))

    def row_at(self, place: int) -> SkillRow | None:
        """The skill at a line, or None."""
        if not 0 <= place < len(self._rows):
            return None
        found = self._read.get(place)
        if found is None:
            if len(self._read) >= READ:
                self._read.clear()
            found = self._read[place] = self._catalog.row(self._rows[place])
        return found

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Rows are chosen, never edited or dragged."""
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable if index.isValid() else Qt.ItemFlag.NoItemFlags

    def place(self, key: Key) -> int:
        """The line of a skill, or -1."""
        row = self._catalog.find(key)
        try:
            return -1 if row is None else self._rows.index(row)
        except ValueError:
            return -1

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One of ``SkillRole``, the name, or what a screen reader says of the line."""
        row = self.row_at(index.row()) if index.isValid() else None
        if row is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return row.name
        if role == SkillRole.KEY:
            return row.key
        if role == SkillRole.LINE:
            return row.description
        if role == SkillRole.BADGES:
            return badges_of(row, self._changed)
        if role == SkillRole.SOURCE:
            return row.repository or source_word(row.source)
        if role == SkillRole.TAGS:
            return row.tags
        return self._spoken(row, role)

    def _spoken(self, row: SkillRow, role: int) -> str | None:
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(
                (row.name, *badges_of(row, self._changed), row.description, row.repository or source_word(row.source))
            )
        if role == Qt.ItemDataRole.ToolTipRole:
            tags = f"\n#{' #'.join(row.tags)}" if row.tags else ""
            return f"{row.name}\n{row.description[:500]}{tags}"
        return None
