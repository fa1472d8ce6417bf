"""Real widgets that lie over the painted page: the answers of a waiting call, the actions of a message, and the way
back to the end.

Allow is deaf for its first 400 ms after it came into view (R-PRM-14); an admin call has no Allow here at all, only
the way to its request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop.domain.approval.judgement import Category
from desktop.presenter.transcript.items import ToolPart, TranscriptItem
from desktop.presenter.transcript.last_answer import LastAnswer
from desktop.ui.theme import theme
from desktop.ui.transcript.message_frame import footer_line
from desktop.ui.transcript.pieces.base import Canvas
from desktop.ui.transcript.pieces.tool_card import ToolCard
from desktop.ui.transcript.pieces.tool_drawing import head_words
from desktop.ui.transcript.surface import Surface
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.buttons import Button, IconButton, OneClickButton
from desktop.ui.widgets.controls.patient_button import PatientButton
from desktop.ui.widgets.controls.slip import last_pressed

MESSAGE_ACTIONS = {
    "copy": ("copy", "Copy message"),
    "quote": ("quote", "Quote in the composer"),
    "edit": ("write", "Edit and send again"),
    "regenerate": ("retry", "Answer again"),
    "branch": ("branch", "Branch from here"),
    "pin": ("pin", "Pin: the model always reads it"),
    "continue": ("play", "Continue this answer"),
}
"""action -> (icon, what it does)."""
UNPIN = "Unpin: the model always reads it now"


def actions_of(item: TranscriptItem) -> list[str]:
    """What can be done with a message."""
    if item.side == "human":
        return ["copy", "edit", "branch", "pin"]
    return ["copy", "quote", "regenerate", "branch", "pin", *(["continue"] if item.can_continue else [])]


class AnswerBar(QWidget):
    """Open request, Deny, Allow once. ``answered`` names the request that stands on the card, so that an answer can
    never reach another one. A command that the card does not show to its end is allowed in its request only."""

    answered = Signal(str, str)

    def __init__(self, parent: QWidget, card: ToolCard) -> None:
        super().__init__(parent)
        part = card.part
        self._whole, self._seen = card.whole, False
        self.call_id = part.call_id
        self.request_id = _request_id(part)
        self.open_button = OneClickButton("Open request", "quiet", small=True)
        self.deny = PatientButton(_no(part), small=True)
        self.allow: AllowButton | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(self.open_button)
        row.addWidget(self.deny)
        self.open_button.clicked.connect(lambda: self.answered.emit(self.request_id, "open"))
        self.deny.clicked.connect(lambda: self.answered.emit(self.request_id, "deny"))
        tool, _ = head_words(part)
        self.deny.setAccessibleName(f"{_no(part)} {tool}")
        self.open_button.setAccessibleName(f"Open the request of {tool}")
        if not _needs_looking(part) and card.whole:
            self.allow = AllowButton("Allow once", "primary", small=True)
            self.allow.setAccessibleName(f"Allow {tool} once")
            self.allow.agreed.connect(lambda: self.answered.emit(self.request_id, "allow_once"))
            row.addWidget(self.allow)
        self._careful: tuple[PatientButton | AllowButton, ...] = (self.deny, *([self.allow] if self.allow else []))

    def buttons(self) -> list[QWidget]:
        """The buttons in tab order."""
        return [self.open_button, self.deny, *([self.allow] if self.allow else [])]

    def pause(self, at: QPointF | None) -> None:
        """Make the buttons deaf for a moment: they now stand where another request was answered, by a press at ``at``
        or by a key."""
        for button in self._careful:
            button.pause(at)

    @property
    def pressed_at(self) -> QPointF | None:
        """Where on the screen it was answered; None if by a key."""
        return last_pressed(self._careful)

    def appear(self, rect: QRect, *, from_top: bool) -> None:
        """Show the bar; Allow wakes 400 ms later, or when the card's beginning has come into sight (``from_top``)."""
        self.setGeometry(rect)
        fresh = not self.isVisible()
        self.show()
        if self.allow is not None and from_top and (fresh or not self._seen):
            self.allow.arm()
        self._seen = self._seen or from_top

    def uncovered(self) -> None:
        """Start the deaf time of Allow, because something that covered it has gone."""
        if self.allow is not None and self._seen:
            self.allow.arm()

    def fits(self, card: ToolCard) -> bool:
        """Whether this is still about what the card shows; a request that came back changed gets buttons of its own."""
        return (_request_id(card.part), card.whole) == (self.request_id, self._whole)


def _request_id(part: ToolPart) -> str:
    return part.request.request_id if part.request else ""


def _needs_looking(part: ToolPart) -> bool:
    """Admin, what may have been done already, and what an agent below this call asks are allowed in the request only:
    the card does not show it."""
    asked = part.request
    if part.category == "admin" or asked is None:
        return part.category == "admin"
    return asked.category == Category.ADMIN or bool(asked.unknown) or asked.call_id != part.call_id


def _no(part: ToolPart) -> str:
    return "Skip" if part.request is not None and part.request.unknown else "Deny"


class MessageBar(QWidget):
    """The quiet buttons at the right of a message's header."""

    pressed = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.message_id = ""
        self._actions: list[str] = []
        self._pinned = False
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(2, 2, 2, 2)
        self._row.setSpacing(2)
        self._made: dict[str, IconButton] = {}
        for action, (icon, words) in MESSAGE_ACTIONS.items():
            button = IconButton(icon, words, side=24)
            button.clicked.connect(lambda _=False, name=action: self.pressed.emit(self.message_id, name))
            self._row.addWidget(button)
            self._made[action] = button
        self.hide()

    def show_for(self, item: TranscriptItem, pinned: bool = False) -> None:
        """Show the buttons that fit a message."""
        self.message_id = item.message_id
        if pinned != self._pinned:
            self._pinned = pinned
            self._made["pin"].set_name(UNPIN if pinned else MESSAGE_ACTIONS["pin"][1])
            self._made["pin"].set_icon("pin", "accent" if pinned else "text-2")
        wanted = actions_of(item)
        if wanted != self._actions:
            self._actions = wanted
            for action, button in self._made.items():
                button.setVisible(action in wanted)
        self.adjustSize()

    def buttons(self) -> list[QWidget]:
        """The buttons in tab order."""
        return [self._made[action] for action in self._actions]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill the background, so that text below does not shine through."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme().color("bg" if self.property("human") is True else "surface"))


class Overlays:
    """Keeps the widgets where their places on the page are."""

    def __init__(
        self, area: Surface, answered: Callable[[str, str], None], pressed: Callable[[str, str], None]
    ) -> None:
        self._area = area
        self._answered = answered
        self._last_answer = LastAnswer()
        self._last_answer.changed.connect(self._rest_all)
        self.answers: dict[str, AnswerBar] = {}
        self.bar = MessageBar(area.viewport())
        self.bar.pressed.connect(pressed)
        self.jump = Button("Jump to latest", icon="down", small=True, parent=area.viewport())
        self.jump.hide()
        self.hovered: int | None = None
        self._pinned: frozenset[str] = frozenset()

    def show_pinned(self, message_ids: frozenset[str]) -> None:
        """Mark these messages as pinned."""
        if message_ids != self._pinned:
            self._pinned = message_ids
            self._place_bar()
            self._area.viewport().update()

    def place(self) -> None:
        """Put what lies over the page in its place, after scrolling, layout or a change."""
        self._place_answers()
        self._place_bar()
        self._place_jump()

    def _waiting(self) -> Iterator[tuple[ToolCard, QRect, float]]:
        """Each waiting card, where its answers lie, and where it begins."""
        area = self._area
        for index, top in area.visible():
            message, (x, _) = area.page.messages[index], area.span(index)
            for flow in message.flows_between(-top, area.viewport().height() - top):
                piece = flow.pieces[0] if flow.pieces else None
                if isinstance(piece, ToolCard) and piece.waiting:
                    y = top + flow.y + piece.y
                    yield piece, piece.answers_rect(area.look).translated(x + message.inner_x(), y).toRect(), y

    def _place_answers(self) -> None:
        room = self._area.viewport().rect()
        seen = set()
        for card, rect, begins in self._waiting():
            call_id = card.part.call_id
            bar = self.answers.get(call_id)
            if bar is not None and not bar.fits(card):
                self._take_away(call_id, bar)
                bar = None
            if bar is None:
                bar = self.answers[call_id] = AnswerBar(self._area.viewport(), card)
                bar.answered.connect(self._answer)
                bar.hide()
                self._rest(bar)
            if room.intersects(rect):
                seen.add(call_id)
                bar.appear(rect, from_top=begins >= 0)
        for call_id, bar in list(self.answers.items()):
            if call_id not in seen:
                self._take_away(call_id, bar)

    def _answer(self, request_id: str, answer: str) -> None:
        """On to whoever answers. What moves up into this place is not meant by a second click."""
        at = next((bar.pressed_at for bar in self.answers.values() if bar.request_id == request_id), None)
        self._last_answer.note(request_id, at)
        self._answered(request_id, answer)

    def follow(self, last_answer: LastAnswer) -> None:
        """What is answered is kept where all places know of it."""
        self._last_answer.changed.disconnect(self._rest_all)
        self._last_answer = last_answer
        last_answer.changed.connect(self._rest_all)

    def _rest_all(self) -> None:
        for bar in self.answers.values():
            self._rest(bar)

    def _rest(self, bar: AnswerBar) -> None:
        """The next press may still be meant for the request that was answered, if that is another one."""
        if self._last_answer and bar.request_id != self._last_answer.request_id:
            bar.pause(self._last_answer.at)

    def uncovered(self) -> None:
        """What lay over the page has gone, and the answers below it are seen only now."""
        for bar in self.answers.values():
            bar.uncovered()

    def _take_away(self, call_id: str, bar: AnswerBar) -> None:
        """Remove the answers of a call; the keys go back to the page."""
        self._hide(bar)
        bar.deleteLater()
        del self.answers[call_id]

    def _hide(self, bar: QWidget) -> None:
        if bar.isAncestorOf(bar.window().focusWidget() or bar.window()):
            self._area.setFocus(Qt.FocusReason.OtherFocusReason)
        bar.hide()

    def hover(self, index: int | None) -> None:
        """The pointer, or the keys, are at another message."""
        if index != self.hovered:
            self.hovered = index
            self._place_bar()
            self._area.viewport().update()

    def _place_bar(self) -> None:
        area = self._area
        top = next((y for index, y in area.visible() if index == self.hovered), None)
        message = area.page.messages[self.hovered] if self.hovered is not None and top is not None else None
        if message is None or top is None or message.item.live:
            self._hide(self.bar)
            return
        self.bar.setProperty("human", message.human)
        self.bar.show_for(message.item, message.item.message_id in self._pinned)
        x, width = area.column()
        y = top + area.look.px(16) - (2 if not message.human else area.look.px(14))
        left = x + width - self.bar.width() - (area.look.px(8) if message.human else 0)
        self.bar.move(self._beside_buttons(QPoint(left, max(2, y - 2)), self.hovered or 0, top))
        self.bar.show()
        self.bar.raise_()

    def _beside_buttons(self, place: QPoint, index: int, top: int) -> QPoint:
        """Where the bar stands: left of a button of the message itself, such as a code block's Copy."""
        area, bar = self._area, QRectF(place.x(), place.y(), self.bar.width(), self.bar.height())
        message, (x, _) = area.page.messages[index], area.span(index)
        for flow in message.flows_between(bar.top() - top, bar.bottom() - top):
            for piece in flow.pieces:
                at = QPointF(x + message.inner_x(), top + flow.y + piece.y)
                for spot in piece.spots():
                    rect = spot.rect.translated(at)
                    if spot.kind == "copy" and rect.intersects(bar):
                        return QPoint(round(rect.left() - bar.width() - area.look.px(4)), place.y())
        return place

    def _place_jump(self) -> None:
        area = self._area
        rest = area.verticalScrollBar().maximum() - area.offset()
        shown = not area.stick and rest > area.look.px(80)
        if shown:
            self.jump.adjustSize()
            x = (area.viewport().width() - self.jump.width()) // 2
            self.jump.move(x, area.viewport().height() - self.jump.height() - area.look.px(12))
            self.jump.raise_()
        self.jump.setVisible(shown)

    def draw_footer(self, canvas: Canvas, index: int, x: int, y: int) -> None:
        """What a reply cost, beside the actions of the message under the pointer; that a message is pinned."""
        self._draw_pin(canvas, index, y)
        message, look = self._area.page.messages[index], self._area.look
        item = message.item
        if index == self.hovered and item.footer and item.side != "human" and self.bar.isVisible():
            right = self.bar.x() - look.px(8) - x
            words, begin = footer_line(message, look, right)
            place = QRectF(x + begin, y + look.px(16), right - begin, look.px(20))
            canvas.words(words, place, "small", "text-3", right=True)

    def _draw_pin(self, canvas: Canvas, index: int, y: int) -> None:
        """On a pinned message, where its actions will stand."""
        message, look = self._area.page.messages[index], self._area.look
        if message.item.message_id in self._pinned and not (index == self.hovered and self.bar.isVisible()):
            x, width = self._area.column()
            right = x + width - look.px(8 if message.human else 0)
            canvas.glyph("pin", "accent", right - look.px(19), y + look.px(21 if message.human else 18), 14)

    def actions(self, index: int) -> list[tuple[str, str]]:
        """(action, words) for a message, for its menu."""
        item = self._area.page.messages[index].item
        words = {name: does for name, (_, does) in MESSAGE_ACTIONS.items()}
        if item.message_id in self._pinned:
            words["pin"] = UNPIN
        return [] if item.live else [(name, words[name]) for name in actions_of(item)]

    def forget(self) -> None:
        """Remove everything that lay over the messages, because other ones are shown."""
        for call_id, bar in list(self.answers.items()):
            self._take_away(call_id, bar)
        self.hovered = None
        self._hide(self.bar)
