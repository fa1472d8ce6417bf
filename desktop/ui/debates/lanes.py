"""A debate's turns in two lanes or one column: the transcript view with another arrangement of its messages.

A row is a turn of A and the turn of B after it; B begins ``STAGGER`` lower. The tree of heights holds how far the next
message is below each one, so all that the transcript does for 10,000 messages it does here as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from PySide6.QtCore import QPoint, QRectF, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from desktop.presenter.debates.items import TurnItem
from desktop.presenter.debates.words import seconds_words
from desktop.presenter.transcript.items import TranscriptItem
from desktop.ui.theme import Theme, theme
from desktop.ui.theme.paint import outline, state_look
from desktop.ui.transcript.area import PageArea
from desktop.ui.transcript.heights import Heights
from desktop.ui.transcript.message import Message
from desktop.ui.transcript.message_frame import GAP, HEADER, Frame, head_line
from desktop.ui.transcript.overlays import MessageBar, Overlays
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.pieces.base import Canvas
from desktop.ui.transcript.view import TranscriptView

Arrangement = Literal["lanes", "column"]
STAGGER, ROW_GAP, SPINE, EDGE, NODE = 32, 8, 64, 24, 24
NARROWEST = 720
"""Pixels at 100 %; where it is narrower there is one column."""


class LanePage(Page):
    """A page on which the turns of a row stand beside each other (``lanes``). ``wide`` is the width of what is said to
    both sides."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self.lanes = True
        self.wide = frame.width

    def second(self, index: int) -> bool:
        """Whether a message stands beside the one before it."""
        if not self.lanes or not 0 < index < len(self.messages):
            return False
        first, item = self.messages[index - 1].item, self.messages[index].item
        both = isinstance(item, TurnItem) and isinstance(first, TurnItem)
        return both and item.side == "b" and first.side == "a"

    def frame_of(self, message: Message) -> Frame:
        if isinstance(message.item, TurnItem):
            return self.frame
        return Frame(self.frame.look, self.frame.tools, self.wide, self.frame.variant)

    def advances(self, index: int) -> list[tuple[int, int]]:
        """(message, how far the next one is below it) for a message and the one beside it."""
        px, first = self.frame.look.px, index - 1 if self.second(index) else index
        if not self.second(first + 1):
            return [(first, self.messages[first].height + px(ROW_GAP))]
        a, b, low = self.messages[first].height, self.messages[first + 1].height, px(STAGGER)
        return [(first, low), (first + 1, max(a - low, b) + px(ROW_GAP))]

    def measured(self, index: int) -> int:
        return sum(self.heights.set(place, advance) for place, advance in self.advances(index))

    def ensure(self, index: int) -> int:
        difference = super().ensure(index)
        beside = index - 1 if self.second(index) else index + 1 if self.second(index + 1) else None
        return difference if beside is None else difference + super().ensure(beside)

    def append(self, item: TranscriptItem) -> int:
        index = super().append(item)
        self.measured(index)
        return index

    def arrange(self, lanes: bool) -> None:
        """Show the turns in two lanes, or below each other."""
        self.lanes = lanes
        self._take(self.messages)

    def _take(self, messages: list[Message]) -> None:
        super()._take(messages)
        values: list[int] = []
        while len(values) < len(messages):
            values += [advance for _, advance in self.advances(len(values))]
        self.heights = Heights(values)


class TurnBar(MessageBar):
    """The buttons of a turn: fork and copy."""

    def show_for(self, item: TranscriptItem, pinned: bool = False) -> None:
        self.message_id = item.message_id
        wanted = ["branch", "copy"] if isinstance(item, TurnItem) else ["copy"]
        self._actions = wanted
        for action, button in self._made.items():
            button.setVisible(action in wanted)
            button.set_name({"branch": "Fork from here", "copy": "Copy this turn"}.get(action, action))
        self._row.insertWidget(0, self._made["branch"])
        self.adjustSize()


class TurnOverlays(Overlays):
    """The widgets over two lanes."""

    def __init__(
        self, area: PageArea, answered: Callable[[str, str], None], pressed: Callable[[str, str], None]
    ) -> None:
        super().__init__(area, answered, pressed)
        self._view = area
        self.bar.deleteLater()
        self.bar = TurnBar(area.viewport())
        self.bar.pressed.connect(pressed)

    def actions(self, index: int) -> list[tuple[str, str]]:
        item = self._view.page.messages[index].item
        if item.live:
            return []
        return [("copy", "Copy"), *([("branch", "Fork from here")] if isinstance(item, TurnItem) else [])]

    def _place_bar(self) -> None:
        view, hovered = self._view, self.hovered
        top = next((y for index, y in view.visible() if index == hovered), None)
        message = view.page.messages[hovered] if hovered is not None and top is not None else None
        if message is None or top is None or hovered is None or message.item.live:
            self._hide(self.bar)
            return
        self.bar.show_for(message.item)
        self.bar.setProperty("human", message.human)
        x, width = view.span(hovered)
        inset = view.look.px(8) if message.human else 0
        y = top + view.look.px(GAP) - 4 + inset // 2
        self.bar.move(QPoint(x + width - self.bar.width() - inset, max(2, y)))
        self.bar.show()
        self.bar.raise_()


class DebateView(TranscriptView):
    """``action`` gives (message id, what): branch, copy, and the actions of the end's card."""

    overlays_class = TurnOverlays

    def __init__(self, shown: Theme, parent: QWidget | None = None, *, arrangement: Arrangement = "lanes") -> None:
        self.arrangement: Arrangement = arrangement
        super().__init__(shown, parent, variant="side")
        self.setAccessibleName("Turns of the debate")
        self._clock = QTimer(self, interval=100)
        self._clock.timeout.connect(self._tick)
        self._page.arrange(self.two_lanes)

    def make_page(self, frame: Frame) -> Page:
        return LanePage(frame)

    @property
    def _page(self) -> LanePage:
        assert isinstance(self.page, LanePage)
        return self.page

    # -- where everything is ------------------------------------------------------------------------------------------

    @property
    def room(self) -> int:
        """Pixels across, the same with and without a scroll bar."""
        return self.width() - self.verticalScrollBar().sizeHint().width()

    @property
    def two_lanes(self) -> bool:
        """Whether there are two lanes now."""
        return self.arrangement == "lanes" and self.room >= self.look.px(NARROWEST)

    def set_arrangement(self, arrangement: Arrangement) -> None:
        """Lanes or one column; the line that is read stays."""
        if arrangement != self.arrangement:
            self.arrangement = arrangement
            self.relayout()

    def column(self) -> tuple[int, int]:
        px, spine = self.look.px, self.look.px(SPINE)
        if self.two_lanes:
            return px(EDGE), (self.room - 2 * px(EDGE) - spine) // 2
        width = min(px(720), self.room - 2 * px(EDGE) - px(40))
        return (self.room - width - px(40)) // 2 + px(40), width

    def _wide(self) -> tuple[int, int]:
        left, width = self.column()
        if self.two_lanes:
            width = min(self.look.px(720), self.room - 2 * self.look.px(EDGE))
            left = (self.room - width) // 2
        return left, width

    def span(self, index: int) -> tuple[int, int]:
        item = self.page.messages[index].item
        if not isinstance(item, TurnItem):
            return self._wide()
        left, width = self.column()
        return (left + width + self.look.px(SPINE) if self.two_lanes and item.side == "b" else left), width

    def visible(self) -> Iterator[tuple[int, int]]:
        if not len(self.page):
            return
        room, page = self.viewport().height(), self._page
        index, _ = page.at(self.offset())
        index -= 1 if page.second(index) else 0
        y = page.top(index) - self.offset()
        while index < len(page) and y < room:
            yield index, y
            y += page.heights[index]
            index += 1

    def number_at(self, x: float, y: float) -> tuple[int, int] | None:
        best = None
        for index, top in self.visible():
            left, width = self.span(index)
            half = self.look.px(SPINE) / 2
            beside = self.two_lanes and isinstance(self.page.messages[index].item, TurnItem)
            if beside and not left - half <= x <= left + width + half and best is not None:
                continue
            if best is None or top <= y:
                best = (index, top)
        return best

    def relayout(self) -> None:
        anchor, page = self.anchor(), self._page
        lanes = self.two_lanes
        page.wide = float(self._wide()[1])
        page.set_frame(Frame(self.look, page.frame.tools, self.width_wanted(), self.variant))
        page.arrange(lanes)
        self.hold(anchor)

    def set_items(self, items: Sequence[TranscriptItem]) -> None:
        """Show other turns; the spine follows."""
        super().set_items(items)
        self._watch()

    def change_item(self, item: TranscriptItem) -> None:
        """Show a turn anew that grew or is over."""
        super().change_item(item)
        self._watch()

    def add_item(self, item: TranscriptItem) -> None:
        """Add a turn at the end."""
        super().add_item(item)
        self._watch()

    # -- the clock of a turn under way --------------------------------------------------------------------------------

    def _watch(self) -> None:
        live = any(message.item.live for message in self.page.messages[-3:])
        if live and not self._clock.isActive():
            self._clock.start()
        elif not live:
            self._clock.stop()

    def _tick(self) -> None:
        for index, top in self.visible():
            if self.page.messages[index].item.live:
                x, width = self.span(index)
                head = QRectF(x, top + self.look.px(GAP) - 2, width, self.look.px(HEADER) + 4)
                self.viewport().update(head.toAlignedRect())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space on nothing in particular is the page's: it pauses."""
        if event.key() == Qt.Key.Key_Space and not self.keys.focus:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()

    # -- painting -----------------------------------------------------------------------------------------------------

    def _spine_x(self) -> float:
        left, width = self.column()
        px = self.look.px
        return left + width + px(SPINE) / 2 if self.two_lanes else left - px(28)

    def draw_under(self, canvas: Canvas) -> None:
        turns = [(index, y) for index, y in self.visible() if isinstance(self.page.messages[index].item, TurnItem)]
        if not turns:
            return
        x = self._spine_x()
        canvas.painter.setPen(QPen(self.look.color("border"), 1))
        begin = canvas.clip.top() if turns[0][0] > 1 else max(canvas.clip.top(), turns[0][1] + self.look.px(GAP))
        canvas.painter.drawLine(int(x), int(begin), int(x), int(canvas.clip.bottom()))

    def draw_over(self, canvas: Canvas, index: int, x: int, y: int) -> None:
        super().draw_over(canvas, index, x, y)
        item = self.page.messages[index].item
        if isinstance(item, TurnItem):
            self._draw_node(canvas, item, y + self.look.px(GAP + HEADER / 2))
            if item.live:
                end = head_line(self.page.messages[index], self.look).end
                self._draw_clock(canvas, item, x + end + self.look.px(9), y + self.look.px(GAP))

    def _draw_node(self, canvas: Canvas, item: TurnItem, middle: float) -> None:
        """Round for A, square for B, filled while it speaks."""
        painter, look, side = canvas.painter, self.look, self.look.px(NODE)
        token = f"side-{item.side}"
        box = QRectF(self._spine_x() - side / 2, middle - side / 2, side, side)
        radius = side / 2 if item.side == "a" else look.px(4)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color(token if item.live else "surface"))
        painter.drawRoundedRect(box, radius, radius)
        outline(painter, box, radius, look.color(token))
        painter.setFont(look.font("caption", 600))
        painter.setPen(look.color("surface" if item.live else token))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), str(item.number))
        painter.restore()

    def _draw_clock(self, canvas: Canvas, item: TurnItem, x: float, y: float) -> None:
        """``writing 8.3 s`` behind the head's words."""
        px = self.look.px
        state = "waiting" if waits(item) else "running"
        glyph = state_look(state)
        words = glyph.word if state == "waiting" else f"writing {seconds_words(time.time() - item.started_at)}"
        canvas.glyph(glyph.icon, glyph.token, x, y + px(2), 16, canvas.angle if state == "running" else 0.0)
        canvas.words(words, QRectF(x + px(21), y, px(200), px(HEADER)), "small", glyph.token, 500)


def waits(item: TurnItem) -> bool:
    """Whether a call of this turn waits for the person."""
    return any(getattr(part, "state", "") == "waiting" for part in item.parts)


def debate_view(parent: QWidget | None = None, arrangement: Arrangement = "lanes") -> DebateView:
    """A view of a debate, with the app's theme."""
    return DebateView(theme(), parent, arrangement=arrangement)
