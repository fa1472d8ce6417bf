"""A button that says no, and hears no slip: deaf for a moment where it comes to stand in the place of another one."""

from __future__ import annotations

import time

from PySide6.QtGui import QKeyEvent, QMouseEvent

from desktop.ui.theme import theme
from desktop.ui.widgets.buttons import OneClickButton

JUST_NOW_S = 1.0
"""Seconds after an answer within which a click on another request may still have been meant for the first."""


class PatientButton(OneClickButton):
    """After ``pause`` it hears nothing for as long as an Allow is deaf (R-PRM-14): a denial that was meant for another
    request is not one either. Saying no needs no such care otherwise, so it is not deaf by itself."""

    _until = 0.0

    def pause(self) -> None:
        """Begin the deaf time."""
        self._until = time.monotonic() + theme().duration("deaf") / 1000

    @property
    def deaf(self) -> bool:
        """Whether it hears nothing now."""
        return time.monotonic() < self._until

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Nothing while it is deaf; the press counts, so that its release is none either."""
        if self.deaf:
            event.accept()
        else:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The same for keys."""
        if self.deaf:
            event.accept()
        else:
            super().keyPressEvent(event)


class JustAnswered:
    """When the last answer was given in one place. Each place keeps its own."""

    def __init__(self) -> None:
        self._at = float("-inf")

    def note(self) -> None:
        """An answer was given just now."""
        self._at = time.monotonic()

    def __bool__(self) -> bool:
        """Whether that is so little ago that a press may still be meant for what was answered."""
        return time.monotonic() - self._at < JUST_NOW_S
