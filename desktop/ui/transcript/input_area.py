"""Hands what the person does with mouse, keys and focus to those who know what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF
from PySide6.QtGui import QFocusEvent, QHelpEvent, QHideEvent, QKeyEvent, QMouseEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QToolTip

from desktop.domain.text.markup import escape
from desktop.ui.transcript.area import PageArea

if TYPE_CHECKING:
    from desktop.ui.transcript.input.finding import Search
    from desktop.ui.transcript.input.keys import Keys
    from desktop.ui.transcript.input.pointer import Pointer
    from desktop.ui.transcript.stream import Stream


class InputArea(PageArea):
    """The parts are made by the view."""

    pointer: Pointer
    keys: Keys
    stream: Stream
    search: Search

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pointer.press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.pointer.double_click(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.pointer.release(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.pointer.wheel(event):
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.keys.press(event):
            event.ignore()

    def focusNextPrevChild(self, next_: bool) -> bool:
        """Tab goes through everything that can be pressed, then on to the next widget."""
        if self.keys.tab(next_):
            return True
        return super().focusNextPrevChild(next_)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), escape(self.pointer.tip_at(QPointF(event.pos()))), self)
            return True
        if event.type() == QEvent.Type.Leave:
            self.pointer.leave()
        return super().viewportEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.stream.flush()
        self.settle()
        self.moved()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.stream.stop()
        self.pointer.stop()
        self.search.stop()
        self.prefetch.stop()
