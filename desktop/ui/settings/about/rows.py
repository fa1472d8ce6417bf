"""The list of parts: painted rows of a name, what it came in, and its licence at the right."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from desktop.domain.licences.part import LicencedPart
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided
from desktop.ui.widgets.fixed_rows import FixedRows
from desktop.ui.widgets.rows import Index, LinesModel, RowDelegate
from desktop.ui.widgets.shown import shown_line

PART = int(Qt.ItemDataRole.UserRole)
_COMMIT = re.compile("[0-9a-f]{40}")
_MIDDLE = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)


class PartsModel(LinesModel):
    """One row for each part that the search finds."""

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """The part for whoever draws it; its words for whoever reads it out."""
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        part: LicencedPart = self.lines[index.row()]
        if role == PART:
            return part
        spoken = int(Qt.ItemDataRole.DisplayRole), int(Qt.ItemDataRole.AccessibleTextRole)
        return f"{part_title(part)}, {part_place(part)}, {shown_line(part.licence)}" if role in spoken else None


class PartDelegate(RowDelegate):
    """Draws a part in one line."""

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Name, what it is, and at the right its licence, which has up to half of the room."""
        part: LicencedPart | None = index.data(PART)
        if part is None:
            return
        t = theme()
        inner = box.adjusted(t.px(8), 0, -t.px(8), 0)
        licence = elided(shown_line(part.licence), "small", inner.width() // 2)
        width = QFontMetrics(t.font("small")).horizontalAdvance(licence) + 1
        self._text(
            painter, QRect(inner.right() + 1 - width, inner.y(), width, inner.height()), licence, "small", "text-2"
        )
        room = inner.adjusted(0, 0, -width - t.px(16), 0)
        title = elided(part_title(part), "body", room.width(), weight=500)
        self._text(painter, room, title, "body", "text", 500)
        taken = QFontMetrics(t.font("body", 500)).horizontalAdvance(title) + t.px(10)
        rest = room.adjusted(taken, 0, 0, 0)
        if rest.width() > t.px(40):
            self._text(painter, rest, elided(part_place(part), "small", rest.width()), "small", "text-3")

    @staticmethod
    def _text(painter: QPainter, box: QRect, text: str, role: str, token: str, weight: int | None = None) -> None:
        painter.setFont(theme().font(role, weight))
        painter.setPen(theme().color(token))
        painter.drawText(box, _MIDDLE, text)


class PartsList(FixedRows):
    """All parts that the search finds. Return, or a click, opens one."""

    def __init__(self) -> None:
        super().__init__("What Assent is made of", PartDelegate())
        self.parts = PartsModel()
        self.setModel(self.parts)


def part_title(part: LicencedPart) -> str:
    """Name and version; of a version that is a commit its first twelve digits."""
    version = part.version[:12] if _COMMIT.fullmatch(part.version) else part.version
    return shown_line(f"{part.name} {version}".strip())


def part_place(part: LicencedPart) -> str:
    """What it is, and in which package it came."""
    inside = shown_line(", ".join(part.inside))
    return f"{shown_line(part.kind)} in {inside}" if inside else shown_line(part.kind)
