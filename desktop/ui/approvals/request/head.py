"""The upper part of a request: which tool, how grave, who asks, where, and why (R-PRM-2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.approvals.call_words import asks_words
from desktop.presenter.approvals.request_facts import FOLLOWS, Fact, asked_by, request_facts
from desktop.presenter.approvals.request_words import ASKS, is_command, past_words
from desktop.ui.theme import theme
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.controls.buttons import Button, OneClickButton
from desktop.ui.widgets.layout.containers import caption_value
from desktop.ui.widgets.marks import Badge, StateLabel
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip


class Crumbs(QWidget):
    """Agent, skill, tool, with arrows between; cut at its end when there is no room."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = [shown_line(name) for name in names]
        self.setAccessibleName(" asks ".join(self._names))
        self.setToolTip(plain_tip(" › ".join(self._names)))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """The size of one line of all names."""
        metrics = QFontMetrics(theme().font("body"))
        gap = theme().px(19)
        words = sum(metrics.horizontalAdvance(n) + gap for n in self._names)
        return QSize(self._who() + words, theme().line_height("body"))

    def _who(self) -> int:
        """The width of the icon of the agent that asks, if it has one."""
        return theme().px(22) if self._names and theme().has_agent(self._names[0]) else 0

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the names and the arrows between them."""
        t = theme()
        painter = QPainter(self)
        painter.setFont(t.font("body"))
        metrics = QFontMetrics(t.font("body"))
        x = self._who()
        if x:
            side = t.px(16)
            glyph(painter, QRect(0, 0, side, self.height()), agent_icon(self._names[0]), "text-2", side)
        for at, name in enumerate(self._names):
            if at:
                side = t.px(14)
                glyph(painter, QRect(x + t.px(2), 0, side, self.height()), "right", "text-2", side)
                x += t.px(19)
            painter.setPen(t.color("text"))
            text = elided(name, "body", self.width() - x)
            painter.drawText(x, (self.height() + metrics.ascent() - metrics.descent()) // 2, text)
            x += metrics.horizontalAdvance(text)


class RequestHead(QWidget):
    """``deny_all`` when the person has had enough of the run."""

    deny_all = Signal()
    rule_wanted = Signal(str)

    def __init__(
        self,
        request: PermissionRequest,
        thread_title: str,
        *,
        titles: Mapping[str, str] | None = None,
        with_deny_all: bool = True,
    ) -> None:
        """``titles`` are what a person reads of agents, by their names."""
        super().__init__()
        column = self._column = Column(self, spacing=12)
        if request.unknown and with_deny_all:
            column.addWidget(Text(ASKS, "title"))
        column.addLayout(_title_row(request))
        lower = Row(spacing=16)
        facts = Column(spacing=5)
        for caption, widget in _facts(request, thread_title, titles or {}):
            facts.addLayout(caption_value(caption, widget))
        if request.past_edge:
            facts.addLayout(caption_value("Past the edge", Paragraph(past_words(request))))
        if request.rule:
            facts.addLayout(caption_value("Asked for by", self._rule(request.rule, linked=with_deny_all)))
        lower.addLayout(facts, 1)
        column.addLayout(lower)
        if not with_deny_all or request.unknown:
            return
        deny_all = OneClickButton("Deny all from this run", "danger", small=True)
        deny_all.setToolTip("Deny this and every other request of the same run")
        deny_all.clicked.connect(self.deny_all)
        lower.addWidget(deny_all, 0, Qt.AlignmentFlag.AlignTop)

    def put_below_title(self, widget: QWidget) -> None:
        """What is to be known before everything else."""
        self._column.insertWidget(self._column.count() - 1, widget)

    def _rule(self, pattern: str, *, linked: bool) -> QWidget:
        """The rule that says to ask; beside the list of rules with a way there."""
        if not linked:
            return _beside(_mono(pattern))
        show = Button("Show the rule", "quiet", small=True)
        show.clicked.connect(lambda: self.rule_wanted.emit(pattern))
        return _beside(_mono(pattern), show)


QUESTIONS = {"web": "May it read this page?", "search": "May it make this search?"}
"""In the place of what a tool says of itself."""


def _title_row(request: PermissionRequest) -> Row:
    row = Row(spacing=8)
    asks = asks_words(request)
    row.addWidget(Text(asks, "title") if asks else Text(shown_line(request.tool)[:80], "mono-title"))
    about = QUESTIONS.get(str(request.preview.get("kind")), request.description)
    row.addWidget(Text("" if asks else shown_line(about), "body", "2", elide="right"), 1)
    if request.stale:
        row.addWidget(Badge("changed"))
    if request.original is not None:
        row.addWidget(Badge("edited"))
    raised = request.category is Category.ADMIN and request.raised_because
    kind = "raised" if raised else request.category.value
    if request.follows:
        row.addWidget(Badge("follows"))
    if request.preview.get("kind") in ("web", "search"):
        row.addWidget(Badge("network", "new host" if request.preview["kind"] == "web" else "new service"))
    row.addWidget(Badge(kind, "command" if kind == "write" and is_command(request) else ""))
    return row


def _facts(request: PermissionRequest, thread_title: str, titles: Mapping[str, str]) -> list[tuple[str, QWidget]]:
    facts: list[tuple[str, QWidget]] = [("Asked by", Crumbs(asked_by(request, titles)))]
    shown = request_facts(request, thread_title)
    if request.outside:  # a card of its own says so
        shown = tuple(fact for fact in shown if fact.caption != FOLLOWS)
    return facts + [(fact.caption, _words(fact)) for fact in shown]


def _words(fact: Fact) -> QWidget:
    if fact.look == "code":
        return _beside(_mono(fact.text), *((StateLabel("allow", fact.mark),) if fact.mark else ()))
    if fact.look == "title":
        return Text(fact.text, elide="right")
    if fact.look == "less":
        return Text(fact.text, "small", "2")
    if fact.mark:
        words = Paragraph(fact.text)
        words.setMaximumWidth(words.natural_width())
        return _beside(words, StateLabel("allow", fact.mark))
    return Paragraph(fact.text, "body", "2") if fact.look == "quiet" else Paragraph(fact.text)


class WordsAndMarks(QWidget):
    """Words with marks: beside each other, or the marks below where the words would be squeezed."""

    def __init__(self, words: Paragraph, *marks: QWidget) -> None:
        super().__init__()
        self._words, self._marks = words, marks
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme().px(10))
        self._row.addWidget(words, 1000)
        for mark in marks:
            self._row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._row.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Below each other where one line does not hold them."""
        super().resizeEvent(event)
        if not self._marks:
            return
        needed = self._words.natural_width() + sum(mark.sizeHint().width() + theme().px(10) for mark in self._marks)
        narrow = needed > self.width()
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if way != self._row.direction():
            self._row.setDirection(way)
            self._row.setSpacing(theme().px(2 if narrow else 10))
            self.updateGeometry()


def _beside(words: Paragraph, *marks: QWidget) -> QWidget:
    return WordsAndMarks(words, *marks)


def _mono(text: str) -> Paragraph:
    """A text that is never cut: a path that cannot be read cannot be agreed to. It is wrapped where there is no
    room."""
    words = Paragraph(shown_line(text), "code")
    words.setMaximumWidth(words.natural_width())
    return words
