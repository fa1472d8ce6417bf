"""Which missing font packages a person has been told about, on any page: each script is named once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from desktop.app.home.window_state import WindowState
from desktop.ui.transcript.missing_fonts import MissingFonts

FONTS_TOLD = "fonts_told"


def name_fonts(
    shown: Iterable[Any], say: Callable[[str], None], window_state: WindowState, page: QObject
) -> MissingFonts:
    """Name the fonts that the texts of these view-models need and this system has not, as long as there is the page."""
    return MissingFonts(
        shown, say, lambda: window_state.text(FONTS_TOLD, ""), partial(window_state.put, FONTS_TOLD), page
    )
