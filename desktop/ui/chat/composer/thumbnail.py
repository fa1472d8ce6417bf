"""A small picture of an attached image. It is read in a thread, and never larger than it is shown."""

from __future__ import annotations

import base64
from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from shiboken6 import isValid

from desktop.domain.messages import ImageBlock
from desktop.ui.theme import theme
from desktop.ui.theme.paint import glyph, outline
from desktop.ui.theme.raster_images import raster_image
from desktop.ui.widgets.never_cut import NeverCut

SIDE = 40
Run = Callable[[Callable[[], object], Callable[[object], None]], None]


class Thumbnail(NeverCut, QWidget):
    """``run`` does work in a thread and gives its result here. What cannot be read shows the sign of a file."""

    def __init__(self, block: ImageBlock, run: Run, side: int = SIDE) -> None:
        super().__init__()
        self._side = side
        self._image = QImage()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"Picture {block.name}".strip())
        pixels = round(theme().px(side) * self.devicePixelRatioF())
        run(lambda: small_image(block.data, pixels), self._arrived)

    @property
    def image(self) -> QImage:
        """The image; null until it was read, and where it cannot be."""
        return self._image

    def sizeHint(self) -> QSize:
        """A square."""
        return QSize(theme().px(self._side), theme().px(self._side))

    def _arrived(self, image: object) -> None:
        if isValid(self) and isinstance(image, QImage):
            self._image = image
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The middle of the picture, with round corners."""
        t = theme()
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        box, radius = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), t.metric("radius-control")
        if self._image.isNull():
            glyph(painter, self.rect(), "file", "text-2", t.px(16))
        else:
            path = QPainterPath()
            path.addRoundedRect(box, radius, radius)
            painter.setClipPath(path)
            painter.drawImage(self.rect(), self._image)
            painter.setClipping(False)
        outline(painter, box, radius, t.color("border"))


def small_image(data: str, side: int) -> QImage | None:
    """The middle square of a base64 image at ``side`` pixels; None where it is none. Runs in a thread."""
    try:
        raw = base64.b64decode(data, validate=True)
    except ValueError:
        return None
    return raster_image(raw, QSize(side, side), cover=True)
