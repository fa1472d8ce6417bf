"""What a person chose of the look, as read from where it is kept. Loaded before the first paint."""

from __future__ import annotations

from typing import Literal, cast

from PySide6.QtGui import QPalette

from desktop.ui.theme.tokens import Mode

Choice = Literal["system", "light", "dark"]
SCALE_RANGE = (0.8, 2.0)


def as_choice(text: str) -> Choice:
    """Anything else than light and dark is the system's."""
    return cast(Choice, text) if text in ("light", "dark") else "system"


def mode_of(choice: Choice, *, system_dark: bool) -> Mode:
    """Light or dark: what a choice comes to on this system."""
    if choice != "system":
        return choice
    return "dark" if system_dark else "light"


def looks_dark(palette: QPalette) -> bool:
    """Of the system's own palette: the best guess before the system can be asked."""
    return palette.window().color().lightness() < palette.windowText().color().lightness()


def within_scale(scale: float) -> float:
    """A text zoom that can be shown."""
    low, high = SCALE_RANGE
    return min(high, max(low, scale))
