"""A button that says no, and hears no slip: deaf for a moment where it comes to stand in the place of another one."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from desktop.ui.widgets.controls.buttons import OneClickButton
from desktop.ui.widgets.controls.slip import NEVER, Press, RestingTime

_RETURN = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_CONTROL = Qt.KeyboardModifier.ControlModifier


class PatientButton(OneClickButton):
    """After ``pause`` it hears nothing until the pointer has moved or 700 ms have passed (R-PRM-14): a denial that was
    meant for another request is not one either. Saying no needs no such care otherwise, so it is not deaf by itself."""

    def __init__(
        self, text: str, *, key: str = "", tip: str = "", small: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, key=key, tip=tip, small=small, parent=parent)
        self._resting = RestingTime()
        self.last_press = NEVER

    def pause(self, at: QPointF | None = None) -> None:
        """Begin the deaf time; ``at``: where on the screen the other request was answered."""
        self._resting.begin(at)

    @property
    def deaf(self) -> bool:
        """Whether it hears no key, and no press at that place, now."""
        return self._resting.runs

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Nothing while it is deaf; the press counts, so that its release is none either."""
        if self._resting.catches(event.globalPosition()):
            event.accept()
        else:
            self.last_press = Press(event.globalPosition())
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The same for its own keys. Control and Return is for who allows: whoever goes on pressing that has to be
        noticed there, or the deaf time would pass under it."""
        if self._resting.catches() and not (event.key() in _RETURN and event.modifiers() & _CONTROL):
            event.accept()
        else:
            self.last_press = Press()
            super().keyPressEvent(event)
