"""A shell command as it will run, and below it each part judged: what it does, what it touches."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.domain.approval.judgement import Judgement
from desktop.domain.approval.permission import PermissionRequest
from desktop.ui.approvals.request.body import Card, arguments_view, frame_height
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.theme import theme
from desktop.ui.theme.paint import badge, badge_size, elided
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

FOLD_AFTER = 50
"""Judged parts shown before the rest is folded."""
COMMAND_ROWS = 8
"""Rows of the command itself before it scrolls."""


class JudgedRow(QWidget):
    """One part of a command: operator, command, badge; below, what it touches."""

    def __init__(self, judgement: Judgement, *, last: bool) -> None:
        super().__init__()
        self._judgement = judgement
        self._last = last
        self._text = shown_line(judgement.text)
        self._touches = shown_line(_touches(judgement))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        parts = (judgement.operator, self._text, judgement.effect, self._touches)
        self.setAccessibleName(", ".join(part for part in parts if part))
        self.setToolTip(plain_tip(self._text if not self._touches else f"{self._text}\n{self._touches}"))

    def sizeHint(self) -> QSize:
        """52 high with a second line, 36 without."""
        return QSize(theme().px(240), theme().px(52 if self._touches else 36))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the part."""
        t = theme()
        painter = QPainter(self)
        line = t.px(20)
        top = t.px(7)
        left = t.px(48)
        right = self.width() - t.px(12)
        size = badge_size(self._judgement.effect)
        badge(painter, QRect(right - size.width(), top, size.width(), line), self._judgement.effect)
        painter.setFont(t.font("code"))
        painter.setPen(t.color("text-3"))
        painter.drawText(QRect(0, top, t.px(36), line), _RIGHT, self._judgement.operator)
        painter.setFont(t.font("code", 500))
        painter.setPen(t.color("text"))
        room = right - size.width() - t.px(12) - left
        painter.drawText(QRect(left, top, room, line), _LEFT, elided(self._text, "code", room, weight=500, middle=True))
        if self._touches:
            painter.setFont(t.font("small"))
            painter.setPen(t.color("text-2"))
            width = right - left
            painter.drawText(QRect(left, top + line, width, line), _LEFT, elided(self._touches, "small", width))
        if not self._last:
            painter.fillRect(QRect(0, self.height() - 1, self.width(), 1), t.color("border"))


class CommandCard(Card):
    """The judged parts, or all arguments."""

    def __init__(self, request: PermissionRequest) -> None:
        super().__init__("What it does, command by command", (("parts", "Parts"), ("arguments", "Arguments")))
        self.facts.addWidget(Text("read from the text, not from running it", "small", "3"))
        parts = QWidget()
        self._parts = Column(parts, spacing=0)
        self._shown = 0
        self._rest = request.judgements[FOLD_AFTER:]
        self._add(request.judgements[:FOLD_AFTER])
        if self._rest:
            self._more = Button(f"{len(self._rest)} more", "quiet", chevron=True, small=True)
            self._more.clicked.connect(self._unfold)
            self._parts.addWidget(self._more)
        if not request.judgements:
            self._parts.addWidget(_nothing())
        self._parts.addStretch(1)
        self.views.addWidget(parts)
        self.add_view(arguments_view(request.arguments))
        self.fit()

    def fit(self) -> None:
        """Make the view as high as its parts."""
        super().fit()
        if self.views.currentIndex() == 0:
            self.setMaximumHeight(self._parts.minimumSize().height() + frame_height())

    def _add(self, judgements: tuple[Judgement, ...]) -> None:
        at = self._shown
        self._shown += len(judgements)
        for offset, judgement in enumerate(judgements):
            last = judgement is judgements[-1] and not self._rest
            self._parts.insertWidget(at + offset, JudgedRow(judgement, last=last))

    def _unfold(self) -> None:
        self._more.hide()
        rest, self._rest = self._rest, ()
        self._add(rest)
        self.fit()


class CommandBlock(QWidget):
    """The exact command on a quoted ground."""

    def __init__(self, command: str) -> None:
        super().__init__()
        frame = pane("quoted")
        Column(self, spacing=0).addWidget(frame)
        inner = Column(frame, margins=(0, 8, 0, 8), spacing=0)
        self.view = LinesView("Command", max_rows=COMMAND_ROWS)
        self.view.set_indent(12)
        self.view.set_text(command)
        inner.addWidget(self.view)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """The height of the command's rows, up to eight."""
        return QSize(theme().px(240), self.view.sizeHint().height() + theme().px(18))


def _nothing() -> QWidget:
    holder = QWidget()
    column = Column(holder, margins=12)
    column.addWidget(Text("The command could not be read part by part.", "body", "2"))
    return holder


def _touches(judgement: Judgement) -> str:
    found = ", ".join(judgement.touches)
    return "; ".join(part for part in (found, judgement.note) if part)


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)
