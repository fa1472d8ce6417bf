"""A press that may still be meant for the request before: the next one stands in its place under a resting hand."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import field
from typing import Protocol

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from desktop.domain.loading.lazy_dataclass import dataclass

RESTING_S = 0.7
"""Seconds for which another request hears no press at the place where the last answer was given, and no key."""


@dataclass(frozen=True, slots=True)
class Press:
    """A press at a point of the screen, or (None) by a key."""

    at: QPointF | None = None
    when: float = field(default_factory=time.monotonic)


NEVER = Press(None, float("-inf"))


class Pressed(Protocol):
    """A button that remembers how it was pressed last."""

    last_press: Press


def last_pressed(buttons: Iterable[Pressed]) -> QPointF | None:
    """Where on the screen the one that was pressed last was pressed; None by a key, or not at all."""
    return max((button.last_press for button in buttons), key=lambda press: press.when).at


class RestingTime:
    """Runs from ``begin`` until the pointer has moved from where it answered, or for ``RESTING_S``."""

    def __init__(self) -> None:
        self._until = 0.0
        self._at: QPointF | None = None

    def begin(self, at: QPointF | None) -> None:
        """Begin the rest: another request has come into the place of one that was answered by a press at ``at``, or by
        a key."""
        self._until, self._at = time.monotonic() + RESTING_S, at

    def again(self) -> None:
        """Start the time anew, at the same place."""
        self.begin(self._at)

    @property
    def runs(self) -> bool:
        """Whether the time is not over."""
        return time.monotonic() < self._until

    def catches(self, at: QPointF | None = None) -> bool:
        """Whether a press at a point of the screen (None: a key) may be meant for the request before."""
        if not self.runs:
            return False
        return at is None or self._at is None or (at - self._at).manhattanLength() < QApplication.startDragDistance()
