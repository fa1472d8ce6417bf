"""Keys that were at a button which goes: Qt would give them to whatever comes next, which may be anywhere."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


class FootKeys:
    """Made before buttons of a pane's foot are hidden; ``lost`` is asked afterwards."""

    def __init__(self, pane: QWidget, *buttons: QWidget) -> None:
        focus = pane.window().focusWidget()
        self._had = focus if focus in buttons else None

    @property
    def lost(self) -> bool:
        """Whether the button that had the keys has gone."""
        return self._had is not None and self._had.isHidden()
