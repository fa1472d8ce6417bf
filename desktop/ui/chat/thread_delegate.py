"""Rows of the thread list: a group's name, or a title with its tail (time, state, pin, and on hover the menu)."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop.presenter.threads import ThreadRole
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph, row_background

Index = QModelIndex | QPersistentModelIndex

STATE_GLYPHS = {"waiting": ("ask", "ask"), "running": ("running", "running"), "failed": ("failed", "failed")}
"""State of a thread -> (icon, colour token)."""


class ThreadDelegate(QStyledItemDelegate):
    """Draws 32-pixel rows, 8 pixels inset; the menu glyph of the row under the pointer answers to clicks."""

    menu_requested = Signal(str, QRect)
    pin_toggled = Signal(str, bool)

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._view = view
        self.angle = 0.0

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802 - Qt's
        """All rows are equally high, so that the view can jump in a long list."""
        return QSize(0, theme().metric("row"))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """A header or a thread."""
        t = theme()
        rect = option.rect.adjusted(t.px(8), 0, -t.px(8), 0)  # type: ignore[attr-defined]
        painter.save()
        if index.data(ThreadRole.KIND) == "header":
            painter.setFont(t.font("caption"))
            painter.setPen(t.color("text-3"))
            box = rect.adjusted(t.px(8), t.px(8), 0, 0)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, index.data())
        else:
            self._thread(painter, option, index, rect)
        painter.restore()

    def _thread(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, rect: QRect) -> None:
        t = theme()
        flags = option.state  # type: ignore[attr-defined]
        selected = bool(flags & QStyle.StateFlag.State_Selected)
        hovered = bool(flags & QStyle.StateFlag.State_MouseOver)
        current = self._view.currentIndex() == index and self._view.property("keyboard") is True
        row_background(painter, rect, selected=selected, hovered=hovered, focused=current and self._view.hasFocus())
        room = self._tail(painter, rect, index, hovered)
        weight = 500 if selected else 400
        width = rect.width() - t.px(16) - room
        painter.setFont(t.font("body", weight))
        painter.setPen(t.color("text"))
        text = elided(" ".join(str(index.data()).split()), "body", width, weight=weight)
        box = QRect(rect.x() + t.px(8), rect.y(), width, rect.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def _tail(self, painter: QPainter, rect: QRect, index: Index, hovered: bool) -> int:
        """Draw what stands at the right end; returns its width in pixels."""
        t = theme()
        side = t.metric("icon-small")
        if hovered:
            for name, box in (("pin", self.pin_rect(rect)), ("more", self.menu_rect(rect))):
                on = name == "pin" and bool(index.data(ThreadRole.PINNED))
                glyph(painter, box, name, "text" if on else "text-2", side)
            return 2 * t.px(24) + t.px(4)
        state = index.data(ThreadRole.STATE)
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
    def menu_rect(rect: QRect) -> QRect:
        """Where the menu glyph is drawn on a hovered row."""
        side = theme().px(24)
        return QRect(rect.right() - side - theme().px(2), rect.y(), side, rect.height())

    @staticmethod
    def pin_rect(rect: QRect) -> QRect:
        """Where the pin is drawn on a hovered row."""
        side = theme().px(24)
        return QRect(rect.right() - 2 * side - theme().px(2), rect.y(), side, rect.height())

    def editorEvent(  # noqa: N802 - Qt's
        self, event: QEvent, model: object, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """A click on the pin or on the menu glyph acts on the row without opening it."""
        if event.type() != QEvent.Type.MouseButtonPress or index.data(ThreadRole.KIND) == "header":
            return False
        if not isinstance(event, QMouseEvent) or event.button() != Qt.MouseButton.LeftButton:
            return False
        t = theme()
        rect = option.rect.adjusted(t.px(8), 0, -t.px(8), 0)  # type: ignore[attr-defined]
        spot = event.position().toPoint()
        thread_id = str(index.data(ThreadRole.ID))
        if self.menu_rect(rect).contains(spot):
            self.menu_requested.emit(thread_id, self.menu_rect(rect))
            return True
        if self.pin_rect(rect).contains(spot):
            self.pin_toggled.emit(thread_id, not index.data(ThreadRole.PINNED))
            return True
        return False

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:  # noqa: N802 - Qt's
        """Renaming happens in place, in a plain field."""
        editor = super().createEditor(parent, option, index)
        editor.setAccessibleName("New title")
        return editor
