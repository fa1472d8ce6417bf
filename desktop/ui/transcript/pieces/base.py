"""The smallest thing that is laid out and drawn: a piece of a message, with its text boxes and the spots one can press.

Coordinates are logical pixels: a piece's own are relative to its upper left corner, x 0 being the content column.
Offsets count characters of the piece's selectable text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.text_box import Marked, TextBox


@dataclass(frozen=True, slots=True)
class Spot:
    """A place that acts when pressed. ``rect`` is relative to the piece; ``key`` stays the same while it is redrawn.

    ``kind``: copy, link, toggle, more, action, previous, next, attachment. ``payload`` is what the kind needs.
    """

    kind: str
    key: str
    rect: QRectF
    label: str
    payload: str = ""
    role: str = "button"


@dataclass(slots=True)
class PlacedBox:
    """A text box inside a piece."""

    box: TextBox
    """The laid-out text."""
    x: float
    """Its left edge in the piece."""
    y: float
    """Its top in the piece."""
    base: int
    """The number of its first character in the piece's text."""
    token: str = "text"
    """The colour."""
    selectable: bool = True
    """Whether its text can be selected."""
    room: float = 0.0
    """How wide it may be drawn; 0: as wide as it is."""


@dataclass(slots=True)
class Canvas:
    """What a piece needs while it is drawn."""

    painter: QPainter
    """Draws."""
    look: PageLook
    """Sizes, fonts and colours."""
    clip: QRectF
    """What is in view."""
    ratio: float
    """Device pixels per pixel."""
    now: float = 0.0
    """The time, for clocks."""
    angle: float = 0.0
    """The angle of what turns."""
    focus: str = ""
    """The spot that has the keys."""
    hover: str = ""
    """The spot under the pointer."""
    marks: Sequence[Marked] = ()
    """What is marked, in characters of the piece's text."""
    caret_on: bool = True
    """Whether the caret is in its visible half."""
    ledger: bool = True
    """Whether calls show their category's glyph."""

    def glyph(self, name: str, token: str, x: float, y: float, size: float, angle: float = 0.0) -> None:
        """An icon with its upper left corner at a point; ``size`` at 100 %."""
        pixmap = self.look.pixmap(name, token, size, self.ratio)
        painter = self.painter
        if not angle:
            painter.drawPixmap(QPointF(round(x), round(y)), pixmap)
            return
        half = self.look.px(size) / 2
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.translate(x + half, y + half)
        painter.rotate(angle)
        painter.drawPixmap(QPointF(-half, -half), pixmap)
        painter.restore()

    def words(
        self, text: str, rect: QRectF, role: str, token: str, weight: int | None = None, right: bool = False
    ) -> None:
        """One line of text, centred vertically."""
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        self.painter.setFont(self.look.font(role, weight))
        self.painter.setPen(self.look.color(token))
        self.painter.drawText(rect, int(side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), text)

    def frame(self, rect: QRectF, fill: str, border: str, top: bool = True, bottom: bool = True) -> None:
        """A rounded box with a 1-pixel border; a side that goes on in the next piece stays open."""
        painter, radius = self.painter, self.look.px(8)
        whole = rect.adjusted(0.5, 0.5 if top else -2 * radius, -0.5, -0.5 if bottom else 2 * radius)
        painter.save()
        if not (top and bottom):
            painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.look.color(border), 1) if border else Qt.PenStyle.NoPen)
        painter.setBrush(self.look.color(fill) if fill else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(whole, radius, radius)
        painter.restore()

    def head(self, rect: QRectF, fill: str) -> None:
        """The upper part of a frame, filled inside its border and rounded corners."""
        radius = self.look.px(8) - 1.0
        shape = QPainterPath()
        shape.setFillRule(Qt.FillRule.WindingFill)
        shape.addRoundedRect(rect, radius, radius)
        shape.addRect(rect.adjusted(0, radius, 0, 0))
        self.painter.save()
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.painter.fillPath(shape, self.look.color(fill))
        self.painter.restore()

    def line(self, x: float, y: float, width: float, token: str = "border") -> None:
        """A 1-pixel line to the right."""
        self.painter.fillRect(QRectF(x, y, width, 1), self.look.color(token))

    def hover_fill(self, spot: Spot, origin: QPointF) -> None:
        """The fill under a spot that the pointer is over, and the ring when keys go there."""
        rect = spot.rect.translated(origin)
        if spot.key == self.hover:
            self.ground(rect, self.look.color("hover"))
        if spot.key == self.focus:
            self.ring(rect)

    def ring(self, rect: QRectF, radius: float = 6) -> None:
        """The focus ring around a rect."""
        self.painter.save()
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        self.painter.setPen(QPen(self.look.color("focus"), 2))
        self.painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), self.look.px(radius), self.look.px(radius))
        self.painter.restore()

    def ground(self, rect: QRectF, color: QColor) -> None:
        """A rounded fill under words."""
        self.painter.save()
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(color)
        self.painter.drawRoundedRect(rect, self.look.px(6), self.look.px(6))
        self.painter.restore()


@dataclass(slots=True, eq=False)
class Piece:
    """One piece of a message, laid out and drawn by itself."""

    key: str
    """Names it in its part."""
    text: str = ""
    """Its text, for copying and for screen readers."""
    glue: str = ""
    """The text between it and the piece before."""
    x: float = 0.0
    """Its left edge."""
    y: int = 0
    """Its top, relative to the part."""
    height: int = 0
    """Its height."""
    overlap: int = 0
    """Pixels of it that lie over the piece before (a paragraph that goes on in the same line)."""
    start: int = 0
    """The number of its first character in the message."""
    boxes: list[PlacedBox] = field(default_factory=list)
    """Its text boxes."""

    def gap(self, look: PageLook, before: Piece | None) -> int:
        """Pixels between the piece before and this one."""
        del before
        return look.px(8)

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        """Sets ``height`` (and whatever drawing needs) for a column of ``width``."""
        raise NotImplementedError

    def finish(self, look: PageLook, after: Piece | None) -> None:
        """Called when it is known what follows; may change the height."""

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        """Draws everything at ``origin``."""
        self.draw_boxes(canvas, origin)

    def draw_boxes(self, canvas: Canvas, origin: QPointF) -> None:
        """Draws those text boxes that the clip needs, with the marks that fall into them."""
        top, bottom = canvas.clip.top() - origin.y(), canvas.clip.bottom() - origin.y()
        left, right = canvas.clip.left() - origin.x(), canvas.clip.right() - origin.x()
        for placed in self.boxes:
            box = placed.box
            if placed.y > bottom or placed.y + box.height < top or not box.reaches(left - placed.x, right - placed.x):
                continue
            marks = _within(canvas.marks, placed.base, len(box.text)) if canvas.marks and placed.selectable else ()
            color = canvas.look.color(placed.token)
            box.draw(canvas.painter, origin.x() + placed.x, origin.y() + placed.y, color, canvas.clip, marks)

    def spots(self) -> Sequence[Spot]:
        """Everything that can be pressed, in reading order."""
        return ()

    def offset_at(self, x: float, y: float) -> int:
        """The character gap nearest to a point."""
        placed = self._nearest(x, y)
        return placed.base + placed.box.offset_at(x - placed.x, y - placed.y) if placed else 0

    def _nearest(self, x: float, y: float) -> PlacedBox | None:
        best, minimum = None, 1e9
        for placed in self.boxes:
            if not placed.selectable:
                continue
            width = placed.room or placed.box.width
            below = max(placed.y - y, 0.0, y - placed.y - placed.box.height)
            aside = max(placed.x - x, 0.0, x - placed.x - width)
            distance = below * 10 + aside
            if distance < minimum:
                best, minimum = placed, distance
        return best

    def cursor_rect(self, offset: int) -> QRectF:
        """Where a caret before the character stands, relative to the piece."""
        for placed in reversed(self.boxes):
            if placed.selectable and placed.base <= offset:
                return placed.box.cursor_rect(offset - placed.base).translated(placed.x, placed.y)
        return QRectF(0, 0, 2, self.height)

    def over_text(self, x: float, y: float) -> bool:
        """Whether the pointer is over letters."""
        return any(p.selectable and p.box.inside(x - p.x, y - p.y) for p in self.boxes)

    def link_at(self, x: float, y: float) -> str:
        """The address under a point."""
        del x, y
        return ""

    def markdown(self, start: int, end: int) -> str:
        """A stretch of the text as Markdown."""
        return self.text[start:end]

    def plain(self, start: int, end: int) -> str:
        """A stretch as it is read."""
        return self.text[start:end].replace("\u2028", "\n")

    @property
    def live(self) -> bool:
        """Whether it shows something that turns or counts."""
        return False

    def release(self) -> None:
        """The piece is dropped."""


def _within(marks: Sequence[Marked], base: int, length: int) -> list[Marked]:
    found = []
    for start, end, style in marks:
        low, high = max(start - base, 0), min(end - base, length)
        if low < high:
            found.append((low, high, style))
    return found
