"""The strip above a page that the app's own files are another version's, with the way to start that one."""

from __future__ import annotations

from collections.abc import Callable

from desktop.domain.errors import KnownError
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice


def exchanged_strip(error: KnownError, restart: Callable[[], None]) -> Notice:
    """A notice that stays: it holds until the app is started again."""
    strip = Notice("ask", error.advice, banner=True)
    again = Button("Restart now", small=True)
    again.clicked.connect(restart)
    strip.add(again)
    return strip
