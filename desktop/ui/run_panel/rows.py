"""The agents of a run as rows of two lines: who it is and what it does; what it has used, and its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QHideEvent, QKeyEvent, QMouseEvent, QPainter, QShowEvent

from desktop.domain.runs.tree import NodeFacts
from desktop.presenter.run_panel.nodes import AgentLine
from desktop.presenter.run_panel.words import figures, is_turning, look_of, short_time, spoken, word_of
from desktop.ui.theme import theme
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.theme.paint import elided, glyph, state, state_size
from desktop.ui.widgets.fixed_rows import FixedRows
from desktop.ui.widgets.rows import Index, LinesModel, RowDelegate
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.side_marks import side_mark
from desktop.ui.widgets.tips import plain_tip

LINE = int(Qt.ItemDataRole.UserRole)
INDENT, INDENTED = 14, 8
"""Pixels a level, and the levels that are drawn further and further in: there has to be room for a name."""
SHOWN = 300
CLOCK = 100
"""Milliseconds between two pictures of a turning glyph."""
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)


class AgentModel(LinesModel):
    """The agents that show."""

    lines: list[AgentLine]

    def refresh(self, lines: Sequence[AgentLine]) -> None:
        """Show the agents of the same run as they are now."""
        self.follow(list(lines), _alike)

    def row_of(self, path: str) -> int:
        """The row of an agent, or -1."""
        return next((row for row, line in enumerate(self.lines) if line.path == path), -1)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The line under ``LINE``."""
        line = self.lines[index.row()]
        if role == LINE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return shown_line(line.facts.agent[:SHOWN])
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return shown_line(spoken(line)[:SHOWN])
        if role == Qt.ItemDataRole.ToolTipRole:
            head = shown_line(f"{line.facts.agent}: {word_of(line)}"[:SHOWN])
            return plain_tip(f"{head}\n{shown_line(figures(line.facts)[:SHOWN])}")
        return None


def _alike(one: list[AgentLine], other: list[AgentLine]) -> int:
    """How many agents are the same from the beginning."""
    count = min(len(one), len(other))
    return next((at for at in range(count) if one[at].path != other[at].path), count)


def lines_of(facts: NodeFacts) -> list[str]:
    """The second line of an agent, whole and ever shorter."""
    return [shown_line(figures(facts, without=left_out)[:SHOWN]) for left_out in range(4)]


class AgentDelegate(RowDelegate):
    """Chevron, glyph or side, name, state; below it what it has used."""

    height = 48
    inset = 8

    def __init__(self) -> None:
        super().__init__()
        self.angle = 0.0

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one agent; one that has ended is quiet."""
        px = theme().px
        line: AgentLine = index.data(LINE)
        x, half = box.x() + px(INDENT) * min(line.level, INDENTED), px(20)
        top = QRect(x, box.y() + px(4), box.right() + 1 - px(8) - x, half)
        if line.below:
            mark = "down" if line.is_open else "right"
            glyph(painter, QRect(x + px(7), top.y(), px(14), half), mark, "text-2", px(14))
        self._draw_who(painter, QRect(x + px(26), top.y(), px(16), half), line.facts)
        left = x + px(48)
        words = QRect(left, top.y(), max(0, top.right() + 1 - left), half)
        self._draw_head(painter, words, line, selected=selected)
        self._draw_figures(painter, words.translated(0, half), line.facts)

    def _draw_who(self, painter: QPainter, room: QRect, facts: NodeFacts) -> None:
        if facts.side in ("a", "b"):
            side = theme().px(10)
            x, y = room.x() + (room.width() - side) / 2, room.y() + (room.height() - side) / 2
            side_mark(painter, QRectF(x, y, side, side), facts.side)  # type: ignore[arg-type]  # it is one of the two
        else:
            glyph(painter, room, agent_icon(facts.agent), "text-3" if facts.state.over else "text-2", theme().px(16))

    def _draw_head(self, painter: QPainter, room: QRect, line: AgentLine, *, selected: bool) -> None:
        t, facts = theme(), line.facts
        look = look_of(facts)
        glyph_room = state_size(look, " ").width()
        maximum = max(0, room.width() * 6 // 10 - glyph_room)
        word = elided(shown_line(word_of(line)[:SHOWN]), "small", maximum, weight=500)
        angle = self.angle if is_turning(facts) else 0.0
        used = state(painter, room, look, word, right=True, angle=angle)
        weight = 600 if not line.level else 500
        font = t.font("body", weight)
        painter.setFont(font)
        painter.setPen(t.color("text-2" if facts.state.over and not selected else "text"))
        name = shown_line(facts.agent[:SHOWN])
        painter.drawText(room, _LEFT, elided(name, "body", room.width() - used - t.px(8), weight=weight))

    def _draw_figures(self, painter: QPainter, room: QRect, facts: NodeFacts) -> None:
        """The time never gives way, the model first, what was used last."""
        t = theme()
        font = t.font("small")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(t.color("text-3" if facts.state.over else "text-2"))
        clock = short_time(facts.elapsed_s)
        if facts.waited_s >= 1:
            clock += f" + {short_time(facts.waited_s)} waited"
        painter.drawText(room, _RIGHT, clock)
        free = room.width() - metrics.horizontalAdvance(clock) - t.px(10)
        whole = next((words for words in lines_of(facts) if metrics.horizontalAdvance(words) <= free), "")
        painter.drawText(room, _LEFT, whole or elided(lines_of(facts)[-1], "small", free))


class AgentRows(FixedRows):
    """Left and right fold, Return leads on, Space pauses or resumes, Delete cancels. Each signal has an agent's path;
    ``menu_wanted`` also a place on the screen."""

    chosen = Signal(str)
    folded = Signal(str, bool)
    go_wanted = Signal(str)
    pause_wanted = Signal(str)
    cancel_wanted = Signal(str)
    menu_wanted = Signal(str, QPoint)

    def __init__(self, model: AgentModel) -> None:
        painted = AgentDelegate()
        super().__init__("Agents of the run", painted, lead=8)
        self._painted, self._agents = painted, model
        model.setParent(self)
        self.setModel(model)
        self.selectionModel().currentChanged.connect(self._moved)
        self.activated.connect(lambda index: self.go_wanted.emit(index.data(LINE).path))
        self._clock = QTimer(self, interval=CLOCK)
        self._clock.timeout.connect(self._tick)

    @property
    def current(self) -> AgentLine | None:
        """The agent that keys are at."""
        index = self.currentIndex()
        return index.data(LINE) if index.isValid() else None

    def select(self, path: str) -> None:
        """Make an agent the current one, if it shows."""
        row = self._agents.row_of(path)
        index = self._agents.index(row) if row >= 0 else QModelIndex()
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def refresh(self, lines: Sequence[AgentLine]) -> None:
        """The same run as it is now. What a person looks at stays where it is, whatever comes above it."""
        current, bar = self.current, self.verticalScrollBar()
        seen, before = self.rows_in_sight(), self._agents.lines
        kept = current.path if current is not None and self._agents.row_of(current.path) in seen else ""
        kept = kept or (before[seen.start].path if seen.start < len(before) else "")
        was = self._agents.row_of(kept)
        self._agents.refresh(lines)
        if current is not None and (self.current is None or self.current.path != current.path):
            self.select(current.path)
        self.updateGeometries()
        now = self._agents.row_of(kept)
        if was >= 0 and now >= 0 and now != was and bar.value() > 0:
            bar.setValue(bar.value() + (now - was) * self.row_height)
        self.turn()
        self.viewport().update()

    def turn(self) -> None:
        """The glyphs turn while somebody is at work, and looked at."""
        at_work = any(is_turning(line.facts) for line in self._agents.lines)
        if at_work and self.isVisible() and theme().duration("spinner"):
            if not self._clock.isActive():
                self._clock.start()
        else:
            self._clock.stop()
            self._painted.angle = 0.0

    def _tick(self) -> None:
        turn = theme().duration("spinner")
        self._painted.angle = (self._painted.angle + 360 * CLOCK / turn) % 360 if turn else 0.0
        width = self.viewport().width()
        for row in self.rows_in_sight():
            if is_turning(self._agents.lines[row].facts):
                place = self.visualRect(self._agents.index(row))
                self.viewport().update(QRect(width // 3, place.y(), width - width // 3, theme().px(26)))

    def showEvent(self, event: QShowEvent) -> None:
        """Start the movement, which runs only while the list is seen."""
        super().showEvent(event)
        self.turn()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop the movement."""
        super().hideEvent(event)
        self._clock.stop()

    def _moved(self, now: QModelIndex, _before: QModelIndex) -> None:
        if now.isValid():
            self.chosen.emit(now.data(LINE).path)

    # -- keys and clicks ----------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move as in a tree, and act on the agent by its keys."""
        line, key = self.current, event.key()
        if line is None:
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.pause_wanted.emit(line.path)
        elif key == Qt.Key.Key_Delete and not event.isAutoRepeat():
            self.cancel_wanted.emit(line.path)
        elif key == Qt.Key.Key_Right:
            self._go_in(line)
        elif key == Qt.Key.Key_Left:
            self._go_out(line)
        elif key not in (Qt.Key.Key_Space, Qt.Key.Key_Delete):
            super().keyPressEvent(event)

    def _go_in(self, line: AgentLine) -> None:
        row = self._agents.row_of(line.path)
        if line.below and not line.is_open:
            self.folded.emit(line.path, False)
        elif line.below and row + 1 < len(self._agents.lines):
            self.select(self._agents.lines[row + 1].path)
            self.scrollTo(self.currentIndex())

    def _go_out(self, line: AgentLine) -> None:
        if line.below and line.is_open:
            self.folded.emit(line.path, True)
        elif self._agents.row_of(line.facts.parent) >= 0:
            self.select(line.facts.parent)
            self.scrollTo(self.currentIndex())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on the chevron folds; one on *waiting for you* leads to the request."""
        place = event.position().toPoint()
        index = self.indexAt(place)
        line: AgentLine | None = index.data(LINE) if index.isValid() else None
        super().mousePressEvent(event)
        if line is None or event.button() != Qt.MouseButton.LeftButton:
            return
        px = theme().px
        x = place.x() - px(8) - px(INDENT) * min(line.level, INDENTED)
        if line.below and px(2) <= x < px(25):
            self.folded.emit(line.path, line.is_open)
        elif look_of(line.facts) == "waiting" and self._on_state(line, index, place):
            self.go_wanted.emit(line.path)

    def _on_state(self, line: AgentLine, index: QModelIndex, place: QPoint) -> bool:
        width, row = state_size("waiting", shown_line(word_of(line))).width(), self.visualRect(index)
        return place.x() >= row.right() - theme().px(16) - width and place.y() < row.y() + theme().px(26)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A double click does what Return does."""
        line = self.current
        if line is not None and event.button() == Qt.MouseButton.LeftButton:
            self.go_wanted.emit(line.path)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with the agent under the pointer, or with the current one."""
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if by_mouse else self.currentIndex()
        if index.isValid():
            at = event.globalPos() if by_mouse else self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
            self.menu_wanted.emit(index.data(LINE).path, at)
