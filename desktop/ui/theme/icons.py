"""Icons: the 20-pixel outline family of ``resources/icons``, drawn in any token's colour at any size, cached.

A file is read on first use; its ``currentColor`` becomes the asked colour and its stroke is raised for small sizes. All
of them are read once the window stands (``read_all``): an installer may exchange the files under a running app.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import lru_cache

from PySide6 import QtCore, QtGui
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from desktop.ui.theme.agent_looks import PREFIX, AgentLook
from desktop.ui.theme.resources import ICONS

logger = logging.getLogger(__name__)

MIRRORED = frozenset({"left", "right", "undo"})
"""Icons that point along the reading direction."""

SMALL = 16
SMALL_STROKE = "1.7"


@lru_cache(maxsize=256)
def _source(name: str) -> str:
    return (ICONS / f"{name}.svg").read_text(encoding="utf-8")


def read_all() -> None:
    """Read every icon that was not used yet; a few milliseconds, for a thread. One that cannot be read is left out."""
    for file in ICONS.glob("*.svg"):
        try:
            _source(file.stem)
        except OSError:
            continue


class IconCache:
    """Pixmaps by (name, colour, size, ratio)."""

    def __init__(self) -> None:
        self._pixmaps: dict[tuple[str, int, int, float], QPixmap] = {}
        self.agents: Mapping[str, AgentLook] = {}

    def set_agents(self, looks: Mapping[str, AgentLook]) -> None:
        """What is drawn for agents from now on, by their name or title."""
        self.agents = dict(looks)
        self._pixmaps = {key: made for key, made in self._pixmaps.items() if not key[0].startswith(PREFIX)}

    def pixmap(self, name: str, color: QColor, size: int, ratio: float) -> QPixmap:
        """The icon as a square of ``size`` logical pixels at the device pixel ratio; an empty one, until the next time,
        where its file cannot be read: an error in the middle of painting would take the window along."""
        key = (name, color.rgba(), size, ratio)
        found = self._pixmaps.get(key)
        if found is None:
            try:
                found = self._pixmaps[key] = self._drawn(name, color, size, ratio)
            except OSError as error:
                logger.warning("the icon %r cannot be read: %s", name, type(error).__name__)
                found = _empty(size, ratio)
        return found

    def _drawn(self, name: str, color: QColor, size: int, ratio: float) -> QPixmap:
        if not name.startswith(PREFIX):
            return _render(name, color, size, ratio)
        _, usual, agent = name.split(":", 2)
        look = self.agents.get(agent)
        if look is None or look.bundled:
            return _render(look.bundled if look is not None else usual, color, size, ratio)
        return _tile(look, color, size, ratio)

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


def _empty(size: int, ratio: float) -> QPixmap:
    side = max(1, round(size * ratio))
    pixmap = QPixmap(side, side)
    pixmap.fill(QColor(0, 0, 0, 0))
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def _tile(look: AgentLook, color: QColor, size: int, ratio: float) -> QPixmap:
    """An agent's own picture, or its letter on a soft ground."""
    side = max(1, round(size * ratio))
    pixmap = QPixmap(side, side)
    pixmap.fill(QColor(0, 0, 0, 0))
    painter = QPainter(pixmap)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    if look.image is not None:
        image = look.image.scaled(
            side, side, QtCore.Qt.AspectRatioMode.KeepAspectRatio, QtCore.Qt.TransformationMode.SmoothTransformation
        )
        painter.drawImage((side - image.width()) // 2, (side - image.height()) // 2, image)
    else:
        ground = QColor(color)
        ground.setAlphaF(0.18)
        painter.setPen(QtCore.Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(QRectF(0, 0, side, side), side / 4, side / 4)
        font = QFont(QGuiApplication.font())
        font.setPixelSize(max(6, round(side * 0.65)))
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(color)
        painter.drawText(QRectF(0, 0, side, side), int(QtCore.Qt.AlignmentFlag.AlignCenter), look.letter)
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
