"""Python looks for garbage in the thread of the window alone.

Left to itself it looks in whatever thread makes objects just then, and may take rings apart there that hold widgets
while the window is asked about them. One segmentation fault, in the moment in which PySide6 looked for the Python side
of an object, is most likely that; it could not be had again. How often it looks stays as it was, but for a full look,
which goes through all objects there are and keeps the window that long: 10 ms for what a start makes, more with a long
thread open.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QAbstractEventDispatcher, QObject, Slot

RARELY = 1000
"""Looks at newer objects before a full one is due: some 7 million objects made and kept, in place of 70,000. Rings of
old objects, of which there are hardly any, are garbage for longer."""


def settle() -> None:
    """What is there by now is here to stay, and is never looked through."""
    gc.freeze()


class GarbageCollection(QObject):
    """For the rest of this process, each time that the loop of this thread has something to do."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        settle()
        self._young, self._middle, _ = gc.get_threshold()
        QAbstractEventDispatcher.instance().awake.connect(self._look)

    @Slot()
    def _look(self) -> None:
        young, middle, old = gc.get_count()
        if young > self._young:
            gc.collect(2 if old > RARELY else 1 if middle > self._middle else 0)
