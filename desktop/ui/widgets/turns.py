"""Work of the window that is done a piece at a time: between two pieces the window paints and hears keys.

What a piece has changed is painted in the next turn, before its timers; the next piece waits for the turn after that,
so that no key waits for both.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer

_OVER = object()


class Turns(QObject):
    """``begin`` takes the pieces, as what a generator does up to each ``yield``. Beginning anew drops what is left."""

    def __init__(self, owner: QObject) -> None:
        super().__init__(owner)
        self._left: Iterator[None] = iter(())
        self._paints = False
        self._next = QTimer(self, singleShot=True, interval=0)
        self._next.timeout.connect(self._take)

    def begin(self, pieces: Iterator[None]) -> None:
        """The first piece is done when what led here is painted."""
        self._left, self._paints = pieces, True
        self._next.start()

    def _take(self) -> None:
        if self._paints:
            self._paints = False
            self._next.start()
            return
        left = self._left
        if next(left, _OVER) is not _OVER and left is self._left:  # unless the piece began something else
            self._paints = True
            self._next.start()
