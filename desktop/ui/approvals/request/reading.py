"""What never scrolls away from a request: what a command comes to, and that not all of a call was seen yet."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from desktop.domain.text.words import count_words
from desktop.presenter.approvals.command_summary import CommandSummary
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice, Scroller
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

NAME = 60
"""Characters of a host or path in the line; all of them are in the parts and in the tooltip."""
MINIMUM = 260
"""Pixels at 100 % that hosts and paths get beside the badges; with less they go below."""


class CommandSummaryLine(QWidget):
    """``6 commands [deletes] [network]  Reaches github.com; touches outside the workspace: /etc/hosts``."""

    def __init__(self, summary: CommandSummary) -> None:
        super().__init__()
        self._lines = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(theme().px(10))
        first = Row(spacing=6)
        first.addWidget(Text(summary.count, "medium"))
        first.addSpacing(4)
        for kind in summary.kinds:
            first.addWidget(Badge(kind))
        first.addStretch(1)
        self._lines.addLayout(first)
        short = CommandSummary(summary.count, summary.kinds, _short(summary.hosts), _short(summary.outside))
        if sentence := short.sentence():
            self._lines.addWidget(Paragraph(sentence, "small", "2"), 1, Qt.AlignmentFlag.AlignVCenter)
        everything = shown_line(summary.sentence(20))
        self.setToolTip(plain_tip(everything))
        self.setAccessibleName(", ".join(part for part in (summary.count, *summary.kinds, everything) if part))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Below each other where there is no room."""
        super().resizeEvent(event)
        first = self._lines.itemAt(0)
        used = first.sizeHint().width() if first is not None else 0
        narrow = self.width() - used < theme().px(MINIMUM)
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if way != self._lines.direction():
            self._lines.setDirection(way)
            self._lines.setSpacing(theme().px(4 if narrow else 10))
            self.updateGeometry()


def _short(names: tuple[str, ...]) -> tuple[str, ...]:
    shown = (shown_line(name) for name in names)
    return tuple(name if len(name) <= NAME else f"{name[: NAME // 2]}…{name[-NAME // 2 :]}" for name in shown)


class UnreadNotice(Notice):
    """Says that a part of the call has not been on the screen, and brings it there. ``over`` when there is nothing
    left to bring; ``wanted`` just before."""

    over = Signal()
    wanted = Signal()

    def __init__(self, view: LinesView, scroller: Scroller, noun: str) -> None:
        super().__init__("ask", icon="hidden", slim=True)  # answers must keep their place beside it
        self._view, self._scroller, self._noun = view, scroller, noun
        self.button = Button("Show the rest", small=True, tip="Scroll to the first line that you have not seen")
        self.button.clicked.connect(self._show_rest)
        self.add(self.button)
        view.verticalScrollBar().valueChanged.connect(self.refresh)
        scroller.verticalScrollBar().valueChanged.connect(self.refresh)
        view.read.connect(self.over)
        self.refresh()

    def refresh(self) -> None:
        """Say how much is still to be read."""
        left = count_words(max(1, self._view.unread), "line")
        self.say(f"{left} not seen yet. Scroll {'to the end' if self._view.is_long else 'down'} to allow it.")
        unseen = f"{left} of {self._noun} not seen yet"
        self.setToolTip(plain_tip(f"{unseen}. Scroll through all of it, then you can allow it."))

    def _show_rest(self) -> None:
        """The first row that was not seen, at the top of what is in sight."""
        self.wanted.emit()
        inside = self._view.first_unread()
        content = self._scroller.widget()
        if content is not None:
            top = self._view.viewport().mapTo(content, QPoint(0, inside)).y()
            self._scroller.verticalScrollBar().setValue(max(0, top - theme().px(8)))
        self.refresh()

    def give_keys_to(self, widget: QWidget) -> None:
        """Give the keys to ``widget`` if they are here, because this notice goes away."""
        if self.button.hasFocus():
            widget.setFocus(Qt.FocusReason.OtherFocusReason)


class ChangeSteps:
    """Goes from change to change in the view that is in front."""

    def __init__(self) -> None:
        self._view: LinesView | None = None
        self.at = -1
        """The row that it went to."""

    def step(self, view: QWidget | None, scroller: Scroller, *, onward: bool) -> None:
        """The next change, or the one before, to the top of what is in sight; a screen reader hears which."""
        if not isinstance(view, LinesView):
            return
        self._view, self.at = view, self.at if self._view is view else -1
        heads = [at for at, row in enumerate(view.rows) if row.kind in ("head", "hunk")]
        further = [at for at in heads if (at > self.at if onward else at < self.at)]
        if not further:
            return
        self.at = further[0] if onward else further[-1]
        inside, content = view.go_to(self.at), scroller.widget()
        if content is not None:
            top = view.viewport().mapTo(content, QPoint(0, inside)).y()
            scroller.verticalScrollBar().setValue(max(0, top - theme().px(8)))
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, view.rows[self.at].text))
