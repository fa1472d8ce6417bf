"""Images and sounds that a tool gave, at the end of its call's card: small pictures, chips, and a way to save each.

The bytes are a stranger's: they are decoded in a worker thread, never larger than they are drawn. Until then, and for
what is no image or too large a one, there is a chip with its name.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QImage, QPainter

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.transcript.items import MediaPart
from desktop.ui.theme.raster_images import fitted, raster_image
from desktop.ui.transcript.pieces.base import Canvas, Spot
from desktop.ui.transcript.pieces.look import PageLook

RunInThread = Callable[[Callable[[], Any], Callable[[Any], None]], None]
WIDTH, HEIGHT = 360, 240
"""Of a picture on a card, at 100 %."""
CHIP, LINE, GAP = 32, 24, 6
KEPT = 60
SAVE, PLAY, LARGE, COPY = "save-media:", "play-media:", "open-picture:", "copy-picture:"
"""What the actions begin with that save one, save a sound for the system's player, open an image large or copy it; its
part's id follows."""


class Pictures(QObject):
    """The cache of decoded pictures. ``ready`` when more can be drawn."""

    ready = Signal()

    def __init__(self, run: RunInThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self._known: OrderedDict[tuple[str, int, int], QImage | None] = OrderedDict()
        self._asked: set[tuple[str, int, int]] = set()

    def get(self, part: MediaPart, room: QSize) -> QImage | None:
        """The picture at most this large, or None while there is none."""
        key = (part.part_id, room.width(), room.height())
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        if key not in self._asked:
            self._asked.add(key)
            self._run(lambda: raster_image(part.whole, room), lambda found: self._arrived(key, found))
        return None

    def _arrived(self, key: tuple[str, int, int], found: QImage | None) -> None:
        self._asked.discard(key)
        self._known[key] = found
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        self.ready.emit()


@dataclass(frozen=True, slots=True)
class PlacedMedia:
    """One of them on the card: ``rect`` of the picture or chip, relative to the card."""

    part: MediaPart
    rect: QRectF
    image: QImage | None
    spots: tuple[Spot, ...]


class MediaStrip:
    """All of one card, under each other."""

    def __init__(self, parts: Sequence[MediaPart], pictures: Pictures | None) -> None:
        self._parts, self._pictures = parts, pictures
        self._placed: list[PlacedMedia] = []

    def lay_out(self, look: PageLook, x: float, y: float, width: float) -> float:
        """Lay the media out from ``y`` on; returns where they end."""
        self._placed = []
        for part in self._parts:
            image = self._image(look, part, width)
            if image is not None:
                room = QSize(min(look.px(WIDTH), max(1, int(width))), look.px(HEIGHT))
                rect = QRectF(QPointF(x, y), QSizeF(fitted(image.size(), room)))
            else:
                metrics = look.metrics("small")
                words = metrics.horizontalAdvance(f"{part.name}  {part.facts}") + look.px(52)
                rect = QRectF(x, y, min(width, words), look.px(CHIP))
            spots = _spots(look, part, x, rect.bottom() + look.px(2))
            if image is not None:
                spots = (large_spot(part, rect), *spots)
            self._placed.append(PlacedMedia(part, rect, image, spots))
            y = rect.bottom() + look.px(2 + LINE + GAP)
        return y

    def _image(self, look: PageLook, part: MediaPart, width: float) -> QImage | None:
        if not part.is_image or self._pictures is None:
            return None
        return self._pictures.get(part, QSize(min(look.px(WIDTH), max(1, int(width))) * 2, look.px(HEIGHT) * 2))

    @property
    def words(self) -> str:
        """For a screen reader, and the text of the card."""
        return "\n".join(f"{part.name}, {part.facts}" for part in self._parts)

    def spots(self) -> list[Spot]:
        """A way to save each, and to hear a sound."""
        return [spot for placed in self._placed for spot in placed.spots]

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        """Draw pictures and chips; their spots are drawn by the card."""
        look = canvas.look
        for placed in self._placed:
            rect = placed.rect.translated(origin)
            if placed.image is not None:
                canvas.painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
                canvas.painter.drawImage(rect, placed.image)
                continue
            canvas.frame(rect, "surface", "border")
            canvas.glyph("file", "text-2", rect.x() + look.px(8), rect.y() + look.px(8), 16)
            words = f"{placed.part.name}  {placed.part.facts}"
            shown = look.metrics("small").elidedText(words, Qt.TextElideMode.ElideMiddle, rect.width() - look.px(40))
            canvas.words(shown, rect.adjusted(look.px(30), 0, 0, 0), "small", "text-2")


def large_spot(part: MediaPart, rect: QRectF) -> Spot:
    """The picture itself, which opens large when it is pressed."""
    label = f"Open {part.name} large, {part.facts}"
    return Spot("action", f"{part.part_id}/{LARGE}", rect, label, f"{LARGE}{part.part_id}")


def _spots(look: PageLook, part: MediaPart, x: float, y: float) -> tuple[Spot, ...]:
    labels = [("Save image…", SAVE), ("Copy", COPY)] if part.is_image else [("Save sound…", SAVE)]
    labels += [] if part.is_image else [("Save and play…", PLAY)]
    found: list[Spot] = []
    left = x - look.px(8)
    for label, action in labels:
        room = look.metrics("small", 500).horizontalAdvance(label) + look.px(16)
        rect = QRectF(left, y, room, look.px(LINE))
        found.append(Spot("action", f"{part.part_id}/{action}", rect, label, f"{action}{part.part_id}"))
        left += room
    return tuple(found)
