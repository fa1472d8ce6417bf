"""The tree of a trace: a line a node, drawn with its time and its bar on the axis that all of them share."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QHideEvent, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QShowEvent

from desktop.presenter.trace.node import TraceNode
from desktop.presenter.trace.words import duration, short_minutes, short_summary
from desktop.ui.theme import theme
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.theme.paint import elided, glyph, outline, state_look
from desktop.ui.trace.tree_model import NODE, TreeModel
from desktop.ui.widgets.fixed_rows import FixedRows
from desktop.ui.widgets.rows import Index, RowDelegate
from desktop.ui.widgets.shown import shown_line

INDENT, TIME, BAR, EDGE = 14, 52, 72, 8
INDENTED = 9
"""Levels that are drawn further and further in; there has to be room for a name."""
CLOCK = 100
"""Milliseconds between two pictures of a run under way."""
_CATEGORIES = frozenset({"read", "write", "admin"})
_SAID = {"waiting": "waiting", "failed": "", "denied": "", "aborted": "", "limit": "limit", "writing": "writing"}
"""What a marked row says beside its mark."""
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)


def icon_of(node: TraceNode) -> tuple[str, str]:
    """(icon, colour token) of a node: what it is, and what it did to the machine."""
    if node.kind == "agent":
        return agent_icon(node.title), "text-2"
    if node.kind == "round":
        return "model", "running" if node.state == "writing" else "text-2"
    token = "failed" if node.state == "failed" else node.category if node.category in _CATEGORIES else "text-2"
    if node.runs_commands:
        return "terminal", token
    return (node.category, token) if node.category in _CATEGORIES else ("step", token)


def short_time(seconds: float) -> str:
    """``0.04 s``, ``9.8 s``, ``3m 20s``, ``2h 05m``: what fits into the column."""
    if seconds < 59.95:
        return f"{seconds:.2f} s" if seconds < 0.095 else f"{seconds:.1f} s"
    return short_minutes(seconds)


class TraceDelegate(RowDelegate):
    """Chevron, icon, name, state, time, bar."""

    height = 28
    inset = 8

    def __init__(self, model: TreeModel) -> None:
        super().__init__()
        self._model = model
        self.angle = 0.0

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one node."""
        px, node = theme().px, index.data(NODE)
        x = box.x() + px(INDENT) * min(node.level, INDENTED)
        if node.children:
            mark = "down" if self._model.is_open(node) else "right"
            glyph(painter, QRect(x + px(7), box.y(), px(14), box.height()), mark, "text-2", px(14))
        icon, token = icon_of(node)
        glyph(painter, QRect(x + px(26), box.y(), px(16), box.height()), icon, token, px(16))
        bar = QRect(box.right() + 1 - px(EDGE + BAR), box.y(), px(BAR), box.height())
        clock = QRect(bar.x() - px(8 + TIME), box.y(), px(TIME), box.height())
        self._draw_time(painter, clock, node)
        left = x + px(48)
        self._draw_words(painter, QRect(left, box.y(), max(0, clock.x() - left), box.height()), node, selected=selected)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_bar(painter, bar, node)

    def _draw_time(self, painter: QPainter, rect: QRect, node: TraceNode) -> None:
        t = theme()
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        painter.drawText(rect, _RIGHT, short_time(duration(node, self._model.axis, self._model.now)))

    def _draw_words(self, painter: QPainter, room: QRect, node: TraceNode, *, selected: bool) -> None:
        t = theme()
        look, word = state_look(node.state), _SAID.get(node.state, "")
        mark, token = (look.icon, look.token) if node.state in _SAID else ("", "")
        if node.state == "running" and node.kind == "call":
            mark, token, word = "running", "running", ""
        word_font = t.font("small", 500)
        behind = t.px(20) if mark else 0
        advance = QFontMetrics(word_font).horizontalAdvance(word) + t.px(8)
        word = word if room.width() >= behind + advance + t.px(48) else ""
        behind += advance if word else 0
        weight = 600 if node.level == 0 else 500 if selected else None
        words = shown_line(f"{node.title} {short_summary(node) if node.kind == 'call' else ''}".strip()[:200])
        text = elided(words, "small", max(0, room.width() - behind - t.px(4)), weight=weight)
        font = t.font("small", weight)
        painter.setFont(font)
        painter.setPen(t.color("running" if node.state == "writing" else "text"))
        painter.drawText(room, _LEFT, text)
        x = room.x() + QFontMetrics(font).horizontalAdvance(text) + t.px(6)
        if mark:
            angle = self.angle if mark == "running" else 0.0
            glyph(painter, QRect(x, room.y(), t.px(14), room.height()), mark, token, t.px(14), angle)
        if word:
            painter.setFont(word_font)
            painter.setPen(t.color(token))
            painter.drawText(QRect(x + t.px(18), room.y(), room.width(), room.height()), _LEFT, word)

    def _draw_bar(self, painter: QPainter, room: QRect, node: TraceNode) -> None:
        """Work is solid, waiting for the person hollow."""
        t, axis, now = theme(), self._model.axis, self._model.now
        height = t.px(6)
        top = room.y() + (room.height() - height) / 2
        end = now if node.ended is None else node.ended

        def span(start: float, stop: float, minimum: int) -> QRectF:
            x0, x1 = room.width() * axis.place(start), room.width() * axis.place(stop)
            width = max(float(t.px(minimum)), x1 - x0)
            return QRectF(room.x() + min(x0, room.width() - width), top, width, height)

        token = _bar_token(node)
        at, cursor = node.started, room.x() + 0.0
        for begun, over in node.waits:
            hollow = span(begun or at, end if over is None else over, 6)
            if begun is not None and begun - at > axis.counted * 0.01:
                self._solid(painter, span(at, begun, 2), token)
            outline(painter, hollow, t.px(1), t.color("ask"))
            at, cursor = end if over is None else over, hollow.right() + t.px(1)
        solid = span(at, end, 2)
        if not node.waits or (node.waits[-1][1] is not None and node.state != "denied"):
            solid.moveLeft(max(solid.x(), cursor))
            self._solid(painter, solid, token)

    @staticmethod
    def _solid(painter: QPainter, rect: QRectF, token: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color(token))
        radius = min(theme().px(2), rect.width() / 3)
        painter.drawRoundedRect(rect, radius, radius)


def _bar_token(node: TraceNode) -> str:
    if node.state == "writing":
        return "running"
    if node.kind == "agent":
        return "border-strong"
    if node.kind == "call" and node.category in _CATEGORIES:
        return node.category
    return "text-3"


class TraceRows(FixedRows):
    """Left folds or goes up a level, right opens or goes down one. ``chosen`` (node) follows the current line;
    ``card_wanted`` (node) by Return, ``copy_wanted`` (node) by Ctrl+C, ``resized`` when a branch opened or folded."""

    chosen = Signal(object)
    card_wanted = Signal(object)
    copy_wanted = Signal(object)
    resized = Signal()

    def __init__(self, model: TreeModel) -> None:
        painted = TraceDelegate(model)
        super().__init__("Trace of the run", painted, lead=8)
        self._painted = painted
        self._nodes = model
        model.setParent(self)
        self.setModel(model)
        self.selectionModel().currentChanged.connect(self._moved)
        self.activated.connect(lambda index: self.card_wanted.emit(index.data(NODE)))
        self._clock = QTimer(self, interval=CLOCK)
        self._clock.timeout.connect(self._tick)

    @property
    def current(self) -> TraceNode | None:
        """The line that keys are at."""
        index = self.currentIndex()
        return index.data(NODE) if index.isValid() else None

    def set_live(self, live: bool) -> None:
        """Whether the run goes on: then its clock does."""
        if live and self.isVisible():
            self._clock.start()
        elif not live:
            self._clock.stop()
        self.setProperty("live", live)

    def select(self, node: TraceNode | None) -> None:
        """Make a node the current line, if it shows."""
        row = self._nodes.row_of(node)
        index = self._nodes.index(row) if row >= 0 else QModelIndex()
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def show_node(self, node: TraceNode) -> None:
        """Open what is above it, and go there."""
        row = self._nodes.reveal(node)
        if row >= 0:
            self.select(node)
            self.scrollTo(self._nodes.index(row))
            self.resized.emit()

    def refresh(self, *, live: bool = False) -> None:
        """Show what has come since. At the end of a run under way the list stays at its end; a chosen line stays
        chosen."""
        node = self.current
        end = live and self.at_end and (node is None or node is self._nodes.lines[-1])
        self._nodes.refresh()
        if node is not None and self.current is not node:
            self.select(node)
        self.updateGeometries()
        if end:
            self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self.viewport().update()

    def _moved(self, now: QModelIndex, _before: QModelIndex) -> None:
        if now.isValid():
            self.chosen.emit(now.data(NODE))

    def _tick(self) -> None:
        turn = theme().duration("spinner")
        self._painted.angle = (self._painted.angle + 360 * CLOCK / turn) % 360 if turn else 0.0
        self._nodes.tick()
        self.viewport().update()

    def showEvent(self, event: QShowEvent) -> None:
        """The clock goes only while it is seen."""
        super().showEvent(event)
        self.set_live(bool(self.property("live")))

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop the movement."""
        super().hideEvent(event)
        self._clock.stop()

    # -- keys and clicks ----------------------------------------------------------------------------------------------

    def fold(self, node: TraceNode, is_open: bool) -> None:
        """Open or fold it; it stays the current line."""
        self._nodes.fold(node, is_open)
        self.select(node)
        self.updateGeometries()
        self.viewport().update()
        self.resized.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys open and close nodes, as in any tree."""
        node = self.current
        if event.matches(QKeySequence.StandardKey.Copy) and node is not None:
            self.copy_wanted.emit(node)
        elif event.key() == Qt.Key.Key_Right and node is not None:
            self._go_in(node)
        elif event.key() == Qt.Key.Key_Left and node is not None:
            self._go_out(node)
        else:
            super().keyPressEvent(event)

    def _go_in(self, node: TraceNode) -> None:
        if node.children and not self._nodes.is_open(node):
            self.fold(node, True)
        elif node.children:
            self.select(node.children[0])
            self.scrollTo(self.currentIndex())

    def _go_out(self, node: TraceNode) -> None:
        if self._nodes.is_open(node):
            self.fold(node, False)
        elif node.parent is not None:
            self.select(node.parent)
            self.scrollTo(self.currentIndex())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on the chevron opens or folds."""
        index = self.indexAt(event.position().toPoint())
        node = index.data(NODE) if index.isValid() else None
        if node is not None and node.children and event.button() == Qt.MouseButton.LeftButton:
            x = event.position().x() - theme().px(8) - theme().px(INDENT) * min(node.level, INDENTED)
            if theme().px(2) <= x < theme().px(25):
                self.fold(node, not self._nodes.is_open(node))
                return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A double click on the line opens or folds, too."""
        node = self.current
        if node is not None and node.children:
            self.fold(node, not self._nodes.is_open(node))
