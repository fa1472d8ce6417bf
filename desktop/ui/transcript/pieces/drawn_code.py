"""A block of code that is shown as what it draws: its head with Drawing, Text and Copy, and the drawing below."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from desktop.domain.fences.drawing import Drawing
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.transcript.colours.finished import CodeBlock
from desktop.ui.transcript.drawings.shown import FenceDrawings
from desktop.ui.transcript.pieces.base import Canvas, Spot
from desktop.ui.transcript.pieces.look import PageLook

USUAL, LEAST = 0.92, 0.68
"""How large a drawing is shown where there is room, and at least: what is wider then is scrolled sideways."""
TALLEST = 4_000.0
"""Pixels of a drawing that is shown, at 100 %."""
PAD = 14
WORDS = ("Drawing", "Text")


@dataclass(slots=True)
class DrawnPlace:
    """Where a drawing is in its frame."""

    scale: float = 1.0
    """How large it is drawn."""
    size: tuple[float, float] = (0.0, 0.0)
    """Pixels across and down."""


def place_of(drawing: Drawing, look: PageLook, room: float) -> DrawnPlace:
    """As wide as it is, or as there is room for."""
    usual, least = USUAL * look.scale, LEAST * look.scale
    scale = max(least, min(usual, room / drawing.width))
    scale = min(scale, TALLEST * look.scale / drawing.height)
    return DrawnPlace(scale, (drawing.width * scale, drawing.height * scale))


def choice_spots(look: PageLook, key: str, code: CodeBlock, right: float) -> list[Spot]:
    """Drawing and Text beside each other, ending at ``right``."""
    spots: list[Spot] = []
    for word in reversed(WORDS):
        width = round(look.metrics("small", 500).horizontalAdvance(word)) + look.px(18)
        right -= width
        is_text = word == WORDS[1]
        chosen = is_text == code.as_text
        rect = QRectF(right, look.px(5) + 1, width, look.px(22))
        label = f"Show as {word.casefold()}"
        if chosen:
            label = f"Shown as {word.casefold()}" + (f": {code.drawn.spoken}" if code.drawn else "")
        payload = f"{'text' if is_text else 'drawing'} {code.drawing_key}"
        spots.append(Spot("shown", f"{key}/{word}", rect, label, payload))
    return spots[::-1]


def draw_choice(canvas: Canvas, spots: list[Spot], origin: QPointF, as_text: bool) -> None:
    """The two words in their frame, the chosen one raised."""
    look, painter = canvas.look, canvas.painter
    whole = spots[0].rect.united(spots[-1].rect).translated(origin)
    canvas.frame(whole, "", "border-strong")
    for spot, word in zip(spots, WORDS, strict=True):
        rect = spot.rect.translated(origin)
        chosen = (word == WORDS[1]) == as_text
        if chosen:
            canvas.frame(rect, "surface", "border-strong")
        if spot.key == canvas.focus:
            canvas.ring(rect)
        painter.setFont(look.font("small", 500))
        painter.setPen(look.color("text" if chosen or spot.key == canvas.hover else "text-2"))
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine), word)


def draw_picture(
    canvas: Canvas, drawings: FenceDrawings, key: str, drawing: Drawing, place: DrawnPlace, left: float, top: float
) -> None:
    """The picture, once it is painted."""
    image = drawings.picture(key, drawing, canvas.look.theme, place.scale, canvas.ratio)
    if image is None:
        return
    target = QRectF(round(left), round(top), *place.size)
    painter = canvas.painter
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(target, image)
    painter.restore()
