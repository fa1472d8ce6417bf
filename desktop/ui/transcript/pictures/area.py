"""Where a picture is looked at: as a whole, at its own size, or nearer and moved about.

It is decoded and made smaller in a thread. What is enlarged is only what is seen of it, point by point.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.presenter.transcript.items import MediaPart
from desktop.ui.theme import theme
from desktop.ui.theme.paint import outline
from desktop.ui.theme.raster_images import raster_image
from desktop.ui.transcript.pictures.copying import WHOLE
from desktop.ui.transcript.pieces.pooled import Pool

STEP, NEAREST, FARTHEST = 1.25, 8.0, 0.05
ARROWS = {
    Qt.Key.Key_Left: QPoint(1, 0),
    Qt.Key.Key_Right: QPoint(-1, 0),
    Qt.Key.Key_Up: QPoint(0, 1),
    Qt.Key.Key_Down: QPoint(0, -1),
}
MOVE = 60
SQUARE = 8


class PictureArea(QWidget):
    """``scaled`` with how large it is shown, in percent of its own size."""

    scaled = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._pool = Pool(self)
        self._image, self._smaller = QImage(), QImage()
        self._asked = QSize()
        self._wanted, self._problem = 0, ""
        self._factor = 0.0
        """Points on the screen for each of the picture; 0: as it fits."""
        self._middle = QPointF()
        self._held: QPoint | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(theme().px(80))

    @property
    def image(self) -> QImage:
        """The picture; null until it was read, and where it cannot be."""
        return self._image

    def show_picture(self, part: MediaPart, words: str) -> None:
        """Show another picture, as it fits; ``words`` for a screen reader."""
        self._wanted += 1
        wanted = self._wanted
        self._image, self._smaller, self._factor, self._problem = QImage(), QImage(), 0.0, ""
        self._asked = QSize()
        self.setAccessibleName(words)
        self.update()

        def arrived(found: QImage | None) -> None:
            if wanted != self._wanted:
                return
            if found is None:
                self._problem = "This picture cannot be shown."
            else:
                self._image = found
            self._fitted()

        self._pool.run(lambda: raster_image(part.whole, WHOLE), arrived)

    # -- how it is seen -----------------------------------------------------------------------------------------------

    @property
    def factor(self) -> float:
        """Points on the screen for each of the picture."""
        if self._factor or self._image.isNull():
            return self._factor or 1.0
        room = QSizeF(self.size()) * self.devicePixelRatioF()
        whole = self._image.size()
        return min(1.0, room.width() / whole.width(), room.height() / whole.height())

    def show_whole(self) -> None:
        """As it fits, never enlarged."""
        self._see(0.0)

    def show_own_size(self) -> None:
        """A point for a point."""
        self._see(1.0)

    def zoom(self, steps: int) -> None:
        """Nearer, or with less than 0 steps farther."""
        self._see(min(max(FARTHEST, self.factor * STEP**steps), NEAREST))

    def _see(self, factor: float) -> None:
        if not self._factor:
            self._middle = QPointF(self._image.width() / 2, self._image.height() / 2)
        self._factor = factor
        self._fitted()

    def _fitted(self) -> None:
        """Tell how large it is shown, and have it made as small as that in a thread."""
        self._keep_near()
        self.update()
        if self._image.isNull():
            return
        self.scaled.emit(max(1, round(self.factor * 100)))
        size = (QSizeF(self._image.size()) * self.factor).toSize().expandedTo(QSize(1, 1))
        if self.factor >= 1.0 or size == self._asked:
            return
        self._asked, image, wanted = size, self._image, self._wanted
        if size != self._smaller.size():
            ignore, smooth = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation

            def arrived(found: QImage | None) -> None:
                is_wanted = size == self._asked or self._smaller.isNull()
                if wanted == self._wanted and is_wanted and found is not None:
                    self._smaller = found
                    self.update()

            self._pool.run(lambda: image.scaled(size, ignore, smooth), arrived)

    def _place(self) -> QRectF:
        """Where the picture lies, in points of the screen."""
        size = QSizeF(self._image.size()) * self.factor
        room = QSizeF(self.size()) * self.devicePixelRatioF()
        if not self._factor:
            corner = QPointF((room.width() - size.width()) / 2, (room.height() - size.height()) / 2)
        else:
            middle = self._middle * self.factor
            corner = QPointF(room.width() / 2 - middle.x(), room.height() / 2 - middle.y())
        return QRectF(QPointF(round(corner.x()), round(corner.y())), size)

    def _keep_near(self) -> None:
        """Its middle stays where something of it is seen; what fits stays in the middle."""
        if not self._factor or self._image.isNull():
            return
        room, whole = QSizeF(self.size()) * (self.devicePixelRatioF() / self.factor), QSizeF(self._image.size())

        def kept(at: float, seen: float, all_of_it: float) -> float:
            return all_of_it / 2 if seen >= all_of_it else min(max(seen / 2, at), all_of_it - seen / 2)

        x = kept(self._middle.x(), room.width(), whole.width())
        self._middle = QPointF(x, kept(self._middle.y(), room.height(), whole.height()))

    def _move(self, by: QPoint) -> None:
        self._middle -= QPointF(by) * (self.devicePixelRatioF() / self.factor)
        self._keep_near()
        self.update()

    @property
    def is_larger(self) -> bool:
        """Whether more of it is there than is seen."""
        place, ratio = self._place(), self.devicePixelRatioF()
        return place.width() > self.width() * ratio + 1 or place.height() > self.height() * ratio + 1

    # -- events -------------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What fits is made to fit again."""
        super().resizeEvent(event)
        self._fitted()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move what is larger than the room."""
        way = ARROWS.get(Qt.Key(event.key()))
        if way is not None and self.is_larger:
            self._move(way * theme().px(MOVE))
        else:
            event.ignore()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """With Ctrl nearer and farther, without it up and down."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if event.angleDelta().y() > 0 else -1)
        else:
            self._move(event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta() / 2)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """What is larger than the room is taken hold of."""
        self._held = event.position().toPoint() if self.is_larger else None
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """And moved."""
        if self._held is not None:
            at = event.position().toPoint()
            self._move(at - self._held)
            self._held = at

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """And let go."""
        self._held = None
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Between its own size and as it fits."""
        self.show_whole() if self._factor else self.show_own_size()
        event.accept()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture on squares where it is clear, and a frame while the keys are here."""
        t, painter = theme(), QPainter(self)
        painter.fillRect(self.rect(), t.color("sunken"))
        if self._image.isNull():
            painter.setPen(t.color("text-2"))
            painter.setFont(t.font("body"))
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self._problem)
        else:
            self._paint(painter)
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            outline(painter, QRectF(self.rect()), t.metric("radius-control"), t.color("accent"), 2.0)

    def _paint(self, painter: QPainter) -> None:
        ratio = self.devicePixelRatioF()
        place = self._place()
        painter.save()
        painter.scale(1 / ratio, 1 / ratio)
        room = QRectF(QPointF(), QSizeF(self.size()) * ratio)
        seen = place.intersected(room)
        if self._image.hasAlphaChannel() and not (self.factor < 1.0 and self._smaller.isNull()):
            _squares(painter, seen.toRect(), round(theme().px(SQUARE) * ratio))
        if self.factor < 1.0:  # the whole picture is not walked over here: until it is made smaller, what was is seen
            if self._smaller.size() == place.size().toSize():
                painter.drawImage(place.topLeft(), self._smaller)
            else:
                painter.drawImage(place, self._smaller)
        else:
            factor = self.factor
            source = QRectF((seen.topLeft() - place.topLeft()) / factor, seen.size() / factor)
            painter.drawImage(seen, self._image, source)
        painter.restore()


def _squares(painter: QPainter, place: QRect, side: int) -> None:
    """The ground of what is clear."""
    t = theme()
    painter.fillRect(place, t.color("surface"))
    tile = QImage(2 * side, 2 * side, QImage.Format.Format_RGB32)
    tile.fill(t.color("surface"))
    dark = QPainter(tile)
    for x, y in ((0, 0), (side, side)):
        dark.fillRect(x, y, side, side, QColor(t.color("hover")))
    dark.end()
    painter.save()
    painter.setClipRect(place)
    painter.setBrushOrigin(place.topLeft())
    from_image = painter.brush()
    from_image.setTextureImage(tile)
    painter.fillRect(place, from_image)
    painter.restore()
