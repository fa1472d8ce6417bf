"""The mouse on the page: spots and links, selecting by character, word and paragraph, scrolling at the edges."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QCursor, QGuiApplication, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from desktop.ui.transcript.pieces.base import Piece, Spot
from desktop.ui.transcript.pieces.code import CodePiece
from desktop.ui.transcript.selection import Place, word_around
from desktop.ui.transcript.surface import Surface

EDGE_TICK = 16
"""Milliseconds between two steps while a selection is dragged over the edge."""
LONGEST_TIP = 200
"""Characters of a tip; a screen reader is given all."""


class Pointer(QObject):
    """What the pointer is over, what it pressed, and the selection it drags."""

    def __init__(self, view: Surface) -> None:
        super().__init__(view)
        self._view = view
        self._dragging = False
        self._unit = 1
        self._pressed: Spot | None = None
        self._link = ""
        self._last = QPointF()
        self._second_click = 0.0
        self._edge = QTimer(self, interval=EDGE_TICK)
        self._edge.timeout.connect(self._scroll_edge)
        self.hover = ""

    # -------------------------------------------------------------------------------------------------------- where is

    def message_at(self, y: float, x: float = 0.0) -> tuple[int, int] | None:
        """(number, its y in the viewport) of the message at, or nearest to, a point."""
        return self._view.number_at(x, y)

    def place_at(self, point: QPointF) -> Place | None:
        """The place in the text nearest to a point."""
        found = self.message_at(point.y(), point.x())
        if found is None:
            return None
        index, top = found
        x, _ = self._view.span(index)
        return index, self._view.page.messages[index].offset_at(point.x() - x, point.y() - top)

    def spot_at(self, point: QPointF) -> tuple[int, Spot, QRectF] | None:
        """(message, spot, its rect in the viewport) under a point."""
        found = self.message_at(point.y(), point.x())
        if found is None:
            return None
        index, top = found
        x, _ = self._view.span(index)
        local = point - QPointF(x, top)
        for spot, rect in self._view.page.messages[index].spots():
            if spot.kind != "link" and rect.contains(local):
                return index, spot, rect.translated(x, top)
        return None

    def rect_of(self, message_id: str, action: str) -> QRect | None:
        """Where the button of a message for this lies in the viewport; None where there is none."""
        index = self._view.page.place(message_id)
        if index is None:
            return None
        x, _ = self._view.span(index)
        top = self._view.page.top(index) - self._view.offset()
        spots = self._view.page.messages[index].spots()
        return next((r.translated(x, top).toRect() for spot, r in spots if spot.payload == action), None)

    def piece_at(self, point: QPointF) -> tuple[Piece, QPointF] | None:
        """(piece, point in it)."""
        found = self.message_at(point.y(), point.x())
        if found is None:
            return None
        message = self._view.page.messages[found[0]]
        hit = message.piece_at(point.y() - found[1])
        if hit is None:
            return None
        x, _ = self._view.span(found[0])
        return hit[0], QPointF(point.x() - x - message.inner_x(), point.y() - found[1] - hit[1])

    def link_at(self, point: QPointF) -> str:
        """The address under a point."""
        hit = self.piece_at(point)
        return hit[0].link_at(hit[1].x(), hit[1].y()) if hit else ""

    def tip_at(self, point: QPointF) -> str:
        """Where a link leads, or what a spot does."""
        spot = self.spot_at(point)
        said = spot[1].label if spot else ""
        short = said if len(said) <= LONGEST_TIP else f"{said[: LONGEST_TIP - 1]}…"
        return self.link_at(point).partition("\n")[0] or short

    # -------------------------------------------------------------------------------------------------------- pressing

    def press(self, event: QMouseEvent) -> None:
        """Handle a press of the left button."""
        point = self._last = event.position()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        spot = self.spot_at(point)
        if spot is not None:
            self._pressed = spot[1]
            return
        place = self.place_at(point)
        if place is None:
            return
        view = self._view
        view.keys.leave_spot()
        self._dragging, self._unit, self._link = True, 1, self.link_at(point)
        recent = time.monotonic() - self._second_click < QApplication.doubleClickInterval() / 1000
        if recent:
            self._second_click = 0.0
            self._start_unit(place, 3)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and view.selection.anchor is not None:
            view.selection.extend(place)
            self._link = ""
        else:
            view.selection.begin(place)
        view.selection_changed()

    def double_click(self, event: QMouseEvent) -> None:
        """Select the word at the pointer."""
        if event.button() != Qt.MouseButton.LeftButton or self.spot_at(event.position()) is not None:
            return
        place = self.place_at(event.position())
        if place is not None:
            self._dragging, self._link = True, ""
            self._second_click = time.monotonic()
            self._start_unit(place, 2)
            self._view.selection_changed()

    def _start_unit(self, place: Place, unit: int) -> None:
        self._unit = unit
        self._view.selection.begin_unit(*self._unit_at(place))
        self._link = ""

    def _unit_at(self, place: Place) -> tuple[Place, Place]:
        """The word or the paragraph around a place."""
        index, offset = place
        message = self._view.page.messages[index]
        if self._unit == 2:
            start, end = word_around(message.text(), offset)
            return (index, start), (index, end)
        found = message.piece_of(offset)
        if found is None:
            return place, place
        piece, _, at = found
        low = piece.text.rfind("\n", 0, max(0, offset - at)) + 1 if isinstance(piece, CodePiece) else 0
        high = piece.text.find("\n", max(0, offset - at)) if isinstance(piece, CodePiece) else -1
        return (index, at + low), (index, at + (high if high >= 0 else len(piece.text)))

    def move(self, event: QMouseEvent) -> None:
        """Handle hovering and dragging."""
        self._last = event.position()
        if self._dragging and event.buttons() & Qt.MouseButton.LeftButton:
            self._drag(self._last)
            room = self._view.viewport().rect()
            outside = not room.top() <= self._last.y() <= room.bottom()
            if outside != self._edge.isActive():
                self._edge.start() if outside else self._edge.stop()
            return
        self._hover(self._last)

    def _drag(self, point: QPointF) -> None:
        room = self._view.viewport().rect()
        inside = QPointF(point.x(), min(max(point.y(), 0.0), float(room.height() - 1)))
        place = self.place_at(inside)
        if place is None:
            return
        selection = self._view.selection
        before = selection.range()
        if self._unit > 1:
            selection.extend(*self._unit_at(place))
        else:
            selection.extend(place)
        if selection.range() != before:
            self._link = ""
            self._view.selection_changed()

    def _scroll_edge(self) -> None:
        room = self._view.viewport().rect()
        beyond = self._last.y() - room.bottom() if self._last.y() > 0 else self._last.y()
        bar = self._view.verticalScrollBar()
        bar.setValue(bar.value() + int(max(-60, min(60, beyond / 3 + (2 if beyond > 0 else -2)))))
        self._drag(self._last)

    def release(self, event: QMouseEvent) -> None:
        """Handle the release of the left button: what was pressed acts."""
        self._edge.stop()
        pressed, self._pressed = self._pressed, None
        link, self._link = self._link, ""
        self._dragging = False
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if pressed is not None:
            spot = self.spot_at(event.position())
            if spot is not None and spot[1].key == pressed.key:
                self._view.activate(spot[0], spot[1])
        elif link and self._view.selection.range() is None:
            self._view.link_activated.emit(link)
        self._copy_primary()

    def _copy_primary(self) -> None:
        clipboard = QGuiApplication.clipboard()
        if clipboard.supportsSelection() and self._view.selection.range() is not None:
            clipboard.setText(self._view.selected_text(), clipboard.Mode.Selection)

    # -------------------------------------------------------------------------------------------------------- hovering

    def _hover(self, point: QPointF) -> None:
        view = self._view
        spot = self.spot_at(point)
        self._set_hover(spot[1].key if spot else "")
        found = self.message_at(point.y(), point.x())
        view.overlays.hover(found[0] if found else None)
        view.viewport().setCursor(self._shape(point, spot is not None))

    def _shape(self, point: QPointF, over_spot: bool) -> QCursor:
        if over_spot or self.link_at(point):
            return QCursor(Qt.CursorShape.PointingHandCursor)
        hit = self.piece_at(point)
        if hit is not None and hit[0].over_text(hit[1].x(), hit[1].y()):
            return QCursor(Qt.CursorShape.IBeamCursor)
        return QCursor(Qt.CursorShape.ArrowCursor)

    def _set_hover(self, key: str) -> None:
        if key != self.hover:
            self.hover = key
            self._view.viewport().update()

    def leave(self) -> None:
        """The pointer left the page."""
        self._set_hover("")
        bar = self._view.overlays.bar
        if not bar.underMouse():
            self._view.overlays.hover(self._view.keys.current)

    def stop(self) -> None:
        """The page is hidden."""
        self._edge.stop()
        self._dragging = False

    def wheel(self, event: QWheelEvent) -> bool:
        """Sideways over code that is wider than the column; True when it was used."""
        delta = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta() / 2
        sideways = delta.x() or (delta.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        hit = self.piece_at(event.position()) if sideways else None
        if hit is None or not isinstance(hit[0], CodePiece):
            return False
        if hit[0].scroll.by(-sideways):
            self._view.viewport().update()
        return True
