"""Keys of a page: they work from anywhere in its window while it shows, and not while a dialog stands over it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from desktop.ui.widgets.dialogs.base import Scrim


class PageShortcut(QShortcut):
    """The focus may be in the page, in the rail, or nowhere."""

    def __init__(self, keys: str | QKeySequence.StandardKey, page: QWidget, act: Callable[[], object]) -> None:
        super().__init__(QKeySequence(keys), page)
        self._page, self._act = page, act
        self.setAutoRepeat(False)
        self.activated.connect(self._pressed)

    def _pressed(self) -> None:
        window = self._page.window()
        inside = self._page
        over = (scrim for scrim in window.findChildren(Scrim) if scrim.isVisible() and not scrim.isAncestorOf(inside))
        if next(over, None) is None:
            self._act()
