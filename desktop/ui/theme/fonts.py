"""Typefaces: Inter and JetBrains Mono as shipped, and the fonts of each type role.

Adding the six files takes about 1 ms: Qt reads them lazily. A system without them (a stripped installation) falls back
to its own interface and fixed fonts.
"""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontDatabase

from desktop.ui.theme.resources import FONTS
from desktop.ui.theme.tokens import Tokens, TypeStep

FILES = (
    "Inter-Regular.otf",
    "Inter-Medium.otf",
    "Inter-SemiBold.otf",
    "Inter-Italic.otf",
    "JetBrainsMono-Regular.ttf",
    "JetBrainsMono-Medium.ttf",
)
FALLBACK_TEXT = ("Noto Sans", "DejaVu Sans", "sans-serif")
FALLBACK_MONO = ("DejaVu Sans Mono", "monospace")
PROPORTIONAL = frozenset({"reading", "heading", "display"})
"""Roles of running text; all others use tabular figures, because their numbers change or are compared."""


def load_fonts() -> None:
    """Make the shipped typefaces known to Qt; a file that cannot be read is passed over."""
    for name in FILES:
        QFontDatabase.addApplicationFont(str(FONTS / name))


class Fonts:
    """Fonts by role at one text scale."""

    def __init__(self, tokens: Tokens, scale: float) -> None:
        self._tokens = tokens
        self._scale = scale
        self._made: dict[tuple[str, int | None], QFont] = {}

    def get(self, role: str, weight: int | None = None) -> QFont:
        """The font of a role, optionally at another weight (400, 500 or 600). Shared: copy before changing it."""
        key = (role, weight)
        font = self._made.get(key)
        if font is None:
            font = self._made[key] = self._make(self._tokens.steps[role], weight, role not in PROPORTIONAL)
        return font

    def line(self, role: str) -> int:
        """Line height of a role in pixels at this scale."""
        return round(self._tokens.steps[role].line * self._scale)

    def _make(self, step: TypeStep, weight: int | None, tabular: bool) -> QFont:
        font = QFont()
        font.setFamilies(self.families(step.mono))
        font.setPixelSize(max(1, round(step.px * self._scale)))
        font.setWeight(QFont.Weight(weight or step.weight))
        font.setStyleHint(QFont.StyleHint.Monospace if step.mono else QFont.StyleHint.SansSerif)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        if step.mono:
            font.setFixedPitch(True)
            font.setFeature(QFont.Tag("calt"), 0)
        elif tabular:
            font.setFeature(QFont.Tag("tnum"), 1)
        return font

    def families(self, mono: bool) -> list[str]:
        """Family names in order of preference."""
        first, rest = (self._tokens.mono, FALLBACK_MONO) if mono else (self._tokens.family, FALLBACK_TEXT)
        return [first, *rest]
