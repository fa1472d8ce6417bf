"""Larger and smaller text by keys: several quick presses are one change, with where the last of them led."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from desktop.presenter.settings.page import SettingsViewModel

KEY = "appearance.text_scale"
STEP = 0.1
SMALLEST, LARGEST = 0.8, 2.0
QUICK = 150
"""Milliseconds after a press in which another one belongs to it: to dress every widget anew takes longer than that."""


class TextZoom(QObject):
    """``larger``, ``smaller`` or ``normal``, from where the last press led."""

    def __init__(self, settings: SettingsViewModel, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self._wanted: float | None = None
        self._later = QTimer(self, singleShot=True, interval=QUICK)
        self._later.timeout.connect(self._apply)
        settings.changed.connect(self._settled)
        settings.refused.connect(lambda key, _why: self._settled(key))

    def press(self, direction: str) -> None:
        """Make the text larger, smaller or normal, by one press of a key."""
        at = float(self._settings.get(KEY)) if self._wanted is None else self._wanted
        wanted = {"larger": at + STEP, "smaller": at - STEP}.get(direction, 1.0)
        self._wanted = round(min(LARGEST, max(SMALLEST, wanted)), 2)
        self._later.start()

    def _apply(self) -> None:
        if self._wanted == self._settings.get(KEY):
            self._wanted = None
        else:
            self._settings.set(KEY, self._wanted)

    def _settled(self, key: str) -> None:
        """Kept, refused or changed elsewhere: what is set counts again, unless more was pressed meanwhile."""
        if key == KEY and not self._later.isActive():
            self._wanted = None
