"""Icons: the 20-pixel outline family of ``resources/icons``, drawn in any token's colour at any size, cached.

A file is read on first use; its ``currentColor`` becomes the asked colour and its stroke is raised for small sizes.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6 import QtGui
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from desktop.ui.theme.resources import ICONS

MIRRORED = frozenset({"left", "right", "undo"})
"""Icons that point along the reading direction."""

SMALL = 16
SMALL_STROKE = "1.7"


@lru_cache(maxsize=256)
def _source(name: str) -> str:
    return (ICONS / f"{name}.svg").read_text(encoding="utf-8")


class IconCache:
    """Pixmaps by (name, colour, size, ratio)."""

    def __init__(self) -> None:
        self._pixmaps: dict[tuple[str, int, int, float], QPixmap] = {}

    def pixmap(self, name: str, color: QColor, size: int, ratio: float) -> QPixmap:
        """The icon as a square of ``size`` logical pixels at the device pixel ratio."""
        key = (name, color.rgba(), size, ratio)
        found = self._pixmaps.get(key)
        if found is None:
            found = self._pixmaps[key] = _render(name, color, size, ratio)
        return found

    def mark(self, ink: QColor, tick: QColor, size: int, ratio: float) -> QPixmap:
        """The mark of Assent: ink, with its tick in the colour of a yes."""
        key = (f"mark {tick.name()}", ink.rgba(), size, ratio)
        found = self._pixmaps.get(key)
        if found is None:
            svg = _source("mark").replace("currentColor", ink.name())
            head, _, tail = svg.rpartition("<path ")
            found = self._pixmaps[key] = _draw(f'{head}<path stroke="{tick.name()}" {tail}', size, ratio)
        return found


def _render(name: str, color: QColor, size: int, ratio: float) -> QPixmap:
    svg = _source(name).replace("currentColor", color.name())
    if size <= SMALL:
        svg = svg.replace('stroke-width="1.5"', f'stroke-width="{SMALL_STROKE}"')
    pixmap = _draw(svg, size, ratio, color.alphaF())
    if name in MIRRORED and QGuiApplication.isRightToLeft():
        pixmap = pixmap.transformed(QtGui.QTransform.fromScale(-1, 1))
        pixmap.setDevicePixelRatio(ratio)
    return pixmap


def _draw(svg: str, size: int, ratio: float, opacity: float = 1.0) -> QPixmap:
    side = max(1, round(size * ratio))
    pixmap = QPixmap(side, side)
    pixmap.fill(QColor(0, 0, 0, 0))
    painter = QPainter(pixmap)
    painter.setOpacity(opacity)
    QSvgRenderer(svg.encode()).render(painter, QRectF(0, 0, side, side))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
