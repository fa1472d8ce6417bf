"""The answer to a request that was given last, wherever that was: a press meant for it answers no other one."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, Signal


class LastAnswer(QObject):
    """One for all places where a request can be answered. ``changed``: it was given, or its request has gone, so that
    another one may lie under the hand now."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.request_id = ""
        self.at: QPointF | None = None

    def __bool__(self) -> bool:
        """Whether anything was answered yet."""
        return bool(self.request_id)

    def note(self, request_id: str, at: QPointF | None = None) -> None:
        """Note that a request was answered now, by a press at this point of the screen or (None) by a key or in a
        dialog."""
        self.request_id, self.at = request_id, at
        self.changed.emit()

    def gone(self, request_id: str) -> None:
        """Note that a request is shown nowhere any more."""
        if self and request_id == self.request_id:
            self.changed.emit()
