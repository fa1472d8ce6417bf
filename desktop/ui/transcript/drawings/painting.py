"""Paints a drawing into a picture, in any thread, in the colours and letters of one look."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPainterPath, QPen

from desktop.domain.fences.drawing import PAINTS, Drawing, Label, Shape, outlines
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.theme import Theme

PIXELS = 24_000_000
"""Points of one picture; a larger one is painted coarser."""
LEAST = 4


@dataclass(frozen=True, slots=True)
class PaintLook:
    """What painting needs of the theme, copied, so that no other thread asks it."""

    name: str
    """Tells looks apart."""
    colors: Mapping[str, QColor]
    """By token."""
    families: tuple[str, ...]
    """Of the letters."""

    @classmethod
    def of(cls, theme: Theme) -> PaintLook:
        """As the theme is now."""
        colors = {token: QColor(theme.color(token)) for token in PAINTS if token}
        name = " ".join((theme.mode, *(color.name() for color in colors.values())))
        return cls(name, colors, tuple(theme.families()))


def points_of(drawing: Drawing, scale: float, ratio: float) -> float:
    """Points of its picture, ``scale`` times as large, for a screen with so many points a pixel."""
    return drawing.width * drawing.height * (scale * ratio) ** 2


def paint(drawing: Drawing, look: PaintLook, scale: float, ratio: float, most: int = PIXELS) -> QImage:
    """The picture, with ``most`` points."""
    points = points_of(drawing, scale, ratio)
    finest = scale * ratio * min(1.0, (most / points) ** 0.5 if points else 1.0)
    wide, high = max(1, round(drawing.width * finest)), max(1, round(drawing.height * finest))
    image = QImage(wide, high, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    painter.scale(finest, finest)
    for mark in drawing.marks:
        if isinstance(mark, Shape):
            _shape(painter, mark, look)
        else:
            _label(painter, mark, look)
    painter.end()
    return image


def _shape(painter: QPainter, shape: Shape, look: PaintLook) -> None:
    path = QPainterPath()
    for step, at in outlines(shape):
        if step == "M":
            path.moveTo(at[0], at[1])
        elif step == "L":
            path.lineTo(at[0], at[1])
        elif step == "C":
            path.cubicTo(*at)
        else:
            path.closeSubpath()
    if shape.fill:
        painter.fillPath(path, look.colors[shape.fill])
    if shape.stroke and shape.width > 0:
        pen = QPen(look.colors[shape.stroke], shape.width)
        if shape.dashes:
            pen.setDashPattern([dash / shape.width for dash in shape.dashes])
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.strokePath(path, pen)


def _label(painter: QPainter, label: Label, look: PaintLook) -> None:
    font = QFont()
    font.setFamilies(list(look.families))
    font.setPixelSize(max(LEAST, round(label.size)))
    font.setWeight(QFont.Weight.DemiBold if label.bold else QFont.Weight.Normal)
    font.setItalic(label.italic)
    width = QFontMetricsF(font).horizontalAdvance(label.text)
    left = {"start": 0.0, "middle": -width / 2, "end": -width}[label.anchor]
    painter.save()
    painter.translate(label.x, label.y)
    painter.rotate(label.angle)
    painter.setFont(font)
    painter.setPen(look.colors[label.color or "text"])
    painter.drawText(QPointF(left, 0), label.text)
    painter.restore()
