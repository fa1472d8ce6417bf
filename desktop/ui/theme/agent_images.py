"""An image file of an agent, decoded as what it is: hostile until proven harmless (D-9).

It is decoded once, outside the Qt thread, within caps of bytes and pixels. Of SVG only shapes are drawn: nothing that
refers, embeds, animates or scripts.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from desktop.ui.theme.raster_images import raster_format, raster_image

IMAGE_BYTES, SVG_BYTES, IMAGE_PIXELS, SIDE = 512_000, 32_000, 2048 * 2048, 128
"""Caps of a file, of its text if it is SVG, of its pixels; and how large it is kept."""
_SHAPES = frozenset(("svg", "g", "path", "circle", "ellipse", "rect", "line", "polyline", "polygon", "title", "desc"))
_ATTRIBUTE = re.compile(r"on.*|href|style|class|id|src|.*url.*")
_SVG = "{http://www.w3.org/2000/svg}"


def decoded(data: bytes) -> QImage | None:
    """An image file, made small; None for what is none, is too large, or (SVG) holds more than shapes. Blocks."""
    if len(data) > IMAGE_BYTES:
        return None
    if raster_format(data):
        return raster_image(data, QSize(SIDE, SIDE), max_bytes=IMAGE_BYTES, max_pixels=IMAGE_PIXELS)
    return _drawing(data)


def _drawing(data: bytes) -> QImage | None:
    if len(data) > SVG_BYTES or b"<!" in data or b"<?xml-" in data or not _only_shapes(data):
        return None
    renderer = QSvgRenderer(QByteArray(data))
    if not renderer.isValid():
        return None
    image = QImage(SIDE, SIDE, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(QColor(0, 0, 0, 0))
    painter = QPainter(image)
    renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    renderer.render(painter, QRectF(0, 0, SIDE, SIDE))
    painter.end()
    return image


def _only_shapes(data: bytes) -> bool:
    """Without a document type there are no entities to expand, and Python's parser reads nothing else."""
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError):
        return False
    return (
        all(
            element.tag.removeprefix(_SVG) in _SHAPES
            and not any(
                _ATTRIBUTE.fullmatch(name.rpartition("}")[2].lower()) or "url" in value.lower() or ":" in value
                for name, value in element.attrib.items()
            )
            for element in root.iter()
        )
        and root.tag == f"{_SVG}svg"
    )
