"""LaTeX as pictures: ziamath makes an SVG in a worker thread; until it is there, the source shows. Drawings are cached.

``ziamath`` is heavy: it is imported in the worker, by ``_render`` only, on the first formula.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from math import floor
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QObject, QPointF, QRectF, QSizeF, Signal
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from desktop.domain.loading.lazy import lazy_module

# In a worker, at the first formula.
if TYPE_CHECKING:
    import ziafont
    import ziamath
else:
    ziafont = lazy_module("ziafont")
    ziamath = lazy_module("ziamath")

RunInThread = Callable[[Callable[[], Any], Callable[[Any], None]], None]
"""Runs the first callable in a worker thread and later calls the second with its result on the Qt thread."""
CACHED = 400
LONGEST = 2000
_SIZE = re.compile(r'viewBox="([-\d. ]+)"')


class Formula:
    """A drawing at font size 1: ``size`` and ``depth`` (below the baseline) are multiples of the font size."""

    def __init__(self, svg: str, size: QSizeF, depth: float) -> None:
        self._svg, self.size, self.depth = svg, size, depth
        self._images: dict[tuple[str, float, float], QImage] = {}

    def draw(self, painter: QPainter, corner: QPointF, color: QColor, font_px: float, ratio: float) -> None:
        """Draw it with its upper left corner in the pixel of the screen that is nearest to a point: between two pixels
        it would look different at each place that it is scrolled to."""
        x, y = (floor(value * ratio + 0.5) / ratio for value in (corner.x(), corner.y()))
        painter.drawImage(QPointF(x, y), self.image(color, font_px, ratio))

    def image(self, color: QColor, font_px: float, ratio: float) -> QImage:
        """The drawing in a colour."""
        key = (color.name(), font_px, ratio)
        found = self._images.get(key)
        if found is None:
            found = self._images[key] = self._draw(color, font_px, ratio)
        return found

    def _draw(self, color: QColor, font_px: float, ratio: float) -> QImage:
        width, height = self.size.width() * font_px * ratio, self.size.height() * font_px * ratio
        pixels = max(1, min(8000, round(width))), max(1, min(4000, round(height)))
        image = QImage(*pixels, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(0)
        painter = QPainter(image)
        svg = self._svg.replace("currentColor", color.name())
        QSvgRenderer(QByteArray(svg.encode())).render(painter, QRectF(0, 0, image.width(), image.height()))
        painter.end()
        image.setDevicePixelRatio(ratio)
        return image


class Formulas(QObject):
    """The cache of drawn formulas. ``ready`` after drawings arrived; a formula that cannot be drawn stays its
    source."""

    ready = Signal()

    def __init__(self, run_in_thread: RunInThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run = run_in_thread
        self._known: OrderedDict[tuple[str, bool], Formula | None] = OrderedDict()
        self._asked: set[tuple[str, bool]] = set()

    def get(self, latex: str, inline: bool) -> Formula | None:
        """The drawing, or None while there is none (it is then being made)."""
        key = (latex, inline)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        if key not in self._asked and len(latex) <= LONGEST:
            self._asked.add(key)
            self._run(lambda: _render(latex, inline), lambda result: self._arrived(key, result))
        return None

    def _arrived(self, key: tuple[str, bool], result: Any) -> None:
        self._asked.discard(key)
        self._known[key] = Formula(*result) if result else None
        while len(self._known) > CACHED:
            self._known.popitem(last=False)
        if result:
            self.ready.emit()


def has_formula(source: str) -> bool:
    """Whether a text may have formulas in it."""
    return "$" in source or "\\(" in source or "\\[" in source


def _render(latex: str, inline: bool) -> tuple[str, QSizeF, float] | None:
    """Draw a formula in a worker: (SVG, size, depth), at font size 1; None for what is not LaTeX we can set."""
    try:
        ziafont.config.svg2 = False  # plain paths: Qt's renderer knows no symbols
        svg = str(ziamath.Latex(latex, size=24, inline=inline, color="currentColor").svg())
    except Exception:  # a boundary: any text may stand between dollar signs, and the library raises what it likes
        return None
    match = _SIZE.search(svg)
    if match is None:
        return None
    _, top, width, height = (float(number) for number in match[1].split())
    if width <= 0 or height <= 0:
        return None
    return svg, QSizeF(width / 24, height / 24), (top + height) / 24
