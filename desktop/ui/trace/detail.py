"""Everything about the chosen node, and below it what the run has used of its budget."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from desktop.domain.approval.judgement import Category
from desktop.presenter.trace.budget import BudgetLine
from desktop.presenter.trace.words import SHOWN, Detail, Quote
from desktop.ui.theme.paint import meter
from desktop.ui.trace.facts import NAMES, FactList
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import Badge, StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

_CATEGORIES = frozenset(Category)


class DetailView(QFrame):
    """A node in detail. ``show_detail`` fills it; a change of words alone builds nothing anew. ``open_text`` (Quote)
    wants a whole text, ``activity_wanted`` and ``card_wanted`` lead to the call elsewhere."""

    open_text = Signal(object)
    activity_wanted = Signal()
    card_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "plain")
        column = Column(self, margins=(8, 12, 16, 10), spacing=6)
        head = Row(margins=(8, 0, 0, 4), spacing=8)
        self._title = Paragraph("", "body")
        self._badge = Badge("read")
        self.state = StateLabel()
        head.addWidget(self._title)
        head.addWidget(self._badge)
        head.addStretch(1)
        head.addWidget(self.state)
        column.addLayout(head)
        self._facts = FactList(margins=(8, 0, 0, 0))
        column.addLayout(self._facts)
        self._quotes = Column(margins=(8, 0, 0, 0), spacing=8)
        column.addLayout(self._quotes)
        column.addLayout(self._buttons())
        self._boxes: list[QuoteBox] = []
        self._detail: Detail | None = None

    def _buttons(self) -> Row:
        self.arguments = Button("Arguments", "quiet", small=True, tip="All arguments of the call")
        self.result = Button("Result", "quiet", small=True, tip="The result, as far as it is kept")
        self.activity = Button("Show in activity", "quiet", small=True, tip="Its decisions in the activity log")
        self.card = IconButton("chats", "Show its card in the chat", side=24)
        self.arguments.clicked.connect(lambda: self._open(result=False))
        self.result.clicked.connect(lambda: self._open(result=True))
        self.activity.clicked.connect(self.activity_wanted)
        self.card.clicked.connect(self.card_wanted)
        row = Row(margins=(0, 4, 0, 0), spacing=2)
        for button in (self.arguments, self.result, self.activity, self.card):
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _open(self, *, result: bool) -> None:
        detail = self._detail
        quote = None if detail is None else detail.result if result else detail.arguments
        if quote is not None:
            self.open_text.emit(quote)

    def show_detail(self, detail: Detail | None) -> None:
        """Show a node; None where nothing is chosen."""
        self.setVisible(detail is not None)
        if detail is None or detail == self._detail:
            return
        self._detail = detail
        title = shown_line(detail.title)
        self._title.set_pieces(((title, "mono" if detail.mono else "strong"),))
        category = detail.category if detail.category in _CATEGORIES else ""
        self._badge.setVisible(bool(category))
        if category:
            self._badge.set_badge(category)
        if (self.state.state, self.state.accessibleName()) != (detail.state, detail.word):
            self.state.set_state(detail.state, detail.word)
        self._facts.show_facts(detail.facts)
        if len(self._boxes) != len(detail.quotes):
            self._build_quotes(len(detail.quotes))
        for box, quote in zip(self._boxes, detail.quotes, strict=True):
            box.show_quote(quote)
        self.arguments.setVisible(detail.arguments is not None)
        self.result.setVisible(detail.result is not None)
        self.activity.setVisible(bool(detail.call_id))
        self.card.setVisible(bool(detail.call_id))
        self.setAccessibleName(f"{title}, {detail.word}")

    def _build_quotes(self, count: int) -> None:
        clear(self._quotes)
        self._boxes = []
        for _ in range(count):
            box = QuoteBox()
            box.open_text.connect(self.open_text)
            self._boxes.append(box)
            self._quotes.addWidget(box)


class QuoteBox(QFrame):
    """The first characters of a text, and the way to all of it."""

    open_text = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "plain")
        self._quote: Quote | None = None
        self._name = Text("", "small", "3")
        self._text = Paragraph("", "small")
        self.more = Button("Open all", "quiet", small=True)
        column = Column(self, spacing=2)
        head = Row(spacing=8)
        head.addWidget(self._name)
        head.addStretch(1)
        head.addWidget(self.more)
        column.addLayout(head)
        column.addWidget(self._text)
        self.more.clicked.connect(lambda: self.open_text.emit(self._quote))

    def show_quote(self, quote: Quote) -> None:
        """Show the beginning of a text."""
        if quote == self._quote:
            return
        self._quote = quote
        self._name.setText(quote.name)
        cut = len(quote.text) > SHOWN or quote.omitted > 0
        self.more.setVisible(cut)
        beginning = shown(quote.text[:SHOWN].strip()) + ("…" if cut else "")
        if beginning != self._text.text():
            self._text.set_pieces(beginning)
            self._text.setAccessibleName(f"{quote.name}: {beginning}")
        self.more.setToolTip(plain_tip(f"All {len(quote.text) + quote.omitted:,} characters"))


class _LevelMeter(QWidget):
    """A meter as wide as there is room."""

    def __init__(self) -> None:
        super().__init__()
        self.fraction = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        sized(self, height=16)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar."""
        meter(QPainter(self), self.rect(), self.fraction)


class BudgetView(QFrame):
    """What the run has used: a line a thing, with a level where there is a limit, which is named below."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "plain")
        column = Column(self, margins=(16, 12, 16, 12), spacing=4)
        column.addWidget(Text("Budget of this run", "strong"))
        self._column = Column(spacing=4)
        column.addLayout(self._column)
        self._lines: list[tuple[_LevelMeter, Text, Text]] = []
        self._shown: tuple[BudgetLine, ...] = ()

    def show_lines(self, lines: Sequence[BudgetLine]) -> None:
        """Show the lines as they are now."""
        if tuple(lines) == self._shown:
            return
        self._shown = tuple(lines)
        if len(self._lines) != len(lines):
            self._build(lines)
        for line, (level, words, where) in zip(lines, self._lines, strict=True):
            level.fraction = line.fraction or 0.0
            _keep_room(level, line.fraction is not None)
            level.update()
            words.setText(shown_line(line.words))
            words.setAccessibleName(f"{line.name}: {line.words} {line.where}".strip())
            words.updateGeometry()
            where.setText(shown_line(line.where))
            where.setVisible(bool(line.where))

    def _build(self, lines: Sequence[BudgetLine]) -> None:
        clear(self._column)
        self._lines = []
        for line in lines:
            level, words, where = _LevelMeter(), Text("", "small", "2"), Text("", "small", "3", elide="right")
            row = Row(spacing=8)
            row.addWidget(sized(Text(line.name, "small", "2"), width=NAMES))
            row.addWidget(level, 1)
            row.addWidget(words)
            below = Row(margins=(NAMES + 8, 0, 0, 0), spacing=0)
            below.addWidget(where, 1)
            self._column.addLayout(row)
            self._column.addLayout(below)
            self._lines.append((level, words, where))


def _keep_room(widget: QWidget, is_shown: bool) -> None:
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)
    widget.setVisible(is_shown)


def separator() -> QFrame:
    """A horizontal line."""
    return sized(pane("line"), height=1)
