"""Whoever's control goes or is greyed goes on beside it, on the same card or page: never in the rail.

Qt hands the focus of such a control to the next one in its own order, which is the first of the window.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from desktop.ui.widgets import reading_order
from desktop.ui.widgets.focus import ring_is_at
from desktop.ui.widgets.focus_place import FocusPlace, beside, give_keys


class FocusKeeper(QObject):
    """Keeps the focus of a window, which asks it for Tab."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._lost: FocusPlace | None = None
        self._put: QWidget | None = None
        self._reason = Qt.FocusReason.OtherFocusReason
        self._look = QTimer(self, singleShot=True, interval=0)
        self._look.timeout.connect(self._look_again)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_changed)

    def move(self, forward: bool) -> bool:
        """Move the focus for Tab; Qt asks for it too when the focused control goes."""
        now = self._window.focusWidget()
        if now is None or (now.isVisible() and now.isEnabled()):
            return reading_order.move(self._window, forward)
        return self._hand_on(now)

    def _hand_on(self, lost: QWidget) -> bool:
        """Beside it for now: what is under way may still take that one too, or make the lost one anew."""
        if self._lost is not None and lost is self._put:
            lost.clearFocus()  # a page that is being made anew: looked for once, when it stands
            return True
        to = beside(lost)
        if to is None:
            return reading_order.move(self._window, True)
        self._lost, self._put = FocusPlace(lost), to
        seen = ring_is_at(lost)
        self._reason = Qt.FocusReason.OtherFocusReason if seen else Qt.FocusReason.MouseFocusReason
        self._look.start()
        give_keys(to, self._reason)
        return True

    def _focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        """Qt asks for no other place where a whole card is greyed."""
        if old is None or new is not None or not isValid(old) or old.window() is not self._window:
            return
        if self._window.isActiveWindow() and old.isVisible() and not old.isEnabled():
            self._hand_on(old)

    def _look_again(self) -> None:
        lost, put, now = self._lost, self._put, self._window.focusWidget()
        self._lost = self._put = None
        if lost is None or (now is not None and now is not put):
            return
        to = lost.again() if now is not None else lost.or_beside()
        if to is not None and to is not now:
            give_keys(to, self._reason)
