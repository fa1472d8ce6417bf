"""The strip above a page for what holds until it is mended: the database is read-only, settings have a mistake."""

from __future__ import annotations

from collections.abc import Callable

from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.layout.containers import Notice


def make_banner(dismiss: Callable[[], None]) -> Notice:
    """A notice with a cross."""
    banner = Notice("info", banner=True)
    close = IconButton("close", "Dismiss this notice", side=24, glyph_side=14)
    close.clicked.connect(dismiss)
    banner.add(close)
    return banner
