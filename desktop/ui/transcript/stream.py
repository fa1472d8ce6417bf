"""What moves on the page: text that streams in is shown at 30 Hz, clocks, turning glyphs and the caret at 12 Hz.

Both timers run only while there is something to do on the screen.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QRectF, QTimer

from desktop.ui.transcript.flow import TextFlow
from desktop.ui.transcript.message import Message
from desktop.ui.transcript.pieces.base import Canvas, Piece
from desktop.ui.transcript.pieces.small import NoticePiece, ReasoningPiece
from desktop.ui.transcript.pieces.tool_card import ToolCard
from desktop.ui.transcript.surface import Surface

TICK = 83
SPIN_AFTER = 0.3
"""Seconds a call runs before its glyph turns."""


class Stream(QObject):
    """Collects what came and shows it together."""

    def __init__(self, view: Surface) -> None:
        super().__init__(view)
        self._view = view
        self._dirty: set[Message] = set()
        self._flush = QTimer(self, singleShot=True, interval=max(1, view.theme.duration("coalesce")))
        self._flush.timeout.connect(self.flush)
        self._tick = QTimer(self, interval=TICK)
        self._tick.timeout.connect(self._advance)
        self._caret_shown = True

    def touch(self, message: Message) -> None:
        """Mark a message to which text was added; what is marked is drawn together, a little later."""
        self._dirty.add(message)
        if not self._flush.isActive() and self._view.isVisible():
            self._flush.start()

    def flush(self) -> None:
        """Shows everything that came."""
        dirty, self._dirty = self._dirty, set()
        for message in dirty:
            index = self._view.page.place(message.item.message_id)
            if index is None or self._view.page.messages[index] is not message:
                continue
            changed = message.refresh()
            if changed is not None:
                self._view.grown(index, changed)
        if dirty:
            self.wake()

    def wake(self) -> None:
        """Starts the clock if something on the screen moves; what came too fast for one frame comes in the next."""
        for index, _ in self._view.visible():
            message = self._view.page.messages[index]
            if message.behind:
                self.touch(message)
        if not self._tick.isActive() and self._view.isVisible() and self._moving():
            self._tick.start()

    def stop(self) -> None:
        """The page is hidden."""
        self._flush.stop()
        self._tick.stop()

    def forget(self) -> None:
        """Drop what waits to be drawn, because other messages are shown."""
        self._dirty.clear()
        self.stop()

    def _moving(self) -> list[tuple[int, QRectF]]:
        """(message, rect in it) of everything on the screen that moves."""
        found: list[tuple[int, QRectF]] = []
        view = self._view
        room = view.viewport().height()
        for index, top in view.visible():
            message = view.page.messages[index]
            if message.flows is None:
                continue
            for flow in message.flows_between(-top, room - top):
                piece = flow.pieces[0] if flow.pieces else None
                if piece is not None and piece.live and isinstance(piece, ToolCard | ReasoningPiece | NoticePiece):
                    rect = piece.state_rect(view.look)
                    found.append((index, rect.translated(message.inner_x(), flow.y + piece.y)))
            if (caret := caret_of(message)) is not None:
                found.append((index, caret))
        return found

    def _advance(self) -> None:
        moving = self._moving()
        if not moving:
            self._tick.stop()
        view = self._view
        for index, rect in moving:
            x, _ = view.span(index)
            top = view.page.top(index) - view.offset()
            view.viewport().update(rect.translated(x, top).toAlignedRect().adjusted(-2, -2, 2, 2))

    def dress(self, canvas: Canvas) -> Canvas:
        """Gives the canvas the time of this frame."""
        theme = self._view.theme
        canvas.now = time.time()
        turn, blink = theme.duration("spinner"), theme.duration("caret")
        canvas.angle = (time.monotonic() * 1000 % turn) / turn * 360 if turn else 0.0
        canvas.caret_on = not blink or int(time.monotonic() * 1000 / blink) % 2 == 0
        return canvas


def caret_of(message: Message) -> QRectF | None:
    """Where streaming text ends, in the message."""
    flow = message.flows[-1] if message.flows else None
    if not message.item.live or not isinstance(flow, TextFlow) or not flow.pieces or not flow.live:
        return None
    last: Piece = flow.pieces[-1]
    rect = last.cursor_rect(len(last.text)).translated(message.inner_x(), flow.y + last.y)
    return rect.adjusted(2, 3, 2, -3)
