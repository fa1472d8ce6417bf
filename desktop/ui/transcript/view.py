"""The transcript view: what was said and done in a thread as one page to read, select, search and answer in.

It is fed ``TranscriptItem`` records and streamed text and gives signals; it knows no view-model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtGui import QContextMenuEvent, QPainter
from PySide6.QtWidgets import QWidget

from desktop.presenter.transcript.items import TranscriptItem
from desktop.ui.theme import Theme
from desktop.ui.transcript.accessibility import TranscriptAccessibility
from desktop.ui.transcript.input.clipboard import page_menu, to_clipboard
from desktop.ui.transcript.input.finding import Search
from desktop.ui.transcript.input.keys import Keys
from desktop.ui.transcript.input.pointer import Pointer
from desktop.ui.transcript.input_area import InputArea
from desktop.ui.transcript.message_frame import Variant
from desktop.ui.transcript.overlays import Overlays
from desktop.ui.transcript.pieces.base import Canvas, Spot
from desktop.ui.transcript.pieces.code import whole_code
from desktop.ui.transcript.pieces.code_card import CodeCard
from desktop.ui.transcript.pieces.formulas import RunInThread
from desktop.ui.transcript.pieces.text_box import Marked
from desktop.ui.transcript.selection import Selection
from desktop.ui.transcript.stream import Stream, caret_of


class TranscriptView(InputArea):
    """``action`` gives (message id, what to do): edit, regenerate, branch, copy, quote, previous, next, continue, and
    the actions of notices. ``tool_answer`` gives (request id, deny | allow_once | open). ``found`` follows ``find``
    while matches are still being counted.
    """

    code_copied = Signal(str)
    action = Signal(str, str)
    tool_answer = Signal(str, str)
    tool_toggled = Signal(str, bool)
    overlays_class: ClassVar[type[Overlays]] = Overlays
    overlays: Overlays
    accessibility: TranscriptAccessibility

    def __init__(
        self,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        variant: Variant = "chat",
        run_in_thread: RunInThread | None = None,
    ) -> None:
        super().__init__(theme, parent, variant=variant, run_in_thread=run_in_thread)
        self.selection = Selection(self.page)
        self.overlays = self.overlays_class(self, self.tool_answer.emit, self.act)
        self.overlays.jump.clicked.connect(self.scroll_to_end)
        self.pointer = Pointer(self)
        self.keys = Keys(self)
        self.stream = Stream(self)
        self.accessibility = TranscriptAccessibility(self)
        self.search = Search(self)
        self.setAccessibleName("Conversation")

    # ------------------------------------------------------------------------------------------------------- contents

    def set_items(self, items: Sequence[TranscriptItem]) -> None:
        """Shows other messages, their end in view. If the line that a person reads is among them, it stays."""
        anchor = None if self.stick else self.anchor()
        self.overlays.forget()
        self.stream.forget()
        self.selection.clear()
        number = self.keys.current
        current = self.page.messages[number].item.message_id if number is not None else ""
        self.page.reset(items)
        self.keys.current, self.keys.focus = self.page.place(current), ""
        if number is not None and self.keys.current is None and number < len(items):
            self.keys.current = number  # another version stands in its place
        self.search.restart()
        self.accessibility.reset()
        if anchor is not None and self.page.place(anchor.message.item.message_id) is not None:
            self.hold(anchor)
        else:
            self.scroll_to_end()
        self.stream.wake()

    def prepend_items(self, items: Sequence[TranscriptItem]) -> None:
        """Add older messages above; nothing on the screen moves."""
        bar_from_end = self.verticalScrollBar().maximum() - self.offset()
        count = self.page.prepend(items)
        self.selection.shift(count)
        self.search.shift(count)
        self.keys.current = None if self.keys.current is None else self.keys.current + count
        self.overlays.hovered = None
        self.search.restart()
        self.accessibility.reset()
        self._adjusting = True
        self._set_range()
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum() - bar_from_end)
        self._adjusting = False
        self.settle()
        self.viewport().update()
        self.moved()

    def add_item(self, item: TranscriptItem) -> None:
        """Add a message at the end."""
        if self.page.place(item.message_id) is not None:
            self.change_item(item)
            return
        self.page.append(item)
        self.search.restart()
        self.accessibility.reset()
        self.settle()
        self.viewport().update()
        self.moved()
        self.stream.wake()

    def change_item(self, item: TranscriptItem) -> None:
        """A newer state of a message; parts that did not change stay as they are. Unknown messages are added."""
        index = self.page.place(item.message_id)
        if index is None:
            self.add_item(item)
            return
        message = self.page.messages[index]
        finished = message.item.live and not item.live
        anchor = None if self.stick else self.anchor()
        message.change(item)
        if message.flows is not None:
            self.page.measured(index)
        self.search.restart()
        self.hold(anchor)
        self.stream.wake()
        if finished:
            self.accessibility.announce(message)

    def append_text(self, message_id: str, part_id: str, delta: str) -> None:
        """More text of a part; it is on the screen within 33 ms."""
        index = self.page.place(message_id)
        if index is not None and delta:
            message = self.page.messages[index]
            message.append(part_id, delta)
            self.stream.touch(message)

    # --------------------------------------------------------------------------------------------------------- moving

    def scroll_to_end(self) -> None:
        """To the last line, and stays there while more comes."""
        self._set_stick(True)
        self.settle()
        self.viewport().update()
        self.moved()

    def scroll_to(self, message_id: str) -> None:
        """A message's head to the top of the screen."""
        index = self.page.place(message_id)
        if index is None:
            return
        self.lay_out_quietly(index)
        self.keys.current = index
        bar = self.verticalScrollBar()
        self._set_stick(False)
        for _ in range(2):  # heights around it may be corrected by the first look at it
            bar.setValue(self.page.top(index))
        self._set_stick(bar.value() >= bar.maximum() - 2)
        self.moved()
        self.viewport().update()

    def scroll_to_card(self, message_id: str, part_id: str) -> None:
        """The card of a call into sight; the line that it may be folded into opens."""
        self.scroll_to(message_id)
        index = self.page.place(message_id)
        if index is None:
            return
        place = self.page.messages[index].unfolded(part_id)
        self.page.measured(index)
        if place is not None:
            self._set_stick(False)
            self.show_range(index, *place)
            self.moved()

    def moved(self) -> None:
        self.overlays.place()
        self.stream.wake()

    # ------------------------------------------------------------------------------------------------ finding, copying

    def find(self, text: str, forward: bool = True) -> tuple[int, int]:  # type: ignore[override]  # not QWidget.find
        """Goes to the next match; returns (its place, how many are known). ``found`` tells when all are counted."""
        return self.search.go(text, forward)

    def selected_text(self) -> str:
        """The selection as plain text; code exactly as it is."""
        return self.selection.text(self.lay_out_quietly)

    def select_all(self) -> None:
        """Select the whole thread."""
        self.selection.select_all()
        self.selection_changed()

    def copy(self) -> None:
        """The selection to the clipboard, as plain text and as Markdown."""
        if self.selection.range() is not None:
            to_clipboard(self.selected_text(), self.selection.text(self.lay_out_quietly, markdown=True))

    def selection_changed(self) -> None:
        """Show the selection."""
        self.viewport().update()

    # --------------------------------------------------------------------------------------------------------- acting

    def activate(self, index: int, spot: Spot) -> None:
        """Press a spot of a message."""
        message = self.page.messages[index]
        if spot.kind == "copy":
            pieces = [piece for piece, _, _ in message.pieces()]
            card = next((p for p in pieces if isinstance(p, CodeCard) and p.key == spot.payload), None)
            code = card.source if card is not None else whole_code(pieces, spot.payload)
            to_clipboard(code)
            self.code_copied.emit(code)
        elif spot.kind in ("toggle", "more"):
            self._unfold(index, spot)
        elif spot.kind == "shown":
            how, _, key = spot.payload.partition(" ")
            self._set_stick(False)
            self.drawings.show_text(key, how == "text")
        else:
            self.act(message.item.message_id, spot.payload if spot.kind == "action" else spot.kind)

    def _unfold(self, index: int, spot: Spot) -> None:
        message = self.page.messages[index]
        key = spot.key.rpartition("/")[0]
        top = self.page.top(index) - self.offset()
        before = next((y for piece, y, _ in message.pieces() if piece.key == key), 0)
        piece = message.toggle(key) if spot.kind == "toggle" else message.more(key)
        if piece is None:
            return
        self.page.measured(index)
        self._set_stick(False)
        after = next((y for found, y, _ in message.pieces() if found is piece), 0)
        self._set_range_silently(self.page.top(index) + after - before - top)
        self._set_stick(self.offset() >= self.verticalScrollBar().maximum() - 2)
        self.settle()
        self.viewport().update()
        self.moved()
        if spot.kind == "toggle":
            self.tool_toggled.emit(spot.payload, getattr(piece, "open", False))

    def act(self, message_id: str, action: str) -> None:
        index = self.page.place(message_id)
        self.keys.current = index if index is not None else self.keys.current
        if action == "copy" and index is not None:
            message = self.page.messages[index]
            self.lay_out_quietly(index)
            to_clipboard(message.source() or message.text(), message.source())
        self.action.emit(message_id, action)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        page_menu(self, QPointF(event.pos())).popup(event.globalPos())

    def copy_markdown(self) -> None:
        """The selection as it was written."""
        to_clipboard(self.selection.text(self.lay_out_quietly, markdown=True))

    # -------------------------------------------------------------------------------------------------------- painting

    def canvas(self, painter: QPainter, clip: QRectF) -> Canvas:
        canvas = self.stream.dress(super().canvas(painter, clip))
        canvas.hover = self.pointer.hover
        canvas.focus = self.keys.focus if self.hasFocus() else ""
        return canvas

    def marks(self, index: int) -> Sequence[Marked]:
        found: list[Marked] = []
        found += self.search.marks(index)
        selected = self.selection.within(index)
        if selected is not None:
            found.append((*selected, self.look.selection))
        return found

    def draw_over(self, canvas: Canvas, index: int, x: int, y: int) -> None:
        message = self.page.messages[index]
        self.overlays.draw_footer(canvas, index, x, y)
        if canvas.caret_on and (caret := caret_of(message)) is not None:
            canvas.painter.fillRect(caret.translated(x, y), self.look.color("text"))
        if index == self.keys.current and self.hasFocus() and not self.keys.focus:
            gap = self.look.px(16)
            bar = QRectF(x - self.look.px(10), y + gap, self.look.px(2), message.height - gap)
            canvas.painter.fillRect(bar, self.look.color("focus"))
