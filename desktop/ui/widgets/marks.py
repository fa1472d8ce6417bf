"""Badges, states, meters, icons and key caps as small widgets over the shared painters."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, QTimer, QVariantAnimation
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from desktop.ui.theme import theme
from desktop.ui.theme.paint import (
    badge,
    badge_look,
    badge_size,
    glyph,
    keycap,
    keycap_width,
    meter,
    state,
    state_look,
    state_size,
)
from desktop.ui.widgets.never_cut import NeverCut

SPINNER_WAIT = 300
"""Milliseconds before the running glyph begins to turn."""


class _Mark(NeverCut, QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)


class Badge(_Mark):
    """A category or judgement; ``word`` overrides its word."""

    def __init__(self, name: str, word: str = "") -> None:
        super().__init__()
        self._name, self._word = name, word
        self.setAccessibleName(badge_look(name, word).word)

    def set_badge(self, name: str, word: str = "") -> None:
        """Show another badge."""
        self._name, self._word = name, word
        self.setAccessibleName(badge_look(name, word).word)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """The size that the badge is drawn in."""
        return badge_size(self._name, self._word)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the badge."""
        badge(QPainter(self), self.rect(), self._name, self._word)


class StateLabel(_Mark):
    """A state as glyph and word; the running glyph turns once in 1.2 s, after 300 ms, unless less motion is asked
    for."""

    def __init__(self, name: str = "", word: str = "") -> None:
        super().__init__()
        self._name, self._word = name, word
        self._turn = QVariantAnimation(self)
        self._turn.setStartValue(0.0)
        self._turn.setEndValue(360.0)
        self._turn.setLoopCount(-1)
        self._turn.valueChanged.connect(self.update)
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.timeout.connect(self._start)
        self.set_state(name, word)

    def set_state(self, name: str, word: str = "") -> None:
        """Show another state; "" shows nothing."""
        self._name, self._word = name, word
        self.setAccessibleName(state_look(name, word).word)
        self._turn.stop()
        self._wait.stop()
        if self.isVisible():
            self._wait_if_running()
        self.updateGeometry()
        self.update()

    @property
    def state(self) -> str:
        """The state's name."""
        return self._name

    def sizeHint(self) -> QSize:
        """The size that the state is drawn in."""
        return state_size(self._name, self._word) if self._name else QSize(0, theme().metric("badge"))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the state."""
        if self._name:
            running = self._turn.state() == QVariantAnimation.State.Running
            angle = float(self._turn.currentValue() or 0.0) if running else 0.0
            state(QPainter(self), self.rect(), self._name, self._word, angle=angle)

    def showEvent(self, event: QShowEvent) -> None:
        """Turn only while seen."""
        self._wait_if_running()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop the turning."""
        self._turn.stop()
        self._wait.stop()

    def _wait_if_running(self) -> None:
        if self._name in ("running", "writing") and theme().duration("spinner"):
            self._wait.start(SPINNER_WAIT)

    def _start(self) -> None:
        self._turn.setDuration(theme().duration("spinner"))
        self._turn.start()


class MeterBar(NeverCut, QProgressBar):
    """A level with 64 x 4 pixels of ink; the figure always stands beside it. ``token``: its colour, where a full one is
    no bad sign."""

    def __init__(self, name: str, token: str = "") -> None:
        super().__init__()
        self._token = token
        self.setAccessibleName(name)
        self.setRange(0, 1000)
        self.setTextVisible(False)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_fraction(self, fraction: float) -> None:
        """Set the filled fraction, from 0 to 1."""
        self.setValue(round(1000 * min(1.0, max(0.0, fraction))))

    def sizeHint(self) -> QSize:
        """64 wide, a line of small text high."""
        return QSize(theme().metric("meter-width"), theme().line_height("small"))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar."""
        meter(QPainter(self), self.rect(), self.value() / 1000, self._token)


class Icon(_Mark):
    """An icon that only accompanies words; ``side`` in pixels at 100 %, as high as a line of the role ``line``."""

    def __init__(self, name: str, token: str = "text-2", side: int = 16, *, line: str = "") -> None:
        super().__init__()
        self._name, self._token, self._side, self._line = name, token, side, line

    def set_icon(self, name: str, token: str) -> None:
        """Show another icon."""
        self._name, self._token = name, token
        self.update()

    def sizeHint(self) -> QSize:
        """A square, or a line high."""
        side = theme().px(self._side)
        return QSize(side, max(side, theme().line_height(self._line)) if self._line else side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the icon."""
        glyph(QPainter(self), self.rect(), self._name, self._token, theme().px(self._side))


class KeyCaps(_Mark):
    """A shortcut as key caps: ``Ctrl+K`` becomes two."""

    def __init__(self, shortcut: str) -> None:
        super().__init__()
        self._keys = split_keys(shortcut)
        self.setAccessibleName(shortcut)

    def sizeHint(self) -> QSize:
        """All caps with gaps of 4."""
        gap = theme().px(4)
        width = sum(keycap_width(key) + gap for key in self._keys)
        return QSize(max(0, width - gap), theme().px(20))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the caps."""
        painter = QPainter(self)
        x = 0
        for key in self._keys:
            x += keycap(painter, QRect(x, 0, 200, self.height()), key) + theme().px(4)


def split_keys(shortcut: str) -> list[str]:
    """``Ctrl+Shift+F`` to its keys; a plus key stays whole."""
    if not shortcut:
        return []
    if shortcut.endswith("++"):
        return [*shortcut[:-2].split("+"), "+"]
    return shortcut.split("+")
