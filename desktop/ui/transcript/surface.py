"""The page of messages as those see it who act on it: keys, pointer, search, screen reader, what lies over it.

It says where a message stands, which one is at a point, and what is drawn around it; other arrangements of messages
(two lanes) answer differently. What the view itself does for its controllers is declared here and made there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from desktop.ui.theme import Theme
from desktop.ui.transcript.message_frame import Frame, Variant
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.pieces.base import Canvas, Spot
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.text_box import Marked
from desktop.ui.transcript.selection import Selection

SIDE_PAD = 16


class KeyPlace(Protocol):
    """Where the keyboard is: the number of a message, and the key of the spot with the ring, or ""."""

    current: int | None
    focus: str

    def seen_current(self) -> int | None:
        """The current message while it is on the screen."""
        ...

    def leave_spot(self) -> None:
        """Take the focus ring from the spot that has it."""
        ...


class PointerPlace(Protocol):
    """What lies under a point of the viewport."""

    def message_at(self, y: float, x: float = 0.0) -> tuple[int, int] | None:
        """(number, its y in the viewport) of the message at, or nearest to, a point."""
        ...

    def link_at(self, point: QPointF) -> str:
        """The address of a link, or ""."""
        ...


class ButtonBar(Protocol):
    """Real buttons over the page."""

    def isVisible(self) -> bool: ...  # noqa: N802 - Qt's

    def underMouse(self) -> bool: ...  # noqa: N802 - Qt's

    def buttons(self) -> list[QWidget]:
        """In the order in which they stand."""
        ...


class OverPage(Protocol):
    """What lies over the page. ``hovered`` is the number of the message whose actions show."""

    hovered: int | None

    @property
    def bar(self) -> ButtonBar:
        """The actions of the message under the pointer."""
        ...

    @property
    def answers(self) -> Mapping[str, ButtonBar]:
        """The answers of waiting calls, by the id of the call."""
        ...

    def hover(self, index: int | None) -> None:
        """Shows the actions of this message."""
        ...

    def actions(self, index: int) -> list[tuple[str, str]]:
        """(name, words) of what can be done with a message."""
        ...


class ScreenReaderFocus(Protocol):
    """The screen reader is told where the keys are."""

    def focus(self, index: int) -> None:
        """Tell the screen reader that the keys are at a message."""
        ...

    def focus_spot(self, index: int, spot: Spot) -> None:
        """At a spot of it."""
        ...


class Surface(QAbstractScrollArea):
    """The area makes the first five, the view the others. ``stick``: the end is in view and stays there."""

    link_activated = Signal(str)
    announced = Signal(str)
    found = Signal(int, int)
    theme: Theme
    variant: Variant
    look: PageLook
    page: Page
    stick: bool
    selection: Selection
    keys: KeyPlace
    pointer: PointerPlace
    overlays: OverPage
    accessibility: ScreenReaderFocus

    def make_page(self, frame: Frame) -> Page:
        """The messages; a page with another arrangement brings its own."""
        return Page(frame)

    def column(self) -> tuple[int, int]:
        """(left edge of the content column in the viewport, its width): the same with and without a scroll bar."""
        px, room = self.look.px, self.width() - self.verticalScrollBar().sizeHint().width()
        margin = px(32) if self.variant == "chat" else 0
        width = max(px(160), min(px(720), room - margin - 2 * px(SIDE_PAD)))
        return max(margin + px(4), (room - width - margin) // 2 + margin), width

    def span(self, index: int) -> tuple[int, int]:
        """(left edge of a message in the viewport, its width)."""
        del index
        return self.column()

    def number_at(self, x: float, y: float) -> tuple[int, int] | None:
        """(number, its y in the viewport) of the message at, or nearest to, a point."""
        del x
        best = None
        for index, top in self.visible():
            if best is None or top <= y:
                best = (index, top)
        return best

    def offset(self) -> int:
        """The thread's pixel at the top of the viewport."""
        return self.verticalScrollBar().value()

    def visible(self) -> Iterator[tuple[int, int]]:
        """(number, y in the viewport) of every message on the screen."""
        if not len(self.page):
            return
        room = self.viewport().height()
        index, into = self.page.at(self.offset())
        y = self.page.top(index) - self.offset()
        del into
        while index < len(self.page) and y < room:
            yield index, y
            y += self.page.heights[index]
            index += 1

    def width_wanted(self) -> float:
        """The width of a message in the room there is."""
        return float(self.column()[1])

    def moved(self) -> None:
        """Tell what lies over the page that the page has moved."""

    def canvas(self, painter: QPainter, clip: QRectF) -> Canvas:
        """The canvas that drawing needs."""
        return Canvas(painter, self.look, clip, self.viewport().devicePixelRatio(), ledger=self.variant == "chat")

    def marks(self, index: int) -> Sequence[Marked]:
        """Selected and found stretches of a message."""
        del index
        return ()

    def draw_under(self, canvas: Canvas) -> None:
        """More to draw before the messages."""

    def draw_over(self, canvas: Canvas, index: int, x: int, y: int) -> None:
        """More to draw over a message."""

    # ------------------------------------------------------------------------------------- what area and view do for it

    def absorb(self, index: int, difference: int) -> None:
        """A message off the screen turned out higher or lower than estimated: nothing on the screen moves."""
        raise NotImplementedError

    def grown(self, index: int, changed_from: int) -> None:
        """A message got longer at its end: ``changed_from`` is the y in it from which it has to be drawn again."""
        raise NotImplementedError

    def lay_out_quietly(self, index: int) -> None:
        """Lays out a message that may be off the screen; nothing on the screen moves."""
        raise NotImplementedError

    def show_range(self, index: int, top: float, height: float) -> None:
        """Scrolls as little as is needed to show a stretch of a message."""
        raise NotImplementedError

    def scroll_to_end(self) -> None:
        """To the last line, and stays there while more comes."""
        raise NotImplementedError

    def selection_changed(self) -> None:
        """Show the selection."""
        raise NotImplementedError

    def select_all(self) -> None:
        """Select the whole thread."""
        raise NotImplementedError

    def selected_text(self) -> str:
        """The selection as plain text; code exactly as it is."""
        raise NotImplementedError

    def copy(self) -> None:
        """The selection to the clipboard, as plain text and as Markdown."""
        raise NotImplementedError

    def copy_markdown(self) -> None:
        """The selection as it was written."""
        raise NotImplementedError

    def activate(self, index: int, spot: Spot) -> None:
        """Press a spot of a message."""
        raise NotImplementedError

    def act(self, message_id: str, action: str) -> None:
        """Do what a person chose for a message."""
        raise NotImplementedError
