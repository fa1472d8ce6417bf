"""How a tool call is drawn in words and glyphs: its state, its place in the ledger, who asked, what would change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from PySide6.QtCore import QPointF, QRectF, Qt

from desktop.presenter.transcript.items import CallState, NestedCall, ToolPart
from desktop.ui.theme.paint import state_look
from desktop.ui.transcript.pieces.base import Canvas
from desktop.ui.transcript.pieces.preview import LONGEST_LINE, PAST, Preview, PreviewLine
from desktop.ui.widgets.shown import shown, shown_line

GLYPHS = {"read": "read", "write": "write", "admin": "admin", "agent": "agent"}
ROOM = 56 + 12
"""Pixels at 100 % of a preview's width that its text does not get."""
BUTTONS = 268
"""Pixels at 100 % that the buttons of a waiting card take: Open request, Deny, Allow once."""
PAST_WORDS = "Past the edge"
FACTS = 380
"""Pixels at 100 % that a head needs for more than what is called and how it stands."""
ASKED = 6
"""Lines of a call's arguments, or of its code, on its card."""
STATES = {
    state: (look.icon, look.token, look.word)
    for state in get_args(CallState)
    for look in [state_look("queued" if state == "writing" else state)]
}
"""(icon, colour token, word) of a call; one whose arguments are still being written is queued."""


def head_words(part: ToolPart) -> tuple[str, str]:
    """The tool's name and its arguments in brief, as they may be looked at (R-PRM-2, R-PRM-15)."""
    return title_of(part), shown_line(part.summary)


def title_of(part: ToolPart) -> str:
    """What a card is called: its tool, or that it runs code."""
    return "code" if part.code is not None else shown_line(part.title or part.tool)


def from_code(place: str) -> str:
    """Words that say which line of a model's code asks."""
    return f"From code, {shown_line(place)}"


def asked_preview(part: ToolPart) -> Preview:
    """The first lines of what is asked for, where nothing better is known of it: code as code, else the arguments."""
    text = part.code.source.strip() if part.code is not None else part.arguments.strip()
    lines = text.split("\n", ASKED)[:ASKED] if text != "{}" else []
    whole = text.count("\n") < ASKED and all(len(line) <= LONGEST_LINE for line in lines)
    return Preview(tuple(PreviewLine("", "", shown(line[:LONGEST_LINE])) for line in lines), whole)


def nested_line(call: NestedCall) -> str:
    """``read-file: done 0.04 s · notes.txt``: last what a model wrote, so that it cannot say what became of it."""
    clock = f" {seconds_text(call.elapsed_ms)}" if call.elapsed_ms is not None else ""
    called = f" · {shown_line(call.summary)}" if call.summary else ""
    return f"{shown_line(call.tool)}: {STATES[call.state][2]}{clock}{called}"


def calls_words(calls: Sequence[ToolPart]) -> tuple[str, str, str]:
    """How many calls, of which tools, what became of them: ``64 calls``, ``read-file, bash``, ``63 done, 1 failed``."""
    tools = Counter("code" if call.code is not None else call.tool for call in calls)
    states = Counter(STATES[call.state][2] for call in calls)
    named = ", ".join(shown_line(name[:64]) for name, _ in tools.most_common(4))
    counted = f"{len(calls)} call{'s' * (len(calls) != 1)}"
    return counted, named, ", ".join(f"{count} {word}" for word, count in states.most_common())


def seconds_text(milliseconds: float) -> str:
    """``0.04 s``, ``12.4 s``, ``3 min 20 s``."""
    seconds = milliseconds / 1000
    if seconds < 0.1:
        return f"{seconds:.2f} s"
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def ledger_glyph(category: str) -> tuple[str, str]:
    """(glyph, colour token) of what a call did to the machine; nothing for one that did not get that far."""
    name = GLYPHS.get(category, "")
    return name, (name if name != "agent" else "running")


def ledger_of(part: ToolPart) -> tuple[str, str]:
    """The glyph of a call's category; code does nothing to the machine by itself, so its glyph says what it is."""
    return ledger_glyph(part.category) if part.code is None else ("code", "text-2")


def draw_ledger(canvas: Canvas, part: ToolPart, origin: QPointF, height: int) -> None:
    """The glyph in the margin column."""
    name, token = ledger_of(part)
    if not name:
        return
    y = origin.y() + (height - canvas.look.px(16)) / 2
    canvas.glyph(name, token, origin.x() - canvas.look.px(32), y, 16)


def draw_state(canvas: Canvas, part: ToolPart, clock: str, rect: QRectF) -> float:
    """Facts and state at the right; returns where they begin."""
    look = canvas.look
    icon, token, word = STATES.get(part.state, ("", "text-2", part.state))
    if part.own_words and part.state == "done":
        icon, token, clock = "info", "text-2", ""
        word = "it says done" if "says that it is done" in part.result else "it says failed"
    if part.at_edge and part.state == "done":  # nobody said yes to it
        icon, word = "edge", f"{word} unasked"
    if clock:
        word = f"{word} {clock}"
    weight = None if token == "text-3" else 500
    canvas.words(word, rect, "small", token, weight, right=True)
    x = rect.right() - look.metrics("small", weight).horizontalAdvance(word)
    if icon:
        x -= look.px(20)
        angle = canvas.angle if part.state == "running" else 0.0
        canvas.glyph(icon, token, x, rect.y() + (rect.height() - look.px(16)) / 2, 16, angle)
    for fact in reversed(part.facts if rect.width() >= look.px(FACTS) else ()):
        x -= look.px(8)
        canvas.words(fact, QRectF(rect.x(), rect.y(), x - rect.x(), rect.height()), "small", "text-3", right=True)
        x -= look.metrics("small").horizontalAdvance(fact)
    return x - look.px(8)


def draw_chain(canvas: Canvas, part: ToolPart, foot: QRectF) -> None:
    """Draw who asked: agent, skill, tool, as far as the buttons on the right leave room for it."""
    look = canvas.look
    x = foot.x() + look.px(13)
    end = foot.right() - look.px(BUTTONS)
    chain = part.chain or (part.request.chain if part.request else ())
    names = [name for name in chain if name != part.tool or not part.title]
    if not part.title and (not names or names[-1] != part.tool):  # what has a title is named by it, at the head
        names.append(part.tool)
    for index, name in enumerate(shown_line(name) for name in names[-4:]):
        if index:
            if x + look.px(40) > end:
                return
            canvas.glyph("right", "text-3", x + look.px(3), foot.y() + (foot.height() - look.px(14)) / 2, 14)
            x += look.px(20)
        text = look.metrics("small").elidedText(name, Qt.TextElideMode.ElideMiddle, max(0.0, end - x))
        canvas.words(text, QRectF(x, foot.y(), foot.width() / 2, foot.height()), "small", "text-2")
        x += look.metrics("small").horizontalAdvance(text)


def draw_preview(canvas: Canvas, line: PreviewLine, rect: QRectF) -> None:
    """One line of what would change."""
    look = canvas.look
    if line.sign in PAST:
        _draw_past(canvas, line, rect)
        return
    if line.sign in ("summary", "fold"):
        _draw_remark(canvas, line, rect)
        return
    tokens = {"+": ("diff-add-bg", "diff-add"), "-": ("diff-del-bg", "diff-del")}
    fill, ink = tokens.get(line.sign, ("", "text-3" if not line.sign else "text"))
    if fill:
        canvas.painter.fillRect(rect, look.color(fill))
    margin = rect.adjusted(0, 0, look.px(28) - rect.width(), 0)
    canvas.words(line.number, margin, "mono-small", "text-3", right=True)
    canvas.words(line.sign, rect.adjusted(look.px(42), 0, 0, 0), "code", ink)
    room = rect.adjusted(look.px(56), 0, look.px(56) - look.px(ROOM), 0)
    text = look.metrics("code").elidedText(line.text, Qt.TextElideMode.ElideRight, room.width())
    canvas.words(text, room, "code", ink)


def _draw_past(canvas: Canvas, line: PreviewLine, rect: QRectF) -> None:
    """Past what a call goes: its kind on a ground of its own, and the words about it."""
    look, metrics = canvas.look, canvas.look.metrics("small", 500)
    x = rect.x() + look.px(13)
    if line.sign == PAST[0]:
        canvas.words(PAST_WORDS, QRectF(x, rect.y(), rect.width(), rect.height()), "small", "text-2")
    x += look.metrics("small").horizontalAdvance(PAST_WORDS) + look.px(12)
    kind = QRectF(x, rect.y(), metrics.horizontalAdvance(line.number) + look.px(12), rect.height())
    canvas.ground(kind.adjusted(0, 1, 0, -1), look.color("ask-soft"))
    canvas.words(line.number, kind.adjusted(look.px(6), 0, 0, 0), "small", "ask", 500)
    room = QRectF(kind.right() + look.px(8), rect.y(), rect.right() - kind.right() - look.px(20), rect.height())
    text = look.metrics("small").elidedText(line.text, Qt.TextElideMode.ElideMiddle, max(0.0, room.width()))
    canvas.words(text, room, "small", "text-2")


def _draw_remark(canvas: Canvas, line: PreviewLine, rect: QRectF) -> None:
    """Words of ours, not of the call: another font, and what is not shown on a ground of its own."""
    look = canvas.look
    fold = line.sign == "fold"
    if fold:
        canvas.painter.fillRect(rect.adjusted(0, 1, 0, -1), look.color("ask-soft"))
    room = rect.adjusted(look.px(56 if fold else 13), 0, -look.px(12), 0)
    text = look.metrics("small", 500).elidedText(line.text, Qt.TextElideMode.ElideRight, room.width())
    canvas.words(text, room, "small", "ask" if fold else "text", 500)
