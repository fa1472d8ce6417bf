"""The card of a tool call: folded to one line, opened to arguments and result, or waiting for a person's answer.

Folded, it draws text straight; the boxes of its body are made on first opening. Of a long result only the head, the
tail and the pages asked for are ever laid out, so a 5 MB result costs what 24 KB cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt

from desktop.domain.text.outside import named
from desktop.domain.text.words import size_words
from desktop.presenter.common.outcomes import EDGES, EDGES_NAMED
from desktop.presenter.transcript.items import READ_AS, ToolPart
from desktop.ui.transcript.pieces.base import Canvas, Piece, PlacedBox, Spot
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.media_strip import LARGE, MediaStrip, Pictures
from desktop.ui.transcript.pieces.preview import PAST, REMARKS, Preview, PreviewLine, preview_of
from desktop.ui.transcript.pieces.rich_body import LINE, draw_progress, lay_out_rich
from desktop.ui.transcript.pieces.text_box import TextBox
from desktop.ui.transcript.pieces.tool_drawing import (
    ROOM,
    STATES,
    asked_preview,
    draw_chain,
    draw_ledger,
    draw_preview,
    draw_state,
    from_code,
    head_words,
    ledger_of,
    nested_line,
    seconds_text,
)
from desktop.ui.widgets.shown import shown, shown_line

FOLDED = 38
FOOT = 41
PAGE = 8000
HEAD_SHOWN, TAIL_SHOWN = 4000, 1600
CHUNK_LINES = 40
LIVE_TAIL = 400
RUNNING = frozenset({"running"})
CHILD = "Open its conversation"
OPEN = "open-thread:"
"""What the action begins with that leads to the thread of a called agent."""
UNDO = "undo-call:"
"""What the action begins with that shows how a call is undone."""
UNDONE = "Undo…"
NARROW = 480
"""Pixels at 100 % of a card below which the way back has no words beside its mark."""
AS_READ = "As the model read it"


class ToolCard(Piece):
    """The card of one call. ``open`` survives changes of the part. ``whole``: what waits is shown to its end, so that
    it can be answered here."""

    __slots__ = (
        "_body_top",
        "_pad",
        "_preview",
        "_sections",
        "_shown",
        "_spots",
        "_strip",
        "_summary",
        "_tool",
        "_undo_room",
        "_width",
        "open",
        "part",
        "pictures",
        "whole",
    )

    def __init__(self, key: str, part: ToolPart) -> None:
        super().__init__(key)
        self.part = part
        self.open = False
        self._shown = HEAD_SHOWN
        self._sections: list[tuple[str, float]] = []
        self._spots: list[Spot] = []
        self._preview: list[PreviewLine] = []
        self._width = 0.0
        self._body_top = 0.0
        self._pad = 13
        self._undo_room = 0.0
        self._tool = self._summary = ""
        self._strip = MediaStrip((), None)
        self.pictures: Pictures | None = None
        self.whole = True

    def gap(self, look: PageLook, before: Piece | None) -> int:
        """The card of a call that a skill made stands close below the skill's own."""
        return look.px(3) if self.part.parent else super().gap(look, before)

    @property
    def waiting(self) -> bool:
        return self.part.state == "waiting"

    @property
    def live(self) -> bool:
        return self.part.state in RUNNING

    @property
    def unfolded(self) -> bool:
        """Whether the body shows: opened by the person, or there is something to answer or to watch."""
        return self.open or self.waiting or (self.live and bool(self.part.result or self.part.progress))

    def toggle(self) -> None:
        """Open or fold the card."""
        self.open = not self.open

    def more(self) -> None:
        """Shows another page of the result."""
        self._shown += PAGE

    # --------------------------------------------------------------------------------------------------------- layout

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        del before
        self._width, self._pad, (self._tool, self._summary) = width, look.px(13), head_words(self.part)
        self.boxes, self._sections, self._spots = [], [], []
        self.height = look.px(FOLDED)
        head = QRectF(0, 0, width, look.px(FOLDED))
        verb = "Close" if self.unfolded else "Open"
        undo = _undo_spots(look, self.key, self.part, width)
        self._undo_room = width - undo[0].rect.x() if undo else 0.0
        head.setRight(width - self._undo_room)
        self._spots.append(Spot("toggle", f"{self.key}/head", head, f"{verb} {self._tool}", self.part.call_id))
        self._spots += undo
        self.text = f"{self._tool} {self._summary}".strip()
        head_length = len(self.text)
        if self.waiting:
            self._lay_out_waiting(look)
        elif self.open:
            self._lay_out_open(look)
        elif self.unfolded:
            self._lay_out_watched(look)
        if self.part.media:
            self._lay_out_media(look)
        bodies = "\n".join(placed.box.text for placed in self.boxes)
        if bodies:
            self.text += "\n" + bodies
            base = head_length + 1
            for placed in self.boxes:
                placed.base = base
                base += len(placed.box.text) + 1

    def _lay_out_waiting(self, look: PageLook) -> None:
        request = self.part.request
        found = preview_of(request) if request else Preview()
        asked = asked_preview(self.part) if request and not found.lines else found
        self.whole = asked.whole and self._fits(look, asked)
        self._preview = list((found if self.open else asked).lines)
        if request:
            past = request.past_edge[:EDGES_NAMED]
            lines = [PreviewLine(EDGES[one.kind], PAST[at > 0], shown_line(one.words)) for at, one in enumerate(past)]
            self._preview = [*lines, *self._preview]
        if request and request.place:
            self._preview = [PreviewLine("", "", from_code(request.place)), *self._preview]
        self._body_top = float(self.height)
        if self.open:
            self._lay_out_open(look)
        elif self._preview:
            self.height += len(self._preview) * look.line("code") + look.px(8)
        self.height += look.px(FOOT)

    def _fits(self, look: PageLook, preview: Preview) -> bool:
        """Whether what will be done is drawn to the end of its lines."""
        room = self._width - 2 - look.px(ROOM)
        metrics = look.metrics("code")
        return all(metrics.horizontalAdvance(line.text) <= room for line in preview.lines if line.sign not in REMARKS)

    def _lay_out_open(self, look: PageLook) -> None:
        y = float(self.height) + look.px(4)
        part = self.part
        if part.request and part.request.place:
            y = self._section(look, "Asked for by code", y)
            y = self._chunks(look, shown_line(part.request.place), y)
        if part.arguments:
            y = self._section(look, "Arguments", y)
            y = self._chunks(look, shown(part.arguments[: self._shown + TAIL_SHOWN]), y)
        if part.nested:
            y = self._section(look, "Calls it made", y)
            y = self._chunks(look, "\n".join(nested_line(call) for call in part.nested), y)
        if part.result:
            whose = f", words of {named(part.outside)}" if part.outside else ""
            y = self._section(look, f"{'Result' if part.state != 'failed' else 'Error'}{whose}", y)
            y = self._result(look, part.result, y)
        y, links = lay_out_rich(look, part, y, self._width, self._section, self._chunks)
        self._spots += links
        if part.task:
            y = self._chunks(look, part.task, self._section(look, "Task", y))
        if part.detail:
            y = self._section(look, "Decision", y)
            y = self._chunks(look, shown(part.detail), y)
        self._spots += (spots := _ways(look, self.key, part, y))
        self.height = round(y) + look.px(6 + 30 * len(spots))

    def _section(self, look: PageLook, title: str, y: float) -> float:
        room = self._width - 2 * look.px(13)
        fitting = look.metrics("caption").elidedText(title, Qt.TextElideMode.ElideRight, room)
        self._sections.append((fitting, y))
        return y + look.line("caption") + look.px(4)

    def _result(self, look: PageLook, text: str, y: float) -> float:
        if len(text) <= self._shown + TAIL_SHOWN:
            return self._chunks(look, text, y)
        y = self._chunks(look, _to_line_end(text[: self._shown]), y)
        hidden = len(text) - self._shown - TAIL_SHOWN
        label = f"Show more ({size_words(hidden)} not shown)"
        width = look.metrics("small", 500).horizontalAdvance(label) + look.px(16)
        rect = QRectF(look.px(12), y + look.px(4), width, look.px(24))
        self._spots.append(Spot("more", f"{self.key}/more", rect, label, self.key))
        return self._chunks(look, text[-TAIL_SHOWN:], y + look.px(32))

    def _chunks(self, look: PageLook, text: str, y: float) -> float:
        """Mono text in boxes of some lines each, so that drawing and hitting stay cheap."""
        lines = text.rstrip("\n").split("\n")
        room = self._width - 2 * look.px(13)
        for first in range(0, len(lines), CHUNK_LINES):
            box = TextBox("\n".join(lines[first : first + CHUNK_LINES]), look.output_style)
            box.lay_out(room)
            self.boxes.append(PlacedBox(box, look.px(13), y, 0, "text-2", room=room))
            y += box.height
        return y + look.px(4)

    def _lay_out_media(self, look: PageLook) -> None:
        """Lay out the media, also in a folded card, because what is to be looked at is not hidden."""
        self._strip = MediaStrip(self.part.media, self.pictures)
        left = look.px(33)
        self.height = round(self._strip.lay_out(look, left, self.height + look.px(2), self._width - 2 * left))
        self._spots += self._strip.spots()

    def _lay_out_watched(self, look: PageLook) -> None:
        text = self.part.result
        if self.part.progress is not None:  # its words are in the text, too
            self.height += look.px(LINE)
            return
        shown = text if len(text) <= LIVE_TAIL else "…" + text[-LIVE_TAIL:].split(" ", 1)[-1]
        box = TextBox(" ".join(shown.split()), look.style("body"))
        box.lay_out(self._width - look.px(33) - look.px(16))
        self.boxes = [PlacedBox(box, look.px(33), self.height, 0, "text-2")]
        self.height += box.height + look.px(10)

    # -------------------------------------------------------------------------------------------------------- drawing

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        look = canvas.look
        frame = QRectF(origin.x(), origin.y(), self._width, self.height)
        canvas.frame(frame, "surface", "ask" if self.waiting else "border")
        if self.waiting:
            canvas.head(QRectF(frame.x() + 1, frame.y() + 1, frame.width() - 2, look.px(FOLDED) - 2), "ask-soft")
            if self.height > look.px(FOLDED):
                canvas.line(frame.x() + 1, frame.y() + look.px(FOLDED) - 1, frame.width() - 2, "border")
        if canvas.ledger:
            draw_ledger(canvas, self.part, origin, canvas.look.px(FOLDED))
        head = QRectF(origin.x(), origin.y(), self._width, look.px(FOLDED))
        pad = max(self._pad, round(self._undo_room) + look.px(4))
        _draw_head(canvas, self, (self._tool, self._summary), head, pad)
        if self.waiting:
            self._draw_waiting(canvas, frame)
        self._draw_body(canvas, origin)

    def clock(self, now: float) -> str:
        """The elapsed time: running from ``started_at``, else as measured."""
        if self.live and self.part.started_at:
            return seconds_text(max(0.0, now - self.part.started_at) * 1000)
        elapsed = self.part.elapsed_ms
        return seconds_text(elapsed) if elapsed is not None and self.part.state in ("done", "failed") else ""

    def _draw_waiting(self, canvas: Canvas, frame: QRectF) -> None:
        look = canvas.look
        if not self.open:
            y = frame.y() + self._body_top + look.px(4)
            for line in self._preview:
                draw_preview(canvas, line, QRectF(frame.x() + 1, y, frame.width() - 2, look.line("code")))
                y += look.line("code")
        foot = QRectF(frame.x(), frame.bottom() - look.px(FOOT), frame.width(), look.px(FOOT))
        canvas.line(foot.x() + 1, foot.y(), foot.width() - 2)
        draw_chain(canvas, self.part, foot)

    def _draw_body(self, canvas: Canvas, origin: QPointF) -> None:
        look = canvas.look
        if self._sections:
            canvas.line(origin.x() + 1, origin.y() + look.px(FOLDED) - 1, self._width - 2)
        for title, y in self._sections:
            box = QRectF(origin.x() + look.px(13), origin.y() + y, self._width, look.line("caption") + look.px(4))
            canvas.words(title, box, "caption", "text-3")
        self.draw_boxes(canvas, origin)
        if self.live and self.part.progress is not None and not self.open:
            top, left = origin.y() + look.px(FOLDED) - look.px(2), look.px(33)
            draw_progress(canvas, self.part, QRectF(origin.x() + left, top, self._width - 2 * left, look.px(LINE)))
        self._strip.draw(canvas, origin)
        for spot in self._spots[1:]:
            if not spot.payload.startswith(LARGE):  # that is the picture itself
                canvas.hover_fill(spot, origin)
                self._draw_spot(canvas, spot, origin)
        if not self.open and self.live and self.boxes and canvas.caret_on:
            placed = self.boxes[-1]
            bar = placed.box.cursor_rect(len(placed.box.text)).translated(origin.x() + placed.x, origin.y() + placed.y)
            canvas.painter.fillRect(bar.adjusted(1, 2, 1, -2), look.color("text"))

    def _draw_spot(self, canvas: Canvas, spot: Spot, origin: QPointF) -> None:
        rect, look = spot.rect.translated(origin), canvas.look
        if spot.payload.startswith(UNDO):
            canvas.glyph("undo", "text-2", rect.x() + look.px(6), rect.y() + (rect.height() - look.px(16)) / 2, 16)
            if rect.width() <= look.px(28):
                return
            rect.translate(look.px(20), 0)
        canvas.words(spot.label, rect.translated(look.px(8), 0), "small", "text-2", 500)

    def spots(self) -> Sequence[Spot]:
        return self._spots

    def answers_rect(self, look: PageLook) -> QRectF:
        """Where the answer buttons lie, relative to the card."""
        return QRectF(self._width / 3, self.height - look.px(FOOT), self._width * 2 / 3 - look.px(9), look.px(FOOT) - 1)

    def state_rect(self, look: PageLook) -> QRectF:
        """What changes while a call runs: the whole line. A longer clock leaves less room for the command, which is
        then cut elsewhere; drawn anew by half, it would read as a command that nobody wrote."""
        return QRectF(0, 0, self._width, look.px(FOLDED))

    def markdown(self, start: int, end: int) -> str:
        whole = start == 0 and end == len(self.text)
        return f"`{self._tool}` {self._summary}".strip() if whole else self.text[start:end]

    def spoken(self) -> str:
        """The call in words, for a screen reader."""
        state = STATES[self.part.state][2] if self.part.state in STATES else self.part.state
        given = f", {self._strip.words}" if self.part.media else ""
        given += f", {self.part.progress.words}" if self.part.progress is not None else ""
        past = self.part.request.past_edge[:EDGES_NAMED] if self.part.request else ()
        given += "".join(f", past the edge: {EDGES[one.kind]}, {shown_line(one.words)}" for one in past)
        return f"Tool call {self._tool}, {self._summary[:120]}, {state}{given}"


def _draw_head(canvas: Canvas, card: ToolCard, words: tuple[str, str], head: QRectF, pad: int) -> None:
    """The line of a folded card: the tool's name, a summary, and the state at the right."""
    look, (tool, summary) = canvas.look, words
    icon = "down" if card.unfolded else "right"
    canvas.glyph(icon, "text-2", head.x() + look.px(9), head.y() + (head.height() - look.px(14)) / 2, 14)
    right = draw_state(canvas, card.part, card.clock(canvas.now), head.adjusted(0, 0, -pad, 0))
    x = head.x() + look.px(31)
    if not canvas.ledger:  # beside a debate there is no margin for the ledger
        name, token = ledger_of(card.part)
        if name:
            canvas.glyph(name, token, x, head.y() + (head.height() - look.px(16)) / 2, 16)
        x += look.px(24)
    canvas.words(tool, QRectF(x, head.y(), right - x, head.height()), "code", "text", 500)
    x += look.metrics("code", 500).horizontalAdvance(tool) + look.px(9)
    if right - x > look.px(24):
        elided = look.metrics("code").elidedText(summary, Qt.TextElideMode.ElideMiddle, right - x - look.px(12))
        canvas.words(elided, QRectF(x, head.y(), right - x, head.height()), "code", "text-2")
    if canvas.focus == f"{card.key}/head":
        canvas.ring(head.adjusted(2, 2, -2, -2))


def _ways(look: PageLook, key: str, part: ToolPart, y: float) -> list[Spot]:
    """The ways to the thread of a called agent, and to a text from outside as the model read it, if there are any."""
    ways = [("child", CHILD, f"{OPEN}{part.child}")] if part.child else []
    ways += [("as-read", AS_READ, f"{READ_AS}{part.part_id}")] if part.outside else []
    spots: list[Spot] = []
    for name, label, action in ways:
        width = look.metrics("small", 500).horizontalAdvance(label) + look.px(16)
        rect = QRectF(look.px(5), y + look.px(4 + 30 * len(spots)), width, look.px(24))
        spots.append(Spot("action", f"{key}/{name}", rect, label, action))
    return spots


def _undo_spots(look: PageLook, key: str, part: ToolPart, width: float) -> list[Spot]:
    """The way back from a call that changed files unasked, at the right end of its line."""
    words = look.metrics("small", 500).horizontalAdvance(UNDONE) if width >= look.px(NARROW) else 0
    room = words + look.px(36 if words else 28)
    rect = QRectF(width - room - look.px(5), look.px(FOLDED - 24) / 2, room, look.px(24))
    return [Spot("action", f"{key}/undo", rect, UNDONE, f"{UNDO}{part.part_id}")] if part.undoable else []


def _to_line_end(text: str) -> str:
    cut = text.rfind("\n", len(text) - 600)
    return text[:cut] if cut > 0 else text
