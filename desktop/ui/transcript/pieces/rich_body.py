"""What an open card shows of a result beside its text: data as a table, embedded resources, links with addresses."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt

from desktop.presenter.transcript.items import ToolPart
from desktop.ui.transcript.pieces.base import Canvas, Spot
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.widgets.shown import shown, shown_line

LINK = "open-link:"
"""What the action begins with that opens an address."""
OPENED = ("http://", "https://", "mailto:")
LINE, BAR = 24, 120
_MIDDLE = Qt.TextElideMode.ElideMiddle
Section = Callable[[PageLook, str, float], float]
Chunks = Callable[[PageLook, str, float], float]


def lay_out_rich(
    look: PageLook, part: ToolPart, y: float, width: float, section: Section, chunks: Chunks
) -> tuple[float, list[Spot]]:
    """From ``y`` on; returns where it ends, and the links. An address that no browser opens is only text."""
    if part.table:
        y = chunks(look, shown(part.table), section(look, "As a table", y))
    for uri, text in part.embedded:
        y = chunks(look, shown(text), section(look, shown_line(f"Resource {uri}" if uri else "Resource")[:200], y))
    spots: list[Spot] = []
    if part.links:
        y = section(look, "Links, opened only when you press one", y)
    for at, link in enumerate(part.links):
        words = shown_line("  ".join(filter(None, (link.title, link.address, link.about))))
        if not link.address.lower().startswith(OPENED):
            y = chunks(look, words, y)
            continue
        room = min(width - look.px(16), look.metrics("small", 500).horizontalAdvance(words) + look.px(16))
        rect = QRectF(look.px(5), y, room, look.px(LINE))
        label = look.metrics("small", 500).elidedText(words, _MIDDLE, round(room - look.px(14)))
        spots.append(Spot("action", f"{part.part_id}/link{at}", rect, label, f"{LINK}{link.address}"))
        y += look.px(LINE)
    return y, spots


def draw_progress(canvas: Canvas, part: ToolPart, rect: QRectF) -> None:
    """How far a running call says it is: a bar where it says of how much, and its words."""
    progress, look = part.progress, canvas.look
    if progress is None:
        return
    x = rect.x()
    if progress.total is not None:
        bar = QRectF(x, rect.center().y() - look.px(2), look.px(BAR), look.px(4))
        canvas.painter.fillRect(bar, look.color("border"))
        share = min(1.0, progress.done / progress.total)
        canvas.painter.fillRect(QRectF(bar.x(), bar.y(), bar.width() * share, bar.height()), look.color("running"))
        x = bar.right() + look.px(10)
    words = shown_line(progress.words)
    room = rect.right() - x
    elided = look.metrics("small").elidedText(words, _MIDDLE, round(room))
    canvas.words(elided, QRectF(x, rect.y(), room, rect.height()), "small", "text-2")
