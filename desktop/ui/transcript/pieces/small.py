"""Pieces that are neither Markdown nor calls: reasoning, notices with their buttons, attachments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage

from desktop.domain.text.words import size_words
from desktop.presenter.transcript.items import AttachmentPart, GivenPart, NoticePart, ReasoningPart
from desktop.ui.theme.raster_images import fitted
from desktop.ui.transcript.pieces.base import Canvas, Piece, PlacedBox, Spot
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.media_strip import Pictures, large_spot
from desktop.ui.transcript.pieces.text_box import TextBox
from desktop.ui.widgets.shown import shown_line

FOLD_HEIGHT = 24
TITLE_LEFT = 38
"""Behind the arrow and the glyph."""
REASONING_CHUNK = 2000
REASONING_SHOWN = 40_000
SEVERITIES = {
    "info": ("info", "info-soft", "info"),
    "warning": ("ask", "ask-soft", "ask"),
    "error": ("failed", "failed-soft", "failed"),
}
"""severity -> (ink token, fill token, glyph)."""
IMAGE_WIDTH, IMAGE_HEIGHT = 360, 240


class ReasoningPiece(Piece):
    """Thinking, folded to one quiet line."""

    __slots__ = ("_toggle", "open", "part")

    def __init__(self, key: str, part: ReasoningPart | GivenPart) -> None:
        super().__init__(key)
        self.part = part
        self.open = False
        self._toggle = QRectF()

    def toggle(self) -> None:
        """Open or fold the text."""
        self.open = not self.open

    @property
    def live(self) -> bool:
        return self.part.live

    def _title(self) -> str:
        return self.part.title if isinstance(self.part, ReasoningPart) else ""

    def _glyph(self) -> str:
        return "model"

    def _about(self) -> str:
        return shown_line(self.part.about) if isinstance(self.part, ReasoningPart) else ""

    @property
    def _opens(self) -> bool:
        """Whether there is a text to open."""
        return bool(self.part.text) or self.part.live

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        del before
        words = look.metrics("small", 500).horizontalAdvance(self._title()) + look.px(TITLE_LEFT + 12)
        if about := self._about():
            words += look.px(8) + look.metrics("small").horizontalAdvance(about)
        self._toggle = QRectF(-look.px(4), 0, min(words, width + look.px(4)), look.px(FOLD_HEIGHT))
        self.boxes = []
        self.text = ""
        y = look.px(FOLD_HEIGHT)
        if self.open and self._opens:
            text = self.part.text
            if len(text) > REASONING_SHOWN:
                text = f"… ({len(text) - REASONING_SHOWN:,} characters before)\n" + text[-REASONING_SHOWN:]
            y = self._lay_out_body(look, width, text, y + look.px(4))
            self.text = "\n".join(placed.box.text for placed in self.boxes)
        self.height = y

    def _lay_out_body(self, look: PageLook, width: float, text: str, y: int) -> int:
        base, left = 0, look.px(18)
        style = look.style("body")
        for chunk in _paragraphs(text):
            box = TextBox(chunk, style)
            box.lay_out(width - left)
            self.boxes.append(PlacedBox(box, left, y, base, "text-2", room=width - left))
            y += box.height
            base += len(chunk) + 1
        return y

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        look = canvas.look
        middle = origin.y() + (look.px(FOLD_HEIGHT) - look.px(14)) / 2
        if self._opens:
            canvas.hover_fill(self.spots()[0], origin)
            canvas.glyph("down" if self.open else "right", "text-3", origin.x(), middle, 14)
        x = self._draw_title(canvas, origin, middle)
        if self.part.live:
            canvas.glyph("running", "running", x, middle, 14, canvas.angle)
        if self.open and self._opens:
            bar = QRectF(origin.x() + look.px(6), origin.y() + look.px(28), look.px(2), self.height - look.px(28))
            canvas.painter.fillRect(bar, look.color("border"))
        self.draw_boxes(canvas, origin)

    def _draw_title(self, canvas: Canvas, origin: QPointF, middle: float) -> float:
        """What it is, and then what is known of it; where the next thing on the line stands."""
        look = canvas.look
        canvas.glyph(self._glyph(), "text-3", origin.x() + look.px(18), middle, 14)
        box = QRectF(origin.x() + look.px(TITLE_LEFT), origin.y(), self._toggle.width(), look.px(FOLD_HEIGHT))
        room = self._toggle.right() - look.px(TITLE_LEFT)
        for words, token, weight in ((self._title(), "text-2", 500), (self._about(), "text-3", 400)):
            metrics = look.metrics("small", weight)
            fitting = metrics.elidedText(words, Qt.TextElideMode.ElideRight, int(room) + 1) if words else ""
            canvas.words(fitting, box, "small", token, weight)
            taken = metrics.horizontalAdvance(fitting) + look.px(8) if fitting else 0
            box.setLeft(box.left() + taken)
            room -= taken
        return box.left()

    def spots(self) -> Sequence[Spot]:
        if not self._opens:
            return ()
        verb = "Fold" if self.open else "Open"
        return (Spot("toggle", f"{self.key}/head", self._toggle, f"{verb} {self._called()}", self.key),)

    def _called(self) -> str:
        about = self._about()
        return f"the thinking: {self._title()}{', ' if about else ''}{about}"

    def more(self) -> None:
        """There is no more than it shows."""

    def state_rect(self, look: PageLook) -> QRectF:
        """The part that turns."""
        return QRectF(0, 0, look.px(160), look.px(FOLD_HEIGHT))


class GivenPiece(ReasoningPiece):
    """What a server gave for a message, folded to a line that says whose it is."""

    __slots__ = ()

    def __init__(self, key: str, part: GivenPart) -> None:
        super().__init__(key, part)

    def _title(self) -> str:
        assert isinstance(self.part, GivenPart)
        return shown_line(f"{self.part.title} · {self.part.facts}")

    def _glyph(self) -> str:
        return "server"

    def _called(self) -> str:
        return self._title()


def _paragraphs(text: str) -> list[str]:
    """Cut where lines end, or after 2,000 characters."""
    chunks: list[str] = []
    for line in text.strip().split("\n"):
        chunks += [line[at : at + REASONING_CHUNK] for at in range(0, len(line) or 1, REASONING_CHUNK)]
    return chunks


class MorePiece(Piece):
    """A button under the first pages of a very long text."""

    __slots__ = ("_spot",)

    def __init__(self, part_id: str, hidden: int) -> None:
        super().__init__(f"{part_id}/rest")
        self._spot = Spot("more", f"{part_id}/more", QRectF(), f"Show more ({size_words(hidden)} not shown)", part_id)

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        del width, before
        room = look.metrics("small", 500).horizontalAdvance(self._spot.label) + look.px(18)
        self._spot = replace(self._spot, rect=QRectF(0, look.px(4), room, look.px(24)))
        self.height = look.px(32)

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        rect = self._spot.rect.translated(origin)
        canvas.frame(rect, "surface", "border-strong")
        canvas.hover_fill(self._spot, origin)
        canvas.words(self._spot.label, rect.adjusted(canvas.look.px(9), 0, 0, 0), "small", "text", 500)

    def spots(self) -> Sequence[Spot]:
        return (self._spot,)


COUNTDOWN = 90
"""Pixels at 100 % that the seconds until another try take beside the words."""


class NoticePiece(Piece):
    """A failure or a limit in plain words, with buttons for the next step."""

    __slots__ = ("_spots", "_width", "part")

    def __init__(self, key: str, part: NoticePart) -> None:
        super().__init__(key)
        self.part = part
        self._spots: list[Spot] = []
        self._width = 0.0

    @property
    def live(self) -> bool:
        return self.part.countdown_to is not None

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        del before
        self._width = width
        self.text = self.part.text
        box = TextBox(self.text, look.style("body"))
        left, pad = look.px(36), look.px(8)
        counts = look.px(COUNTDOWN) if self.live and not self.part.actions else 0
        box.lay_out(width - left - look.px(12) - counts)
        self.boxes = [PlacedBox(box, left, pad, 0)]
        y = pad + box.height
        self._spots = []
        if self.part.actions:
            y += look.px(8)
            x = float(left)
            for index, action in enumerate(self.part.actions):
                room = look.metrics("small", 500).horizontalAdvance(action.label) + look.px(18)
                if x > left and x + room > width - look.px(12):
                    x, y = float(left), y + look.px(30)
                rect = QRectF(x, y, room, look.px(24))
                self._spots.append(Spot("action", f"{self.key}/{index}", rect, action.label, action.action))
                x += room + look.px(8)
            y += look.px(24)
        self.height = y + pad

    def countdown(self, now: float) -> str:
        """``in 12 s`` while it counts."""
        until = self.part.countdown_to
        return f"in {int(until - now) + 1} s" if until is not None and until > now else ""

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        look = canvas.look
        ink, fill, glyph = SEVERITIES.get(self.part.severity, SEVERITIES["info"])
        canvas.frame(QRectF(origin.x(), origin.y(), self._width, self.height), fill, "")
        canvas.glyph(glyph, ink, origin.x() + look.px(12), origin.y() + look.px(10), 16)
        self.draw_boxes(canvas, origin)
        for spot in self._spots:
            rect = spot.rect.translated(origin)
            canvas.frame(rect, "surface", "border-strong")
            canvas.hover_fill(spot, origin)
            canvas.words(spot.label, rect.adjusted(look.px(9), 0, 0, 0), "small", "text", 500)
        if words := self.countdown(canvas.now):
            x = self._spots[-1].rect.right() + look.px(10) if self._spots else self._width - look.px(COUNTDOWN)
            y = self._spots[-1].rect.y() if self._spots else look.px(6)
            box = QRectF(origin.x() + x, origin.y() + y, look.px(90), look.px(24))
            canvas.words(words, box, "small", "text-2")

    def spots(self) -> Sequence[Spot]:
        return self._spots

    def state_rect(self, look: PageLook) -> QRectF:
        """The part that counts."""
        del look
        return QRectF(0, 0, self._width, self.height)


class AttachmentPiece(Piece):
    """A file as a chip, an image as a small picture once it is decoded."""

    __slots__ = ("_image", "_pictures", "_rect", "part")

    def __init__(self, key: str, part: AttachmentPart, pictures: Pictures) -> None:
        super().__init__(key)
        self.part = part
        self._pictures = pictures
        self._image: QImage | None = None
        self._rect = QRectF()

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        del before
        if self.part.image is not None and self._image is None:
            room = QSize(look.px(IMAGE_WIDTH) * 2, look.px(IMAGE_HEIGHT) * 2)
            self._image = self._pictures.get(self.part.image, room)
        if self._image is not None:
            room = QSize(min(look.px(IMAGE_WIDTH), int(width)), look.px(IMAGE_HEIGHT))
            size = fitted(self._image.size(), room)
            self._rect = QRectF(0, 0, size.width(), size.height())
        else:
            words = look.metrics("small", 500).horizontalAdvance(self.part.name)
            words += look.metrics("small").horizontalAdvance(self.part.facts)
            self._rect = QRectF(0, 0, min(width, words + look.px(52)), look.px(32))
        self.height = int(self._rect.height())

    def spots(self) -> Sequence[Spot]:
        if self.part.image is not None:
            return (large_spot(self.part.image, self._rect),) if self._image is not None else ()
        if not self.part.opens:
            return ()
        return (Spot("action", f"{self.key}/open", self._rect, f"Open {self.part.name}", self.part.opens),)

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        look, rect = canvas.look, self._rect.translated(origin)
        if self._image is not None:
            canvas.painter.drawImage(rect, self._image)
            return
        canvas.frame(rect, "surface", "border")
        for spot in self.spots():
            canvas.hover_fill(spot, origin)
        canvas.glyph("file", "text-2", rect.x() + look.px(8), rect.y() + look.px(8), 16)
        facts = look.metrics("small").horizontalAdvance(self.part.facts)
        room = rect.width() - look.px(52) - facts
        name = look.metrics("small", 500).elidedText(self.part.name, Qt.TextElideMode.ElideMiddle, room + 2)
        canvas.words(name, rect.adjusted(look.px(30), 0, 0, 0), "small", "text", 500)
        canvas.words(self.part.facts, rect.adjusted(0, 0, -look.px(10), 0), "small", "text-3", right=True)
