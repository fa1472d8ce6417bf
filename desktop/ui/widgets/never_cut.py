"""Widgets that nothing makes smaller than what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    _Widget = QWidget
else:
    _Widget = object  # a second Qt class among the bases would make a second widget


class NeverCut(_Widget):
    """First of its bases: a widget that is never smaller than its ``sizeHint``."""

    def minimumSizeHint(self) -> QSize:
        """The whole of it."""
        return self.sizeHint()
