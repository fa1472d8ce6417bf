"""Qt's application, which on a Mac hears the links that are opened: there the system starts no second program with a
link, as elsewhere, but tells the one that runs, or has just been started for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from desktop.domain.loading.lazy import lazy_module

if TYPE_CHECKING:
    from desktop.domain.text import links
else:
    links = lazy_module("desktop.domain.text.links")

Follow = Callable[[str], object]
"""Shows the window where a link leads. The link is one by its form alone."""


class Application(QApplication):
    """What is opened before ``follow_links`` is kept, the last of it."""

    def __init__(self) -> None:
        super().__init__(["assent", "-style", "fusion"])  # naming the style here saves making another first
        self._opened = ""
        self._follow: Follow | None = None

    def event(self, event: QEvent) -> bool:
        """Of the application itself: few come, so that this costs nothing."""
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        self._heard(links.harmless(bytes(event.url().toEncoded().data()).decode("ascii", "replace") or links.UNKNOWN))
        return True

    def follow_links(self, follow: Follow | None) -> None:
        """From now on; None: no more."""
        self._follow = follow
        if follow is not None and self._opened:
            opened, self._opened = self._opened, ""
            follow(opened)

    def _heard(self, link: str) -> None:
        if self._follow is None:
            self._opened = link
        else:
            self._follow(link)
