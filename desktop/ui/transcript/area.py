"""The scroll area under the transcript: which messages are visible, laid out, drawn, and what holds its place.

The reader's place is sacred. At the end the area follows what is added; anywhere else nothing that is laid out,
streamed, loaded or corrected moves the line under the reader's eyes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.ui.theme import Theme
from desktop.ui.transcript.anchor import Anchor, find_anchor
from desktop.ui.transcript.colours.finished import CodeBlock, CodeColours
from desktop.ui.transcript.drawings.shown import FenceDrawings
from desktop.ui.transcript.flow import PieceTools
from desktop.ui.transcript.markdown.inline import InlineParser
from desktop.ui.transcript.message import Message, has_media
from desktop.ui.transcript.message_frame import Frame, Variant
from desktop.ui.transcript.page import KEPT
from desktop.ui.transcript.pieces.code import code_of
from desktop.ui.transcript.pieces.formulas import Formulas, RunInThread, has_formula
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.media_strip import Pictures
from desktop.ui.transcript.pieces.pooled import Pool
from desktop.ui.transcript.prefetch import Prefetch
from desktop.ui.transcript.surface import Surface

SIDE_PAD = 16
AT_END = 2


class PageArea(Surface):
    """Shows a ``Page``. Subclasses say what is marked and what lies over the page."""

    at_end_changed = Signal(bool)

    def __init__(
        self,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        variant: Variant = "chat",
        run_in_thread: RunInThread | None = None,
    ) -> None:
        super().__init__(parent)
        self.theme = theme
        self.variant: Variant = variant
        run = run_in_thread or Pool(self).run
        self.formulas, self.pictures = Formulas(run, self), Pictures(run, self)
        self.colours, self.drawings = CodeColours(self), FenceDrawings(run, self)
        self._tools = PieceTools(InlineParser(), self.formulas, self.pictures, self.colours, self.drawings)
        self.look = PageLook(theme)
        self.page = self.make_page(Frame(self.look, self._tools, float(self.look.px(720)), variant))
        self.stick, self._adjusting = True, False
        self.prefetch = Prefetch(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setMouseTracking(True)
        self.verticalScrollBar().setSingleStep(self.look.px(40))
        theme.changed.connect(self._theme_changed)
        self.formulas.ready.connect(lambda: self._renew(lambda message: has_formula(message.source())))
        self.pictures.ready.connect(lambda: self._renew(has_media))
        self.colours.shown.connect(self.viewport().update)
        self.drawings.painted.connect(self.viewport().update)
        self.drawings.changed.connect(self._redraw)

    # ------------------------------------------------------------------------------------------------------- geometry

    # ------------------------------------------------------------------------------------------------------ scrolling

    def settle(self) -> None:
        """Lays out what is visible, keeping the end in view or the reader's place."""
        if not len(self.page):
            self._set_range()
            return
        self._adjusting = True
        self._settle_end() if self.stick else self._settle_middle()
        self._adjusting = False

    def _settle_end(self) -> None:
        need, index = self.viewport().height(), len(self.page) - 1
        while index >= 0 and need > 0:
            self.page.ensure(index)
            need -= self.page.heights[index]
            index -= 1
        self._set_range()
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _settle_middle(self) -> None:
        bar = self.verticalScrollBar()
        index, into = self.page.at(bar.value())
        before = self.page.heights[index]
        if self.page.ensure(index) and into > 0:
            into = int(into * self.page.heights[index] / max(1, before))
        need, following = self.viewport().height() + into, index
        while following < len(self.page) and need > 0:
            self.page.ensure(following)
            need -= self.page.heights[following]
            following += 1
        self.page.kept = max(KEPT, (following - index) * 2)
        self._set_range()
        value = self.page.top(index) + into
        if value != bar.value():
            bar.setValue(value)

    def _set_range(self) -> None:
        bar, room = self.verticalScrollBar(), self.viewport().height()
        bar.setPageStep(room)
        bar.setRange(0, max(0, self.page.height() - room))

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """A person, or a key, scrolled."""
        del dx
        if self._adjusting:
            return
        bar = self.verticalScrollBar()
        wanted = bar.value()
        self._set_stick(wanted >= bar.maximum() - AT_END)
        self.settle()
        if bar.value() == wanted and abs(dy) < self.viewport().height():
            self.viewport().scroll(0, dy)
        else:
            self.viewport().update()
        self.moved()
        self.prefetch.start(1 if dy < 0 else -1)

    def _set_stick(self, stick: bool) -> None:
        if stick != self.stick:
            self.stick = stick
            self.at_end_changed.emit(stick)

    def absorb(self, index: int, difference: int) -> None:
        """A message off the screen turned out higher or lower than estimated: nothing on the screen moves."""
        if not difference:
            return
        self._adjusting = True
        bar = self.verticalScrollBar()
        above = self.page.top(index) < bar.value()
        self._set_range()
        if self.stick:
            bar.setValue(bar.maximum())
        elif above:
            bar.setValue(bar.value() + difference)
        self._adjusting = False

    def grown(self, index: int, changed_from: int) -> None:
        """A message got longer at its end: ``changed_from`` is the y in it from which it has to be drawn again."""
        bar = self.verticalScrollBar()
        before = bar.value()
        bottom = self.page.top(index) + self.page.heights[index]
        difference = self.page.measured(index)
        if difference:
            self._adjusting = True
            self._set_range()
            if self.stick:
                bar.setValue(bar.maximum())
            elif bottom <= before:
                bar.setValue(before + difference)
            self._adjusting = False
            if self.stick and before != bar.value():
                self.viewport().scroll(0, before - bar.value())
                self.moved()
        y = self.page.top(index) - bar.value() + changed_from
        own = self.page.top(index) + self.page.height_of(index) - bar.value()
        low = self.viewport().height() if difference else own
        if y < self.viewport().height() and low > 0:
            self.viewport().update(QRect(0, y, self.viewport().width(), low - y + 2))

    # --------------------------------------------------------------------------------------------------------- anchor

    def anchor(self) -> Anchor | None:
        """What stands at the top of the viewport now."""
        return find_anchor(self.page, self.visible())

    def hold(self, anchor: Anchor | None) -> None:
        """Bring the anchor back to where it stood, after a change; lay out what came into view and draw."""
        if anchor is not None and not self.stick:
            index = self.page.place(anchor.message.item.message_id)
            if index is not None:
                self.page.ensure(index)
                self._set_range_silently(self.page.top(index) + anchor.top(self.page, index) - anchor.y)
        self.settle()
        self.viewport().update()
        self.moved()

    def _set_range_silently(self, value: int) -> None:
        self._adjusting = True
        self._set_range()
        self.verticalScrollBar().setValue(value)
        self._adjusting = False

    # --------------------------------------------------------------------------------------------------------- events

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out for a new width; a new height only shows another stretch of the page."""
        super().resizeEvent(event)
        if self.look.scale != self.theme.scale:
            return  # amid a change of text size: everything is laid out once it is over
        if self.width_wanted() != self.page.frame.width:
            self.relayout()
        else:
            self.settle()
            self.viewport().update()
            self.moved()

    def relayout(self) -> None:
        """Everything is laid out anew; the line at the top of the screen stays there."""
        anchor = self.anchor()
        self.page.set_frame(Frame(self.look, self._tools, self.width_wanted(), self.variant))
        self.hold(anchor)

    def _theme_changed(self) -> None:
        self.look = PageLook(self.theme)
        self.verticalScrollBar().setSingleStep(self.look.px(40))
        self.relayout()

    def _renew(self, wanted: Callable[[Message], bool]) -> None:
        anchor = self.anchor()
        self.page.renew(wanted)
        self.hold(anchor)

    def _redraw(self, blocks: Collection[CodeBlock]) -> None:
        """Blocks of code have another look, and another height."""
        wanted = set(blocks)
        anchor = self.anchor()
        for message in self.page.laid_out():
            index = self.page.place(message.item.message_id)
            if index is not None and message.lay_out_again(lambda piece: code_of(piece) in wanted):
                self.page.measured(index)
        self.hold(anchor)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the messages that the dirty rectangle touches."""
        painter = QPainter(self.viewport())
        dirty = event.rect()
        painter.fillRect(dirty, self.look.color("surface"))
        canvas = self.canvas(painter, QRectF(dirty))
        self.draw_under(canvas)
        for index, y in self.visible():
            if y > dirty.bottom():
                break
            if y + self.page.height_of(index) >= dirty.top():
                message = self.page.messages[index]
                if message.flows is None:
                    continue
                x, _ = self.span(index)
                message.draw(canvas, x, y, self.marks(index))
                self.draw_over(canvas, index, x, y)
        painter.end()

    def lay_out_quietly(self, index: int) -> None:
        """Lays out a message that may be off the screen; nothing on the screen moves."""
        self.absorb(index, self.page.ensure(index))

    def show_range(self, index: int, top: float, height: float) -> None:
        """Scrolls as little as is needed to show a stretch of a message."""
        self.lay_out_quietly(index)
        bar, pad = self.verticalScrollBar(), self.look.px(12)
        low = self.page.top(index) + int(top)
        high = low + int(height)
        if low - pad < bar.value() or height > bar.pageStep():
            bar.setValue(low - pad)
        elif high + pad > bar.value() + bar.pageStep():
            bar.setValue(high + pad - bar.pageStep())
