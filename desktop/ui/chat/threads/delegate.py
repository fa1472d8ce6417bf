"""Rows of the thread list: a group's name, or a title with its tail (time, state, pin, and on hover the menu).

The runs of a job stand below a row of their own, which unfolds."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from desktop.presenter.chat.thread_lines import OLDER, PROJECT
from desktop.presenter.chat.threads import ThreadRole
from desktop.ui.chat.threads.rows import ThreadRowDelegate
from desktop.ui.theme import theme
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.rows import Index

STATE_GLYPHS = {
    "waiting": ("ask", "ask"),
    "running": ("running", "running"),
    "failed": ("failed", "failed"),
    "interrupted": ("pause", "ask"),
}
"""State of a thread -> (icon, colour token)."""


class ThreadDelegate(ThreadRowDelegate):
    """Draws the rows of threads, 32 pixels each; the pin and the menu glyph of the row under the pointer answer to
    clicks."""

    menu_requested = Signal(str, QRect)
    pin_toggled = Signal(str, bool)

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """What is before the title, the title, then the tail."""
        tail = self._tail(painter, box, index, hovered and index.data(ThreadRole.KIND) == "thread")
        folder = str(index.data(ThreadRole.JOB) or "").startswith((PROJECT, OLDER))
        self.title(painter, box.adjusted(self._head(painter, box, index), 0, 0, 0), index, tail, selected, quiet=folder)

    @staticmethod
    def _head(painter: QPainter, rect: QRect, index: Index) -> int:
        """Draw what stands before the title; returns its width in pixels."""
        t = theme()
        side, width = t.metric("icon-small"), t.px(20) if index.data(ThreadRole.INSIDE) else 0
        agent = str(index.data(ThreadRole.AGENT) or "")
        names = [str(index.data(ThreadRole.ICON) or "") or (agent_icon(agent) if t.has_agent(agent) else "")]
        if index.data(ThreadRole.KIND) == "job" and not str(index.data(ThreadRole.JOB)).startswith(OLDER):
            names.insert(0, "down" if index.data(ThreadRole.UNFOLDED) else "right")
        for name in names:
            token = "failed" if name == "failed" else "text-3" if index.data(ThreadRole.INSIDE) else "text-2"
            box = QRect(rect.x() + t.px(8) + width, rect.y(), side, rect.height())
            glyph(painter, box, name, token, side) if name else None
            width += side + t.px(6) if name or index.data(ThreadRole.INSIDE) else 0
        return width

    def _tail(self, painter: QPainter, rect: QRect, index: Index, hovered: bool) -> int:
        """Draw what stands at the right end; returns its width in pixels."""
        t = theme()
        side = t.metric("icon-small")
        if hovered:
            for name, box in (("pin", self.pin_rect(rect)), ("more", self.menu_rect(rect))):
                on = name == "pin" and bool(index.data(ThreadRole.PINNED))
                glyph(painter, box, name, "text" if on else "text-2", side)
            return 2 * t.px(24) + t.px(4)
        state, note = index.data(ThreadRole.STATE), str(index.data(ThreadRole.NOTE) or "")
        if note and str(index.data(ThreadRole.JOB) or "").startswith(PROJECT):
            return self._closed(painter, rect, note)
        if state in STATE_GLYPHS:
            icon, token = STATE_GLYPHS[state]
            box = QRect(rect.right() - t.px(8) - side, rect.y(), side, rect.height())
            glyph(painter, box, icon, token, side, self.angle if state == "running" else 0.0)
            return side + t.px(8)
        if index.data(ThreadRole.PINNED):
            box = QRect(rect.right() - t.px(8) - side, rect.y(), side, rect.height())
            glyph(painter, box, "pin", "text-3", side)
            return side + t.px(8)
        painter.setFont(t.font("caption", 400))
        painter.setPen(t.color("text-3"))
        text = str(index.data(ThreadRole.TIME) or "")
        width = painter.fontMetrics().horizontalAdvance(text)
        box = QRect(rect.right() - t.px(8) - width, rect.y(), width + 1, rect.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        return width + t.px(12)

    @staticmethod
    def _closed(painter: QPainter, rect: QRect, words: str) -> int:
        """Why a folder cannot be used; returns its width in pixels."""
        t = theme()
        painter.setFont(t.font("small", 500))
        painter.setPen(t.color("failed"))
        shown = elided(words, "small", rect.width() // 2, weight=500)
        width = painter.fontMetrics().horizontalAdvance(shown)
        box = QRect(rect.right() - t.px(8) - width, rect.y(), width + 1, rect.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
        glyph(painter, QRect(box.x() - t.px(20), box.y(), t.px(14), box.height()), "failed", "failed", t.px(14))
        return width + t.px(34)

    @staticmethod
    def menu_rect(rect: QRect) -> QRect:
        """Where the menu glyph is drawn on a hovered row."""
        side = theme().px(24)
        return QRect(rect.right() - side - theme().px(2), rect.y(), side, rect.height())

    @staticmethod
    def pin_rect(rect: QRect) -> QRect:
        """Where the pin is drawn on a hovered row."""
        side = theme().px(24)
        return QRect(rect.right() - 2 * side - theme().px(2), rect.y(), side, rect.height())

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """A click on the pin or on the menu glyph acts on the row without opening it."""
        if event.type() != QEvent.Type.MouseButtonPress or index.data(ThreadRole.KIND) != "thread":
            return False
        if not isinstance(event, QMouseEvent) or event.button() != Qt.MouseButton.LeftButton:
            return False
        t = theme()
        rect = option.rect.adjusted(t.px(8), 0, -t.px(8), 0)
        spot = event.position().toPoint()
        thread_id = str(index.data(ThreadRole.ID))
        if self.menu_rect(rect).contains(spot):
            self.menu_requested.emit(thread_id, self.menu_rect(rect))
            return True
        if self.pin_rect(rect).contains(spot):
            self.pin_toggled.emit(thread_id, not index.data(ThreadRole.PINNED))
            return True
        return False
