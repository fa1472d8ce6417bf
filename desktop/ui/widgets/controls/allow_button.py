"""The button that says yes: deaf at first, and whenever it could be pressed by a slip (R-PRM-14)."""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, Kind
from desktop.ui.widgets.controls.slip import NEVER, RESTING_S, Press, RestingTime

_PRESSES = (Qt.Key.Key_Space, Qt.Key.Key_Select, Qt.Key.Key_Return, Qt.Key.Key_Enter)
BEATS = 8
"""Turns of the event loop, evenly over the deaf time, that have to come before it is over."""
_MOVES = frozenset({QEvent.Type.Move, QEvent.Type.Resize})


class AllowButton(Button):
    """An answer that a slip of the hand cannot give: for 400 ms after ``arm`` it hears nothing (R-PRM-14).

    A press in that time begins it anew, so that steady clicking or a key that is held answers one question and not the
    next ones; ``too_soon`` tells of it, for the buttons beside this one. It also begins anew when the button comes to
    lie elsewhere in its window, whatever moved it, and when the window comes to the front; the click that brings it
    there is no answer. After ``pause`` it is deaf for 700 ms to the hand that answered the request before. Connect to
    ``agreed``, not to ``clicked``. While deaf a line grows along its foot; with less motion it just stands.

    The deaf time is counted in beats of a timer, and not by the clock alone: where the app was held up meanwhile, what
    was pressed while nothing could be seen waits in the queue, and comes before the beats that are missing.
    """

    agreed = Signal()
    too_soon = Signal()

    def __init__(self, text: str, awake: Kind, *, icon: str = "", key: str = "", small: bool = False) -> None:
        super().__init__(text, "deaf", icon=icon, key=key, small=small)
        self._awake: Kind = awake
        self._armed_at: float | None = None
        self._resting = RestingTime()
        self.last_press = NEVER
        self._above: list[QWidget] = []
        self._place = QRect()
        self._in_background = False
        self._grow = QVariantAnimation(self)
        self._grow.setStartValue(0.0)
        self._grow.setEndValue(1.0)
        self._grow.valueChanged.connect(self.update)
        self._grow.finished.connect(self._wake)
        self._beats = BEATS
        self._beat = QTimer(self, timerType=Qt.TimerType.PreciseTimer)
        self._beat.timeout.connect(self._count)
        self.clicked.connect(self._maybe_agree)

    def arm(self) -> None:
        """Begin the deaf time: the request has just appeared or changed."""
        self._armed_at = time.monotonic()
        self._beats = 0
        self._beat.start(max(1, theme().duration("deaf") // BEATS))
        self.set_kind("deaf")
        self._grow.stop()
        resting = round(RESTING_S * 1000) if self._resting.runs else 0
        self._grow.setDuration(max(theme().duration("deaf"), resting))
        self._grow.start()

    def pause(self, at: QPointF | None = None) -> None:
        """Make the button deaf for a moment: it stands where another request was answered just now, by a press at this
        point of the screen or by a key."""
        self._resting.begin(at)

    def set_awake(self, awake: Kind) -> None:
        """Set the look for when the button hears."""
        self._awake = awake
        if not self.deaf:
            self.set_kind(awake)

    @property
    def deaf(self) -> bool:
        """True until 400 ms after ``arm``, and before it; and while a hand may still rest on the answer before."""
        return self._newly_armed or self._resting.runs

    @property
    def _newly_armed(self) -> bool:
        if self._armed_at is None or self._beats < BEATS:
            return True
        return (time.monotonic() - self._armed_at) * 1000 < theme().duration("deaf")

    def showEvent(self, event: QShowEvent) -> None:
        """From now on every move of whatever it lies in counts."""
        super().showEvent(event)
        self._in_background = not self.isActiveWindow()
        self._follow()

    def hideEvent(self, event: QHideEvent) -> None:
        """Out of sight it falls deaf again; whoever shows it arms it."""
        self._let_go()
        self._grow.stop()
        self._beat.stop()
        self._armed_at = None
        self.set_kind("deaf")

    def paintEvent(self, event: QPaintEvent) -> None:
        """The growing line over the outlined button."""
        super().paintEvent(event)
        if self.kind != "deaf":
            return
        t = theme()
        share = 1.0 if t.less_motion else float(self._grow.currentValue() or 0.0)
        painter = QPainter(self)
        inset, height = t.px(2), t.px(3)
        token = "admin" if self._awake == "admin" else "accent"
        painter.fillRect(
            QRect(inset, self.height() - height - 1, round((self.width() - 2 * inset) * share), height), t.color(token)
        )

    def _count(self) -> None:
        self._beats += 1
        if self._beats >= BEATS:
            self._beat.stop()
            if self._grow.state() == QVariantAnimation.State.Stopped:
                self._wake()

    def _wake(self) -> None:
        if self._beats >= BEATS:
            self.set_kind(self._awake)

    def event(self, event: QEvent) -> bool:
        """The window goes to the background, or comes to the front."""
        if event.type() == QEvent.Type.WindowDeactivate:
            self._in_background = True
        elif event.type() == QEvent.Type.WindowActivate:
            self._in_background = False
            self._again()
        elif event.type() in _MOVES:
            self._maybe_moved()
        return super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Something that it lies in was moved or resized."""
        if event.type() in _MOVES:
            self._maybe_moved()
        return False

    def _follow(self) -> None:
        self._let_go()
        above = self.parentWidget()
        while above is not None:
            above.installEventFilter(self)
            self._above.append(above)
            above = None if above.isWindow() else above.parentWidget()
        self._place = self._where()

    def _let_go(self) -> None:
        for above in self._above:
            if isValid(above):
                above.removeEventFilter(self)
        self._above.clear()

    def _where(self) -> QRect:
        return QRect(self.mapTo(self.window(), QPoint(0, 0)), self.size())

    def _maybe_moved(self) -> None:
        place = self._where()
        if place != self._place:
            self._place = place
            self._again()

    def _again(self) -> None:
        """The deaf time from its beginning, once it has begun at all."""
        if self._armed_at is not None:
            self.arm()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The press counts, not only the release: one that began too soon ends as nothing."""
        if self._in_background and not self.isActiveWindow():
            self._in_background = False
            self._again()
        if not self._too_soon(event.globalPosition()):
            self.last_press = Press(event.globalPosition())
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A key that repeats is one that is held: it answers nothing."""
        if event.isAutoRepeat() or (event.key() in _PRESSES and self._too_soon()):
            return
        self.last_press = Press()
        super().keyPressEvent(event)

    def _maybe_agree(self) -> None:
        if not self._too_soon(self.last_press.at):
            self.agreed.emit()

    def _too_soon(self, at: QPointF | None = None) -> bool:
        """Whether it is deaf to a press at ``at``, or to a key; then it is so for as long again."""
        resting = self._resting.catches(at)
        if not self._newly_armed and not resting:
            return False
        if resting:
            self._resting.again()
        if self._armed_at is not None:
            self.arm()
            self.too_soon.emit()
        return True
