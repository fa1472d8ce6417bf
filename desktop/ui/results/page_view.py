"""A drawn page, a picture or a page of a PDF: painted piece by piece as it comes into sight. Nothing in it can be
pressed."""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QImage, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea

from desktop.domain.files.results import DrawnSize
from desktop.ui.theme import theme
from desktop.ui.theme.paint import focus_ring
from desktop.ui.theme.raster_images import raster_image
from desktop.ui.transcript.pieces.pooled import Pool

AROUND = 16
"""Pixels around the page, at 100 %."""
KEPT = 12
"""Pieces that are held."""
MOST = QSize(10_000, 40_000)
STEP = 48


class PageView(QAbstractScrollArea):
    """``tile_wanted`` asks for a piece; ``room`` says how wide a page may be, in pixels of the screen at 100 %, and how
    many there are for each; ``turned`` by keys where there is nothing left to scroll."""

    tile_wanted = Signal(int)
    room = Signal(int, float)
    turned = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._pool = Pool(self)
        self._tiles: OrderedDict[int, QImage] = OrderedDict()
        self._asked: set[int] = set()
        self._size = DrawnSize(0, 0, 1)
        self._ratio = 1.0
        self._turn = 0
        self._paper = True
        self._ring = False
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme().changed.connect(self._fit)

    def show_drawn(self, size: DrawnSize, *, again: bool = False) -> None:
        """A page that is drawn; its pieces come when they are in sight. ``again``: the same at another width."""
        at = self.verticalScrollBar().value() / max(1, self.verticalScrollBar().maximum()) if again else 0.0
        self.clear()
        self._size, self._ratio, self._paper = size, self._pixels(), True
        self._fit()
        self.verticalScrollBar().setValue(round(at * self.verticalScrollBar().maximum()))

    def show_picture(self, data: bytes, *, paper: bool) -> None:
        """A picture as a whole. ``paper``: it is a page that is printed on white."""
        self.clear()
        self._paper, turn = paper, self._turn

        def done(image: QImage | None) -> None:
            if turn == self._turn:
                found = image if image is not None else QImage()
                self._size, self._ratio = DrawnSize(found.width(), found.height(), max(1, found.height())), 1.0
                self._tiles[0] = found
                self.setAccessibleDescription("" if image is not None else "It cannot be shown")
                self._fit()

        self._pool.run(lambda: raster_image(data, MOST), done)

    def clear(self) -> None:
        """Nothing, and nothing of what is under way."""
        self._turn += 1
        self._tiles.clear()
        self._asked.clear()
        self._size = DrawnSize(0, 0, 1)
        self.verticalScrollBar().setValue(0)
        self._fit()

    def take(self, number: int, png: bytes) -> None:
        """A piece that came; decoded in a thread."""
        turn = self._turn

        def done(image: QImage | None) -> None:
            if turn != self._turn or image is None:
                return
            self._tiles[number] = image
            self._asked.discard(number)
            while len(self._tiles) > KEPT:
                self._tiles.popitem(last=False)
            self.viewport().update()

        self._pool.run(lambda: raster_image(png, MOST), done)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _pixels(self) -> float:
        """Pixels of the screen for one of a page at 100 %."""
        return theme().scale * self.devicePixelRatioF()

    def _box(self) -> QRectF:
        """Where the page is, before it is scrolled."""
        around, room = theme().px(AROUND), self.viewport().width() - 2 * theme().px(AROUND)
        ratio = self.devicePixelRatioF()
        width, height = self._size.width / ratio, self._size.height / ratio
        if width > room > 0:
            width, height = float(room), height * room / width
        return QRectF(around + (room - width) / 2, around, width, height)

    def _fit(self) -> None:
        box = self._box()
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, round(box.height()) + 2 * theme().px(AROUND) - self.viewport().height()))
        bar.setPageStep(max(1, self.viewport().height() - theme().px(STEP)))
        bar.setSingleStep(theme().px(STEP))
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """There is another room."""
        super().resizeEvent(event)
        self._fit()
        pixels = self._pixels()
        wide = self.viewport().width() - 2 * theme().px(AROUND)
        self.room.emit(max(1, int(wide * self.devicePixelRatioF() / pixels)), pixels)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Repaint: only what is in sight costs anything."""
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The pieces in sight, with a hairline around the page."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self._size.width:
            box = self._box().translated(0, -self.verticalScrollBar().value())
            self._paint_tiles(painter, box)
            if self._paper:
                painter.setPen(QPen(theme().color("border"), 1))
                painter.drawRect(box.adjusted(0, 0, -1, -1))
        if self._ring:
            focus_ring(painter, QRectF(self.viewport().rect()), theme().px(6))

    def _paint_tiles(self, painter: QPainter, box: QRectF) -> None:
        shrunk = box.height() / max(1, self._size.height)
        tall = self._size.tile * shrunk
        sight = QRect(self.viewport().rect())
        first = max(0, int((sight.top() - box.top()) / tall))
        last = int((min(sight.bottom(), box.bottom()) - box.top()) / tall)
        for number in range(first, last + 1):
            image = self._tiles.get(number)
            if image is None:
                self._ask(number)
                continue
            self._tiles.move_to_end(number)
            if not image.isNull():
                top = box.top() + number * tall
                painter.drawImage(QRectF(box.left(), top, box.width(), image.height() * shrunk), image)

    def _ask(self, number: int) -> None:
        if number not in self._asked and 0 <= number * self._size.tile < self._size.height:
            self._asked.add(number)
            self.tile_wanted.emit(number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll; past the end, turn the page."""
        bar, key = self.verticalScrollBar(), Qt.Key(event.key())
        steps = {
            Qt.Key.Key_Down: bar.singleStep(),
            Qt.Key.Key_Up: -bar.singleStep(),
            Qt.Key.Key_PageDown: bar.pageStep(),
            Qt.Key.Key_Space: bar.pageStep(),
            Qt.Key.Key_PageUp: -bar.pageStep(),
        }
        ends = {Qt.Key.Key_Home: bar.minimum(), Qt.Key.Key_End: bar.maximum()}
        if key in ends:
            bar.setValue(ends[key])
        elif key in steps:
            before = bar.value()
            bar.setValue(before + steps[key])
            if bar.value() == before and key in (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp):
                self.turned.emit(1 if key == Qt.Key.Key_PageDown else -1)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Draw the ring where keys brought the focus here."""
        self._ring = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Draw no ring."""
        self._ring = False
        self.viewport().update()
