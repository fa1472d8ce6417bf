"""Painters that labels, delegates and the transcript share, so that a badge is the same wherever it stands.

All sizes come from the theme, all colours are tokens. Painters leave the painter's state as they found it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPainterPath, QPen

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.theme.active import theme


@dataclass(frozen=True, slots=True)
class BadgeLook:
    """Icon name ("" for none), colour token, and word of a category or judgement."""

    icon: str
    token: str
    word: str


BADGES: dict[str, BadgeLook] = {
    "read": BadgeLook("read", "read", "read"),
    "write": BadgeLook("write", "write", "write"),
    "admin": BadgeLook("admin", "admin", "admin"),
    "raised": BadgeLook("admin", "admin", "raised to admin"),
    "reads": BadgeLook("read", "read", "reads"),
    "writes": BadgeLook("write", "write", "writes"),
    "overwrites": BadgeLook("write", "admin", "overwrites"),
    "deletes": BadgeLook("delete", "admin", "deletes"),
    "network": BadgeLook("network", "write", "network"),
    "privileged": BadgeLook("admin", "admin", "privileged"),
    "unknown": BadgeLook("unknown", "write", "cannot tell"),
    "changed": BadgeLook("retry", "info", "changed"),
    "edited": BadgeLook("write", "info", "edited by you"),
    "not-an-ai": BadgeLook("", "", "not an AI"),
    "problem": BadgeLook("failed", "failed", "problem"),
    "off: changed": BadgeLook("lock", "ask", "off: changed"),
    "not trusted": BadgeLook("lock", "ask", "not trusted"),
    "changed since": BadgeLook("retry", "info", "changed since"),
    "changed on disk": BadgeLook("retry", "info", "changed on disk"),
    "reaches more": BadgeLook("network", "ask", "reaches more"),
    "text changed": BadgeLook("retry", "info", "text changed"),
    "new": BadgeLook("new", "info", "new"),
    "shadowed": BadgeLook("skills", "", "shadowed"),
    "hidden": BadgeLook("hidden", "", "hidden"),
    "confined": BadgeLook("lock", "", "confined"),
    "follows": BadgeLook("quote", "info", "follows text from outside"),
    "other agent": BadgeLook("agent", "", "by ACP"),
}
"""Filled badges by name; a look without a token is neutral: outline only."""

STATES: dict[str, BadgeLook] = {
    "waiting": BadgeLook("ask", "ask", "waiting for you"),
    "running": BadgeLook("running", "running", "running"),
    "writing": BadgeLook("running", "running", "writing"),
    "done": BadgeLook("allow", "allow", "done"),
    "found": BadgeLook("allow", "allow", "found"),
    "failed": BadgeLook("failed", "failed", "failed"),
    "denied": BadgeLook("deny", "deny", "denied"),
    "aborted": BadgeLook("stop", "text-2", "stopped"),
    "unknown": BadgeLook("unknown", "ask", "outcome unknown"),
    "queued": BadgeLook("", "text-3", "queued"),
    "in queue": BadgeLook("queue", "text-2", "in the queue"),
    "idle": BadgeLook("clock", "text-2", "idle"),
    "paused": BadgeLook("pause", "text-2", "paused"),
    "limit": BadgeLook("failed", "failed", "limit reached"),
    "allow": BadgeLook("allow", "allow", "allow"),
    "ask": BadgeLook("ask", "ask", "ask"),
    "deny": BadgeLook("deny", "deny", "deny"),
    "edited": BadgeLook("write", "info", "edited"),
    "warning": BadgeLook("failed", "ask", "warning"),
    "info": BadgeLook("info", "info", "info"),
}
"""Glyph and word without a box."""


def badge_look(name: str, word: str = "") -> BadgeLook:
    """The look of a badge; an unknown name becomes a neutral badge with its own text."""
    look = BADGES.get(name) or BadgeLook("", "", name)
    return BadgeLook(look.icon, look.token, word) if word else look


def state_look(name: str, word: str = "") -> BadgeLook:
    """The look of a state; an unknown name is plain text."""
    look = STATES.get(name) or BadgeLook("", "text-2", name)
    return BadgeLook(look.icon, look.token, word) if word else look


def badge_size(name: str, word: str = "") -> QSize:
    """How much room ``badge`` needs."""
    t = theme()
    look = badge_look(name, word)
    text = QFontMetrics(t.font("small", 500)).horizontalAdvance(look.word)
    glyph = t.metric("icon-badge") + t.px(4) if look.icon else 0
    return QSize(text + glyph + t.px(13), t.metric("badge"))


def badge(painter: QPainter, rect: QRect, name: str, word: str = "") -> int:
    """Draw a badge at the left of ``rect``, centred vertically; returns its width."""
    t = theme()
    look = badge_look(name, word)
    size = badge_size(name, word)
    box = QRectF(rect.x(), rect.y() + (rect.height() - size.height()) // 2, size.width(), size.height())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    radius = t.metric("radius-small")
    if look.token:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(t.color(f"{look.token}-soft"))
        painter.drawRoundedRect(box, radius, radius)
    else:
        outline(painter, box, radius, t.color("border-strong"))
    x = round(box.x()) + t.px(6)
    if look.icon:
        side = t.metric("icon-badge")
        glyph(painter, QRect(x, round(box.y()), side, size.height()), look.icon, look.token or "text-2", side)
        x += side + t.px(4)
    painter.setPen(t.color(look.token or "text-2"))
    painter.setFont(t.font("small", 500))
    painter.drawText(QRectF(x, box.y(), box.right() - x, box.height()), _LEFT, look.word)
    painter.restore()
    return size.width()


def badges(painter: QPainter, rect: QRect, names: Sequence[str]) -> int:
    """Draw badges from the right edge of ``rect`` leftwards, first name leftmost; returns the width used."""
    gap = theme().px(4)
    widths = [badge_size(name).width() for name in names]
    total = sum(widths) + gap * max(0, len(widths) - 1)
    x = rect.right() + 1 - total
    for name, width in zip(names, widths, strict=True):
        badge(painter, QRect(x, rect.y(), width, rect.height()), name)
        x += width + gap
    return total


def state_size(name: str, word: str = "") -> QSize:
    """How much room ``state`` needs."""
    t = theme()
    look = state_look(name, word)
    text = QFontMetrics(t.font("small", 500)).horizontalAdvance(look.word)
    lead = t.metric("icon-small") + t.px(5) if look.icon else 0
    return QSize(text + lead + 1, t.metric("badge"))


def state(painter: QPainter, rect: QRect, name: str, word: str = "", *, right: bool = False, angle: float = 0.0) -> int:
    """Draw glyph and word in ``rect`` (or at its right edge); ``angle`` turns the running glyph. Returns the width."""
    t = theme()
    look = state_look(name, word)
    width = state_size(name, word).width()
    x = rect.right() + 1 - width if right else rect.x()
    painter.save()
    if look.icon:
        side = t.metric("icon-small")
        glyph(painter, QRect(x, rect.y(), side, rect.height()), look.icon, look.token, side, angle)
        x += side + t.px(5)
    painter.setPen(t.color(look.token))
    painter.setFont(t.font("small", 500))
    painter.drawText(QRectF(x, rect.y(), rect.right() + 1 - x, rect.height()), _LEFT, look.word)
    painter.restore()
    return width


def glyph(painter: QPainter, rect: QRect, name: str, token: str, size: int, angle: float = 0.0) -> None:
    """Draw an icon of ``size`` pixels centred in ``rect``, turned by ``angle`` degrees."""
    ratio = painter.device().devicePixelRatio() if painter.device() else 1.0
    pixmap = theme().pixmap(name, token, size, ratio)
    left, top = rect.x() + (rect.width() - size) / 2, rect.y() + (rect.height() - size) / 2
    if not angle:
        painter.drawPixmap(QPointF(round(left), round(top)), pixmap)
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.translate(left + size / 2, top + size / 2)
    painter.rotate(angle)
    painter.drawPixmap(QPointF(-size / 2, -size / 2), pixmap)
    painter.restore()


def meter_token(fraction: float) -> str:
    """Quiet up to 79 %, amber from 80 %, red from 95 %."""
    return "failed" if fraction >= 0.95 else "ask" if fraction >= 0.8 else "text-2"


def meter(painter: QPainter, rect: QRect, fraction: float, token: str = "") -> None:
    """Draw a level (0 to 1) as a 4-pixel bar across ``rect``, centred vertically; ``token``: not in the colour of what
    fills up."""
    t = theme()
    height = t.metric("meter-height")
    track = QRectF(rect.x(), rect.y() + (rect.height() - height) / 2, rect.width(), height)
    share = min(1.0, max(0.0, fraction))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(t.color("border"))
    painter.drawRoundedRect(track, height / 2, height / 2)
    if share > 0:
        painter.setBrush(t.color(token or meter_token(share)))
        filled = QRectF(track.x(), track.y(), max(float(height), track.width() * share), height)
        painter.drawRoundedRect(filled, height / 2, height / 2)
    painter.restore()


def count(painter: QPainter, right_top: QPointF, number: int) -> None:
    """Draw the round count of things that wait; ``right_top`` is its upper right corner."""
    t = theme()
    text = str(number) if number < 100 else "99+"
    font = t.font("caption", 600)
    height = t.px(16)
    width = max(height, QFontMetrics(font).horizontalAdvance(text) + t.px(8))
    box = QRectF(right_top.x() - width, right_top.y(), width, height)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(t.color("ask"))
    painter.drawRoundedRect(box, height / 2, height / 2)
    painter.setPen(t.color("surface"))
    painter.setFont(font)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()


def keycap_width(text: str) -> int:
    """How wide ``keycap`` draws ``text``."""
    t = theme()
    return max(t.px(16), QFontMetrics(t.font("caption")).horizontalAdvance(text) + t.px(9))


def keycap(painter: QPainter, rect: QRect, text: str, token: str = "text-2", line_token: str = "border-strong") -> int:
    """Draw a key cap at the left of ``rect``, centred vertically; returns its width."""
    t = theme()
    width, height = keycap_width(text), t.px(16)
    box = QRectF(rect.x(), rect.y() + (rect.height() - height) // 2, width, height)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    outline(painter, box, t.metric("radius-small"), t.color(line_token))
    painter.setPen(t.color(token))
    painter.setFont(t.font("caption"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()
    return width


def outline(painter: QPainter, rect: QRectF, radius: float, color: QColor, width: float = 1.0) -> None:
    """A rounded outline whose ink stays inside ``rect`` and sharp at any device pixel ratio."""
    painter.setPen(QPen(color, width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inset = width / 2
    painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius, radius)


def focus_ring(painter: QPainter, rect: QRectF, radius: float) -> None:
    """The 2-pixel ring, drawn just inside ``rect``: where keys go."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    outline(painter, rect, radius, theme().color("focus"), theme().metric("focus-ring"))
    painter.restore()


def row_background(painter: QPainter, rect: QRect, *, selected: bool, hovered: bool, focused: bool) -> None:
    """Fill and ring of a list row; ``focused`` when keys go there and came by keyboard."""
    t = theme()
    radius = t.metric("radius-control")
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if selected or hovered:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(t.color("selected" if selected else "hover"))
        painter.drawRoundedRect(QRectF(rect), radius, radius)
    painter.restore()
    if focused:
        focus_ring(painter, QRectF(rect), radius)


def side_bar(painter: QPainter, rect: QRectF, radius: float, color: QColor, width: float = 3.0) -> None:
    """A bar along the left edge of a rounded card, clipped to its corners (QSS would show a seam)."""
    shape = QPainterPath()
    shape.addRoundedRect(rect, radius, radius)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setClipPath(shape)
    painter.fillRect(QRectF(rect.x(), rect.y(), width, rect.height()), QBrush(color))
    painter.restore()


def marked_text(
    painter: QPainter, x: int, baseline: int, text: str, ranges: Sequence[tuple[int, int]], role: str, token: str
) -> int:
    """Draw text whose matches, (start, length), are underlined and semibold; returns the width."""
    t = theme()
    start_x = x
    for piece, hit in split_ranges(text, ranges):
        font = t.font(role, 600) if hit else t.font(role)
        advance = QFontMetrics(font).horizontalAdvance(piece)
        painter.setFont(font)
        painter.setPen(t.color("text" if hit else token))
        painter.drawText(x, baseline, piece)
        if hit:
            painter.fillRect(QRect(x, baseline + t.px(2), advance, max(1, t.px(1.5))), t.color(token))
        x += advance
    return x - start_x


def split_ranges(text: str, ranges: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    """Cut text into (piece, is a match); ranges outside the text or overlapping are clipped."""
    pieces: list[tuple[str, bool]] = []
    at = 0
    for start, length in sorted(ranges):
        start, end = max(start, at), min(start + length, len(text))
        if end <= start:
            continue
        if start > at:
            pieces.append((text[at:start], False))
        pieces.append((text[start:end], True))
        at = end
    if at < len(text):
        pieces.append((text[at:], False))
    return pieces


def elided(text: str, role: str, width: int, *, weight: int | None = None, middle: bool = False) -> str:
    """One line of text cut with an ellipsis to ``width`` pixels, at its end or in the middle."""
    mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
    return QFontMetrics(theme().font(role, weight)).elidedText(text.replace("\n", " "), mode, max(0, width))


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
