"""Around a message: its header or block, the card of a debate's side, the arrows to its other versions."""

from __future__ import annotations

from typing import Literal, Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.transcript.items import TranscriptItem
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.theme.paint import side_bar
from desktop.ui.transcript.flow import PieceTools
from desktop.ui.transcript.pieces.base import Canvas, Spot
from desktop.ui.transcript.pieces.look import PageLook

Variant = Literal["chat", "side"]
GAP = 16
HEADER = 20
HEADER_GAP = 8
BLOCK_X, BLOCK_Y = 16, 9
SIDE_X, SIDE_Y = 19, 11
SIBLING_ROW = 24
ACTIONS, CLOCK = 66, 140
"""Pixels at 100 %."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a message needs to lay itself out: fonts and sizes, shared tools, column width, variant."""

    look: PageLook
    tools: PieceTools
    width: float
    variant: Variant = "chat"


class Framed(Protocol):
    """A message with its frame. ``frame`` is None until it is laid out; ``own_spots`` are the arrows to other
    versions."""

    item: TranscriptItem
    frame: Frame | None
    own_spots: list[Spot]

    @property
    def human(self) -> bool:
        """Whether a person wrote it."""
        ...

    @property
    def height(self) -> int:
        """Height of the whole message, in pixels."""
        ...


def draw_frame(canvas: Canvas, message: Framed, x: float, y: float) -> None:
    """Header or block, and the arrows."""
    look, item = canvas.look, message.item
    assert message.frame is not None
    width, gap = message.frame.width, look.px(GAP)
    if message.human:
        foot = look.px(SIBLING_ROW + 4) if item.siblings > 1 else 0
        side = message.frame.variant == "side"
        canvas.frame(QRectF(x, y + gap, width, message.height - gap - foot), "bg", "border" if side else "")
        if side:
            _draw_header(canvas, message, x, y + gap + look.px(6))
    else:
        _draw_header(canvas, message, x, y + gap)
        if message.frame.variant == "side":
            top = gap + look.px(HEADER + HEADER_GAP)
            card = QRectF(x, y + top, width, message.height - top)
            canvas.frame(card, "surface", "border")
            side_bar(canvas.painter, card, look.px(8), look.color(f"side-{item.side}"), look.px(3))
    for spot in message.own_spots:
        canvas.hover_fill(spot, QPointF(x, y))
        middle = spot.rect.translated(x, y)
        if spot.kind in ("previous", "next"):
            name = "left" if spot.kind == "previous" else "right"
            canvas.glyph(name, "text-2", middle.x() + look.px(5), middle.y() + look.px(5), 14)
    if len(message.own_spots) == 2:
        first, last = message.own_spots[0].rect.translated(x, y), message.own_spots[1].rect.translated(x, y)
        box = QRectF(first.right(), first.y(), last.x() - first.right(), first.height())
        words = f"{item.sibling} / {item.siblings}"
        canvas.painter.setFont(look.font("small"))
        canvas.painter.setPen(look.color("text-2"))
        canvas.painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), words)


@dataclass(frozen=True, slots=True)
class HeadLine:
    """What the header of a message says, and where, from its left edge: a turn's is cut to the room that its actions,
    or what it is doing now, leave; words of its facts are whole or not there."""

    author: str
    time: str
    author_x: float
    time_x: float
    end: float


def head_line(message: Framed, look: PageLook) -> HeadLine:
    """The header as it is drawn."""
    item, frame = message.item, message.frame
    assert frame is not None
    side, small = frame.variant == "side", look.metrics("small")
    role = look.metrics("small", 600) if side else look.metrics("reading", 600)
    left = float(look.px(BLOCK_X) if side and message.human else 0 if side else author_indent(message, look))
    room = frame.width - left - (look.px(CLOCK if item.live else ACTIONS) if side else 0)
    author = role.elidedText(item.author, Qt.TextElideMode.ElideRight, room) if side else item.author
    time_x = left + role.horizontalAdvance(author) + look.px(9)
    time = whole_words(item.time, small, left + room - time_x, last=True) if side else item.time
    return HeadLine(author, time, left, time_x, time_x + small.horizontalAdvance(time))


def whole_words(text: str, metrics: QFontMetricsF, room: float, *, last: bool = False) -> str:
    """Shorten facts with commas between until they fit; the first are dropped first, or the ``last``."""
    facts = text.split(", ") if text else []
    while facts and metrics.horizontalAdvance(", ".join(facts)) > room:
        facts.pop(-1 if last else 0)
    return ", ".join(facts)


def footer_line(message: Framed, look: PageLook, right: float) -> tuple[str, float]:
    """(what it cost, where that may begin): between its header and ``right``, where its actions are."""
    begin = max([head_line(message, look).end, *(spot.rect.right() for spot in message.own_spots)]) + look.px(12)
    return whole_words(message.item.footer, look.metrics("small"), right - begin), begin


def _draw_header(canvas: Canvas, message: Framed, x: float, y: float) -> None:
    look, item, line = canvas.look, message.item, head_line(message, canvas.look)
    side, height = message.frame is not None and message.frame.variant == "side", look.px(HEADER)
    token = f"side-{item.side}" if side and not message.human else "text"
    if line.author_x and not side:
        canvas.glyph(agent_icon(item.author), "text-2", x, y + look.px(1), 18)
    width = message.frame.width if message.frame is not None else 0
    role = "small" if side else "reading"
    canvas.words(line.author, QRectF(x + line.author_x, y, width, height), role, token, 600)
    canvas.words(line.time, QRectF(x + line.time_x, y + 1, width, height), "small", "text-3")


def author_indent(message: Framed, look: PageLook) -> int:
    """The room of the icon before who answered, if that agent has one."""
    return look.px(24) if not message.human and look.theme.has_agent(message.item.author) else 0


def version_spots(message: Framed, look: PageLook) -> list[Spot]:
    """The arrows to other versions of this message."""
    item = message.item
    if item.siblings < 2 or message.frame is None:
        return []
    small, side = look.metrics("small"), look.px(24)
    words = small.horizontalAdvance(f"{item.siblings} / {item.siblings}") + look.px(8)
    if message.human:
        left, top = message.frame.width - 2 * side - words, float(message.height - look.px(SIBLING_ROW))
    else:
        author = look.metrics("reading", 600).horizontalAdvance(item.author)
        left = author_indent(message, look) + author + small.horizontalAdvance(item.time) + look.px(24)
        top = look.px(GAP) - look.px(2)
    back, ahead = QRectF(left, top, side, side), QRectF(left + side + words, top, side, side)
    key = item.message_id
    return [
        Spot("previous", f"{key}/previous", back, f"Previous version, {item.sibling} of {item.siblings}", key),
        Spot("next", f"{key}/next", ahead, f"Next version, {item.sibling} of {item.siblings}", key),
    ]
