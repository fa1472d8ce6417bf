"""The keyboard on the page: moving by screen and by message, through everything that can be pressed, and selecting."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.transcript.input.caret import CaretKeys
from desktop.ui.transcript.pieces.base import Spot
from desktop.ui.transcript.pieces.code import CodePiece
from desktop.ui.transcript.pieces.tool_card import ToolCard
from desktop.ui.transcript.surface import Surface

Key = Qt.Key
Modifier = Qt.KeyboardModifier
AROUND = 2
"""Messages before and after the current one whose spots Tab reaches in one go."""


@dataclass(frozen=True, slots=True)
class TabStop:
    """A stop of the Tab key: a painted spot, or a real button over it."""

    message: int
    spot: Spot | None = None
    rect: QRectF | None = None
    widget: QWidget | None = None


class Keys:
    """``current`` is the message that keys are at; ``focus`` the key of the spot that has the ring."""

    def __init__(self, view: Surface) -> None:
        self._view = view
        self._caret = CaretKeys(view)
        self.current: int | None = None
        self.focus = ""
        self._plain: dict[Key, Callable[[], None]] = {
            Key.Key_Home: lambda: self._scroll_to(0),
            Key.Key_End: view.scroll_to_end,
            Key.Key_PageUp: lambda: self._by_page(-1),
            Key.Key_PageDown: lambda: self._by_page(1),
            Key.Key_Up: lambda: self._by_message(-1),
            Key.Key_Down: lambda: self._by_message(1),
            Key.Key_Left: lambda: self._sideways(-1),
            Key.Key_Right: lambda: self._sideways(1),
            Key.Key_Return: self._enter,
            Key.Key_Enter: self._enter,
            Key.Key_Space: self._enter,
            Key.Key_Escape: self._escape,
        }

    def press(self, event: QKeyEvent) -> bool:
        """True when the key was for the page."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self._view.copy()
            return True
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self._view.select_all()
            return True
        key, modifiers = Key(event.key()), event.modifiers()
        if modifiers & Modifier.ShiftModifier and self._caret.extend(key, bool(modifiers & Modifier.ControlModifier)):
            return True
        if modifiers & ~(Modifier.KeypadModifier | Modifier.ControlModifier):
            return False
        if modifiers & Modifier.ControlModifier and key not in (Key.Key_Home, Key.Key_End):
            return False
        act = self._plain.get(key)
        if act is None or (key == Key.Key_Escape and not self.focus and self._view.selection.range() is None):
            return False
        act()
        return True

    # --------------------------------------------------------------------------------------------------------- moving

    def _scroll_to(self, value: int) -> None:
        self._view.verticalScrollBar().setValue(value)

    def _by_page(self, direction: int) -> None:
        bar = self._view.verticalScrollBar()
        bar.setValue(bar.value() + direction * max(40, bar.pageStep() - self._view.look.px(40)))

    def _by_message(self, direction: int) -> None:
        """To the next message; through a message longer than the screen by some lines."""
        view, page = self._view, self._view.page
        if not len(page):
            return
        current = self.seen_current()
        if current is None:
            shown = [index for index, _ in view.visible()]
            self.set_current(shown[0] if direction > 0 else shown[-1])
            return
        top = page.top(current) - view.offset()
        bottom = top + page.height_of(current)
        room = view.viewport().height()
        step = view.look.px(88)
        if (direction > 0 and bottom > room + 4) or (direction < 0 and top < -4):
            view.verticalScrollBar().setValue(view.offset() + direction * step)
            return
        self.set_current(max(0, min(len(page) - 1, current + direction)))

    def seen_current(self) -> int | None:
        """The current message while it is on the screen."""
        shown = {index for index, _ in self._view.visible()}
        return self.current if self.current in shown else None

    def set_current(self, index: int | None) -> None:
        """Keys are at another message; it comes into view."""
        self.current = index
        if index is not None:
            self.leave_spot()
            self._view.show_range(index, 0, self._view.page.height_of(index))
            self._view.accessibility.focus(index)
        self._view.overlays.hover(index)
        self._view.viewport().update()

    def _sideways(self, direction: int) -> None:
        """Code under the focused Copy button scrolls sideways."""
        stop = self.focused()
        if stop is None or stop.spot is None or stop.spot.kind != "copy":
            return
        for piece, _, _ in self._view.page.messages[stop.message].pieces():
            if isinstance(piece, CodePiece) and piece.key == stop.spot.payload:
                piece.scroll.by(direction * self._view.look.px(60))
                self._view.viewport().update()

    def _escape(self) -> None:
        self.leave_spot()
        self._view.selection.clear()
        self._view.selection_changed()

    # ---------------------------------------------------------------------------------------------------------- spots

    def stops(self) -> list[TabStop]:
        """Every stop of the messages on and near the screen, in reading order."""
        view = self._view
        shown = [index for index, _ in view.visible()]
        if not shown:
            return []
        found: list[TabStop] = []
        for index in range(max(0, shown[0] - AROUND), min(len(view.page), shown[-1] + 1 + AROUND)):
            message = view.page.messages[index]
            if message.flows is None:
                view.lay_out_quietly(index)
            if view.overlays.hovered == index and view.overlays.bar.isVisible():
                found += [TabStop(index, widget=button) for button in view.overlays.bar.buttons()]
            for spot, rect in message.spots():
                found.append(TabStop(index, spot, rect))
                found += self._answers(index, spot)
        return found

    def _answers(self, index: int, spot: Spot) -> list[TabStop]:
        """The real buttons of a waiting card follow its head."""
        bar = self._view.overlays.answers.get(spot.payload) if spot.kind == "toggle" else None
        return [TabStop(index, widget=button) for button in bar.buttons()] if bar is not None else []

    def focused(self) -> TabStop | None:
        """The stop that has the focus."""
        with_focus = self._view.window().focusWidget()
        for stop in self.stops():
            if (stop.widget is not None and stop.widget is with_focus) or (stop.spot and stop.spot.key == self.focus):
                return stop
        return None

    def tab(self, forward: bool) -> bool:
        """To the next stop; False when there is none, so that the focus leaves the page."""
        stops, here = self.stops(), self.focused()
        first_shown = next((index for index, _ in self._view.visible()), 0)
        if here is None:
            start = self.current if self.current is not None else first_shown
            ahead = [stop for stop in stops if (stop.message >= start if forward else stop.message <= start)]
            wanted = (ahead[0] if forward else ahead[-1]) if ahead else None
        else:
            keys = [self._identity(stop) for stop in stops]
            place = keys.index(self._identity(here)) + (1 if forward else -1)
            wanted = stops[place] if 0 <= place < len(stops) else None
        if wanted is None:
            self.leave_spot()
            return False
        self._go(wanted, forward)
        return True

    def _identity(self, stop: TabStop) -> object:
        return stop.spot.key if stop.spot else stop.widget

    def _go(self, stop: TabStop, forward: bool) -> None:
        view = self._view
        reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
        self.current = stop.message
        if stop.widget is not None:
            self.focus = ""
            stop.widget.setFocus(reason)
        elif stop.spot is not None and stop.rect is not None:
            self.focus = stop.spot.key
            view.setFocus(reason)
            view.show_range(stop.message, stop.rect.top(), stop.rect.height())
            view.overlays.hover(stop.message)
            view.accessibility.focus_spot(stop.message, stop.spot)
        view.viewport().update()

    def leave_spot(self) -> None:
        """Take the focus ring from the spot that has it."""
        if self.focus:
            self.focus = ""
            self._view.viewport().update()

    def _enter(self) -> None:
        """Presses the focused spot; without one, opens the current message's first card."""
        stop = self.focused()
        if stop is not None and stop.spot is not None:
            if stop.spot.kind == "link":
                self._view.link_activated.emit(stop.spot.payload)
            else:
                self._view.activate(stop.message, stop.spot)
            return
        if self.current is None:
            return
        for piece, _, _ in self._view.page.messages[self.current].pieces():
            if isinstance(piece, ToolCard):
                self._view.activate(self.current, piece.spots()[0])
                return
