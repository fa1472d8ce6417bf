"""The meters in the head of a thread: context used, tokens, cost. With little room they say less, never half of it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from desktop.presenter.chat.state import Meters
from desktop.presenter.common.words import cache_words, human_cost, human_count
from desktop.ui.theme import theme
from desktop.ui.widgets.marks import MeterBar
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Row, sized
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

TIP = "What the model reads of this chat"
GAP = 8


class ContextText(Text):
    """The context in figures; a click, Return or Space tells what the model reads. ``said`` is all that it says."""

    pressed = Signal()

    def __init__(self) -> None:
        super().__init__("", "small", "2", elide="right")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def say(self, words: str, whole: str) -> None:
        """``whole`` stands in the tooltip, and is read aloud."""
        if self.text() != words:
            self.setText(words)
            self.updateGeometry()
        self.setToolTip(plain_tip(f"{whole}. {TIP}" if whole else TIP))
        self.setAccessibleName(f"Context {whole}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The tooltip says all of it at any width."""
        QLabel.resizeEvent(self, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Emit ``pressed``."""
        self.pressed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell, on the keys of a button."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.pressed.emit()
        else:
            super().keyPressEvent(event)


class ThreadMeters(QWidget):
    """``fit`` chooses what shows. What matters most goes last: the context, and that not all messages are sent."""

    pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.level = MeterBar("Context used")
        self.context = ContextText()
        self.context.pressed.connect(self.pressed)
        self.label = Text("Context", "small", "3")
        self.tokens = Text("", "small", "2")
        self.cost = Text("", "small", "2")
        self._lines = [sized(pane("line-v"), height=16) for _ in range(2)]
        self._words = ("", "", "")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self._started = self._bounded = False
        row = Row(self, spacing=GAP)
        for widget in (self.label, self.level, self.context, self._lines[0], self.tokens, self._lines[1], self.cost):
            row.addWidget(widget)
        self.show_meters(Meters())

    def show_meters(self, meters: Meters) -> None:
        """Context used of the window, tokens, cost; what is not known says so."""
        used, window = human_count(meters.context_used), meters.context_window
        share = meters.context_used / window if window else 0.0
        unknown = f"{used}, context size unknown" if meters.model else used
        figures = f"{used} of {human_count(window)}" if window else unknown
        more, short = "", ""
        if meters.compacting:
            more, short = (
                ("older messages are left out", "some left out")
                if meters.dropped
                else ("older messages are summarised", "summarised")
            )
        elif share >= 0.95:
            more, short = "full: start a new chat", "full"
        self._words = (
            f"{figures}, {more}" if more else figures,
            f"{figures}, {short}" if short else figures,
            short or figures,
        )
        self.context.set_tone("failed" if share >= 0.95 else "ask" if share >= 0.8 else "2")
        self.level.set_fraction(share)
        self.level.setAccessibleName(f"Context {self._words[0]}")
        self._bounded, self._started = bool(window), meters.tokens > 0
        self.tokens.setText(f"{human_count(meters.tokens)} tokens")
        self.cost.setText(human_cost(meters.cost))
        about = ". ".join(filter(None, cache_words(meters.used)))
        for label in (self.tokens, self.cost):
            label.setToolTip(plain_tip(about))
            label.updateGeometry()

    def least_width(self) -> int:
        """How wide the bar is with the figures, in the shorter words."""
        words = self.context.fontMetrics().horizontalAdvance(self._words[1])
        bar = max(self.level.sizeHint().width(), self.level.minimumWidth()) + theme().px(GAP)
        return words + theme().px(2) + (bar if self._bounded else 0)

    def fit(self, room: int, labelled: bool) -> None:
        """Into so many pixels; ``labelled``: there is a place for the word itself."""
        whole, short, least = self._words
        left, gap = room, theme().px(GAP)
        for label, tokens, cost, bar, words in (
            (labelled, True, True, True, whole),
            (False, True, True, True, whole),
            (False, False, True, True, whole),
            (False, False, False, True, whole),
            (False, False, False, True, short),
            (False, False, False, False, short),
            (False, False, False, False, least),
        ):
            shown = self._show(label, tokens and self._started, cost and self._started, bar and self._bounded)
            self.context.say(words, whole)
            left = room + gap - sum(max(one.sizeHint().width(), one.minimumWidth()) + gap for one in shown)
            if left >= 0:
                break
        self.context.setMaximumWidth(max(theme().px(40), self.context.sizeHint().width() + min(0, left)))

    def _show(self, label: bool, tokens: bool, cost: bool, bar: bool) -> list[QWidget]:
        wanted = (
            (self.label, label),
            (self.level, bar),
            (self.context, True),
            (self._lines[0], tokens),
            (self.tokens, tokens),
            (self._lines[1], cost),
            (self.cost, cost),
        )
        for widget, shows in wanted:
            if widget.isHidden() == shows:
                widget.setVisible(shows)
        return [widget for widget, shows in wanted if shows]
