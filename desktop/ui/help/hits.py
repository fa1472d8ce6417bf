"""What a search found: two lines a hit, what matched underlined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from desktop.domain.help.pages import HelpHit
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, marked_text
from desktop.ui.widgets.rows import Index, RowDelegate

HIT = int(Qt.ItemDataRole.UserRole)
HEIGHT = 52


def second_line(hit: HelpHit) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Its page, and what it says around what matched, with the marks moved there."""
    if not hit.snippet:
        return hit.section.page_title, ()
    before = f"{hit.section.page_title}: “"
    return f"{before}{hit.snippet}”", tuple((start + len(before), length) for start, length in hit.marks)


class HelpHitModel(QAbstractListModel):
    """The hits of one search."""

    def __init__(self) -> None:
        super().__init__()
        self.hits: tuple[HelpHit, ...] = ()

    def show(self, hits: Sequence[HelpHit]) -> None:
        """Show others."""
        self.beginResetModel()
        self.hits = tuple(hits)
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """How many there are."""
        return 0 if parent.isValid() else len(self.hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The title, or the record under ``HIT``."""
        hit = self.hits[index.row()]
        if role == HIT:
            return hit
        if role == Qt.ItemDataRole.DisplayRole:
            return hit.section.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{hit.section.title}, {second_line(hit)[0]}"
        return None


class HelpHitDelegate(RowDelegate):
    """Title above, page and words below."""

    height = HEIGHT
    inset = 12

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one hit."""
        del selected, hovered
        t = theme()
        hit: HelpHit = index.data(HIT)
        left, room = box.x() + t.px(12), box.width() - t.px(24)
        above, below = QFontMetrics(t.font("body")), QFontMetrics(t.font("small"))
        around = (box.height() - above.height() - below.height() - t.px(1)) // 2
        title = elided(hit.section.title, "body", room, weight=600)
        marked_text(painter, left, box.y() + around + above.ascent(), title, hit.title, "body", "text")
        words, marks = second_line(hit)
        words = elided(words, "small", room, weight=600)
        baseline = box.bottom() - around - below.descent()
        marked_text(painter, left, baseline, words, marks, "small", "text-2")
