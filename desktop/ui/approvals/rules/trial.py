"""What would change if a rule were saved: three counts, the tricks that get through, what is still stopped."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from desktop.domain.approval.rules import RuleDecision, RuleDraft, SimulatedCall, Simulation
from desktop.presenter.approvals.rules_editing import RuleEditor
from desktop.presenter.approvals.rules_words import OUTCOMES
from desktop.ui.approvals.rules.text import marked_line, reason_pieces, times_words, tip
from desktop.ui.theme import theme
from desktop.ui.theme.paint import outline, state, state_size
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.focus import Ringed
from desktop.ui.widgets.layout.containers import Notice, clear
from desktop.ui.widgets.marks import Icon, StateLabel
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Piece, Text, break_lines

FEW, MORE = 2, 40
"""Rows of a section at first, and added by each press of "more"."""
LINES = 5
STROKE = 0.7
"""Pixels at 100 % around the letters of what makes a trick one: the typeface has no bold face."""
NEW = "Write which tool the rule is about, and in parentheses what its arguments must fit."
EXAMPLES: tuple[Piece, ...] = (
    ("For example ", ""),
    ("bash(command=git status*)", "mono"),
    (" or ", ""),
    ("write-file(path=docs/**)", "mono"),
    (". While you write, it is tested on your recorded calls and on known tricks.", ""),
)


class Tile(Ringed, QAbstractButton):
    """A count with its words; pressing it goes to the calls that it counts. ``alarm`` outlines it in red."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0
        self._words = ""
        self._alarm = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_count(self, count: int, words: str, *, alarm: bool = False) -> None:
        """Show another count."""
        self._count, self._words, self._alarm = count, words, alarm
        self.setAccessibleName(f"{count:,} {words}")
        self.update()

    @property
    def count(self) -> int:
        """How many rows the list shows."""
        return self._count

    def sizeHint(self) -> QSize:
        """A tile 72 pixels high."""
        return QSize(theme().px(96), theme().px(72))

    def minimumSizeHint(self) -> QSize:
        """Three of them fit beside each other anywhere."""
        return QSize(theme().px(60), theme().px(72))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The number above its words."""
        t = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(t.color("hover" if self.underMouse() else "surface"))
        painter.drawRoundedRect(box, t.px(8), t.px(8))
        outline(painter, box, t.px(8), t.color("failed" if self._alarm else "border"))
        inside = self.rect().adjusted(t.px(12), t.px(8), -t.px(8), -t.px(4))
        painter.setFont(t.font("title"))
        painter.setPen(t.color("failed" if self._alarm else "text"))
        top = QRect(inside.x(), inside.y(), inside.width(), t.px(24))
        painter.drawText(top, _LEFT, f"{self._count:,}")
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        below = inside.adjusted(0, t.px(24), 0, 0)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignTop) | int(Qt.TextFlag.TextWordWrap), self._words)


class CallRow(QWidget):
    """The row of one call: its text with what makes it a trick marked, what happens to it now, and why. Painted,
    because there may be many."""

    def __init__(self, call: SimulatedCall, *, loud: bool, look: str = "") -> None:
        super().__init__()
        self._loud = loud
        self.line, self._marked = marked_line(call.text, call.marked)
        name, self._word = OUTCOMES[call.after]
        self._state = look or name
        self._why = reason_pieces(", ".join(part for part in (call.why, times_words(call.times)) if part))
        self._laid: tuple[tuple[int, float, str], QTextLayout, int, QTextLayout, int] | None = None
        why = "".join(text for text, _ in self._why)
        self.setAccessibleName(f"{self.line}: {self._word}" + (f", {why}" if why else ""))
        self.setToolTip(tip(f"{call.tool}: {call.text}"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def marked(self) -> tuple[str, ...]:
        """The parts of the call's line that are marked."""
        return tuple(self.line[at : at + length] for at, length in self._marked)

    def sizeHint(self) -> QSize:
        """The height of the lines at the present width."""
        return QSize(theme().px(200), self._height())

    def minimumSizeHint(self) -> QSize:
        """The least size: narrow, but as high as its lines."""
        return QSize(theme().px(100), self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adopt the height that the new width needs."""
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.setMinimumHeight(self._height())
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A line above, the text and its state, the reason."""
        t = theme()
        painter = QPainter(self)
        painter.fillRect(QRect(0, 0, self.width(), 1), t.color("border"))
        text, height, why, _ = self._laid_out()
        top = t.px(9)
        painter.setPen(t.color("text"))
        painter.save()
        painter.setClipRect(QRect(0, top, self.width(), height))
        text.draw(painter, QPointF(0, top))
        painter.restore()
        state(painter, QRect(0, top, self.width(), t.px(20)), self._state, self._word, right=True)
        painter.setPen(t.color("text-2"))
        why.draw(painter, QPointF(0, top + height))

    def _height(self) -> int:
        _, text, _, why = self._laid_out()
        return text + why + theme().px(17)

    def _laid_out(self) -> tuple[QTextLayout, int, QTextLayout, int]:
        t = theme()
        key = (self.width(), t.scale, t.mode)
        if self._laid is None or self._laid[0] != key:
            room = self.width() - state_size(self._state, self._word).width() - t.px(10)
            token = "failed" if self._loud else "text"
            text = _layout(self.line, "code", [(*at, "code", 500, token) for at in self._marked])
            line = t.line_height("code")
            height = min(break_lines(text, max(1, room), line), LINES * line)
            mono, at = [], 0
            for piece, style in self._why:
                if style:
                    mono.append((at, len(piece), "code", 400, "text-2"))
                at += len(piece)
            why = _layout("".join(piece for piece, _ in self._why), "small", mono)
            below = break_lines(why, max(1, self.width()), t.px(20)) if self._why else 0
            self._laid = (key, text, height, why, below)
        return self._laid[1:]


def _layout(text: str, role: str, formats: Sequence[tuple[int, int, str, int, str]]) -> QTextLayout:
    """Text with parts (start, length, role, weight, colour token) that look otherwise."""
    t = theme()
    layout = QTextLayout(text, t.font(role))
    ranges = []
    for start, length, part, weight, token in formats:
        made, look = QTextLayout.FormatRange(), QTextCharFormat()
        look.setFont(t.font(part, weight))
        look.setForeground(t.color(token))
        if weight > 400:
            look.setTextOutline(QPen(t.color(token), STROKE * t.scale))
        made.start, made.length, made.format = start, length, look
        ranges.append(made)
    layout.setFormats(ranges)
    option = QTextOption(Qt.AlignmentFlag.AlignLeft)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    return layout


class TrialSection(QWidget):
    """A heading and calls below it: a few, and more when asked."""

    def __init__(self, title: str, calls: Sequence[SimulatedCall], count: int, *, loud: bool, look: str = "") -> None:
        super().__init__()
        self._calls, self._count, self._loud, self._look = calls, count, loud, look
        self._shown = 0
        self.setAccessibleName(f"{title}: {count:,}")
        column = Column(self, spacing=0)
        head = sized(QWidget(), height=32)
        row = Row(head, spacing=6)
        if loud:
            row.addWidget(Icon("failed", "failed", 16))
        row.addWidget(Text(title, "medium", "failed" if loud else ""))
        row.addStretch(1)
        column.addWidget(head)
        self._rows = Column(spacing=0)
        column.addLayout(self._rows)
        self.more = Button("", "quiet", small=True, chevron=True)
        self.more.clicked.connect(lambda: self.grow(MORE))
        self._rest = Text("", "small", "3")
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._rest)
        self.grow(len(calls) if loud and len(calls) <= FEW + 2 else FEW)

    @property
    def rows(self) -> list[CallRow]:
        """The calls that are shown."""
        return self.findChildren(CallRow)

    def grow(self, by: int) -> None:
        """Show more of them."""
        for call in self._calls[self._shown : self._shown + by]:
            self._rows.addWidget(CallRow(call, loud=self._loud, look=self._look))
        self._shown = min(len(self._calls), self._shown + by)
        left, unlisted = len(self._calls) - self._shown, self._count - len(self._calls)
        self.more.set_label(f"{left + unlisted:,} more")
        self.more.setVisible(left > 0)
        self._rest.setText(f"and {unlisted:,} more like these")
        self._rest.setVisible(left <= 0 < unlisted)


class RuleTrialView(QWidget):
    """Follows an editor's simulation. ``reveal`` carries a section that shall be scrolled to."""

    reveal = Signal(object)

    def __init__(self, editor: RuleEditor) -> None:
        super().__init__()
        self._editor = editor
        self._shown: tuple[Simulation | None, RuleDraft | None] = (None, None)
        self._sections: dict[str, TrialSection] = {}
        column = Column(self, spacing=0)
        head = Row(spacing=8)
        head.addWidget(Text("What would change", "strong"))
        head.addStretch(1)
        self.figure = Text("", "small", "2")
        self.busy = StateLabel("running", "trying")
        head.addWidget(self.figure)
        head.addWidget(self.busy)
        column.addLayout(head)
        column.addSpacing(theme().px(8))
        self._tiles = QWidget()
        tiles = Row(self._tiles, spacing=8)
        self.first, self.through, self.held = Tile(), Tile(), Tile()
        for tile, name in ((self.first, "first"), (self.through, "through"), (self.held, "held")):
            tiles.addWidget(tile, 1)
            tile.clicked.connect(lambda _=False, name=name: self._go(name))
        column.addWidget(self._tiles)
        self.trouble = Notice("failed")
        self.trouble.hide()
        column.addWidget(self.trouble)
        self._hint = Paragraph(((NEW + " ", ""), *EXAMPLES), "small", "2")
        column.addWidget(self._hint)
        self._list = Column(spacing=6)
        column.addSpacing(theme().px(10))
        column.addLayout(self._list)
        editor.tried.connect(self.refresh)
        editor.opened.connect(self.refresh)
        self.refresh()

    def section(self, name: str) -> TrialSection | None:
        """``through`` | ``held`` | ``passing`` | ``stopped``."""
        return self._sections.get(name)

    def refresh(self) -> None:
        """Show what the editor has now; the last result stays, marked as being tried, until there is a newer one."""
        editor = self._editor
        found = editor.simulation if editor.ready else None
        shown = (found, editor.tried_draft)
        self.busy.set_state("running" if editor.ready and editor.trying else "", "trying")
        self.busy.setVisible(editor.ready and editor.trying)
        self.figure.setVisible(found is not None and not editor.trying)
        self.trouble.setVisible(bool(editor.trouble) and editor.ready and found is None)
        self.trouble.say(f"It could not be tested. {editor.trouble}")
        self._tiles.setVisible(found is not None)
        self._hint.setVisible(editor.draft is not None and not editor.draft.pattern.strip())
        if shown != self._shown:
            self._shown = shown
            self._show(*shown)

    def _show(self, found: Simulation | None, draft: RuleDraft | None) -> None:
        clear(self._list)
        self._sections = {}
        if found is None or draft is None:
            return
        decision = draft.decision
        self.figure.setText(f"{_count(found.recorded, 'recorded call')}, {_count(found.tricks, 'trick')}")
        self.figure.updateGeometry()
        stops = decision != "allow" or (found.stopped_count > 0 and not found.passing_count)
        self.first.show_count(
            *((found.stopped_count, _STOPS[decision]) if stops else (found.passing_count, "would stop asking"))
        )
        self.through.show_count(found.through_count, _tricks(found.through_count), alarm=found.through_count > 0)
        self.held.show_count(found.held_count, "tricks still stopped")
        self._add("through", "These would run without asking", found.through, found.through_count, loud=True)
        self._add("held", "Still stopped", found.held, found.held_count)
        self._add("passing", "These would stop asking", found.passing, found.passing_count, look="allow")
        self._add("stopped", _STOPPED[decision], found.stopped, found.stopped_count)
        self._list.addStretch(1)

    def _add(
        self, name: str, title: str, calls: Sequence[SimulatedCall], count: int, *, loud: bool = False, look: str = ""
    ) -> None:
        if calls:
            self._sections[name] = TrialSection(title, calls, count, loud=loud, look=look)
            self._list.addWidget(self._sections[name])

    def _go(self, name: str) -> None:
        found = (
            self._sections.get(name)
            if name != "first"
            else (self._sections.get("passing") or self._sections.get("stopped"))
        )
        if found is not None:
            self.reveal.emit(found)


_STOPS: dict[RuleDecision, str] = {"allow": "would ask again", "ask": "would ask", "deny": "would be denied"}
_STOPPED: dict[RuleDecision, str] = {
    "allow": "These would ask again",
    "ask": "These would ask",
    "deny": "These would be denied",
}


def _tricks(count: int) -> str:
    return "trick gets through" if count == 1 else "tricks get through"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
