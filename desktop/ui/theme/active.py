"""The theme object: one for the app. Widgets and painters ask it for colours, sizes, fonts, icons and durations.

``settle`` asks the system for what takes its time, once the window is on screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, cast

from PySide6 import QtCore
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QPixmap
from PySide6.QtWidgets import QApplication

from desktop.domain.errors import BugError
from desktop.ui.theme.agent_looks import AgentLook
from desktop.ui.theme.choices import Choice, as_choice, looks_dark, mode_of, within_scale
from desktop.ui.theme.fonts import Fonts, load_fonts
from desktop.ui.theme.icons import IconCache
from desktop.ui.theme.palette import make_palette
from desktop.ui.theme.qss import make_stylesheet
from desktop.ui.theme.resources import TOKENS
from desktop.ui.theme.tokens import Mode, load_tokens

Motion = Literal["system", "full", "less"]
MOTION = frozenset({"quick", "settle", "spinner", "caret"})
"""Durations that become 0 when less motion is asked for; the others are waits, not movement."""
_OUTLINES = frozenset({"border", "border-strong", "control-border"})


class Theme(QObject):
    """Light, dark or the system's; a text scale; full or less motion. ``changed`` after any of them changed."""

    changed = Signal()
    _installed: ClassVar[Theme | None] = None

    def __init__(self, application: QApplication, choice: str = "system", scale: float = 1.0) -> None:
        super().__init__(application)
        self._application = application
        self._tokens = load_tokens(TOKENS)
        self._choice: Choice = as_choice(choice)
        self._motion: Motion = "system"
        self._system_less_motion = False
        self._scale = within_scale(scale)
        self._fonts = Fonts(self._tokens, self._scale)
        self._icons = IconCache()
        self._settled = False
        self._system_dark = looks_dark(QGuiApplication.palette())
        self._mode: Mode = self._wanted_mode()
        self._contrast = False
        self._colors: dict[str, QColor] = {}

    @classmethod
    def install(
        cls, application: QApplication, choice: str = "system", scale: float = 1.0, *, prepared: bool = False
    ) -> Theme:
        """Make the app's theme before its first window; a second call gives the first one's object back, set anew.

        ``prepared``: it was made with ``-style fusion``, which saves 6 ms over setting it here, and has our typefaces.
        """
        if cls._installed is not None and cls.is_installed(application):
            cls._installed.set_choice(choice)
            cls._installed.set_scale(scale)
            return cls._installed
        if not prepared:
            load_fonts()
            application.setStyle("Fusion")
        made = cls(application, choice, scale)
        cls._installed = made
        made._dress()
        return made

    @classmethod
    def is_installed(cls, application: QApplication) -> bool:
        """Whether it was made before, and our typefaces are there: to add them anew makes Qt read every font again."""
        return cls._installed is not None and cls._installed._application is application

    def settle(self) -> None:
        """After the first paint: ask the system for its scheme and contrast, and follow them from now on."""
        if not self._settled:
            self._hints = QGuiApplication.styleHints()  # kept: shiboken drops what it gives us along with it
            self._access = self._hints.accessibility()
            self._settled = True
            self._hints.colorSchemeChanged.connect(self._system_changed)
            self._access.contrastPreferenceChanged.connect(self._system_changed)
            self._system_changed()

    # -- what widgets read -------------------------------------------------------------------------------------------

    @property
    def mode(self) -> Mode:
        """``light`` or ``dark``, as drawn now."""
        return self._mode

    @property
    def choice(self) -> Choice:
        """What the person chose: light, dark or the system's."""
        return self._choice

    @property
    def scale(self) -> float:
        """Text zoom, 0.8 to 2.0; sizes grow with it."""
        return self._scale

    @property
    def motion(self) -> Motion:
        """The person's choice about motion."""
        return self._motion

    @property
    def less_motion(self) -> bool:
        """Whether things appear without moving."""
        return self._motion == "less" or (self._motion == "system" and self._system_less_motion)

    def color(self, token: str) -> QColor:
        """The colour of a token in the current mode. Shared: copy before changing it."""
        found = self._colors.get(token)
        if found is None:
            found = self._colors[token] = parse_color(self.hex(token))
        return found

    def hex(self, token: str) -> str:
        """The token's value as written: ``#RRGGBB`` or ``#RRGGBBAA``."""
        if self._contrast:
            if token in _OUTLINES:
                token = "text"
            elif token.endswith("-soft"):
                token = "surface"
        return self._tokens.colors[self._mode][token]

    def metric(self, name: str) -> int:
        """A size in pixels at the current scale: names of tokens.json, ``space-*``, ``radius-*``."""
        return round(self._tokens.metrics[name] * self._scale)

    def px(self, pixels: float) -> int:
        """A size given at 100 % in pixels at the current scale."""
        return round(pixels * self._scale)

    def font(self, role: str, weight: int | None = None) -> QFont:
        """The font of a type role (caption small body reading title heading display code mono-small)."""
        return self._fonts.get(role, weight)

    def line_height(self, role: str) -> int:
        """The role's line height in pixels at the current scale."""
        return self._fonts.line(role)

    def families(self, mono: bool = False) -> list[str]:
        """Family names in order of preference, for documents and style sheets."""
        return self._fonts.families(mono)

    def duration(self, name: str) -> int:
        """The milliseconds of an animation; 0 for movement when less motion is asked for."""
        return 0 if name in MOTION and self.less_motion else self._tokens.durations[name]

    def pixmap(self, name: str, color_token: str = "text-2", size: int = 16, dpr: float = 1.0) -> QPixmap:
        """An icon's pixmap; ``size`` in logical pixels as drawn (scale it with ``px`` where it stands beside text)."""
        return self._icons.pixmap(name, self.color(color_token), size, dpr)

    def set_agent_looks(self, looks: Mapping[str, AgentLook]) -> None:
        """What is drawn for agents, by name or title (``agent_icon``)."""
        if looks != self._icons.agents:
            self._icons.set_agents(looks)
            self.changed.emit()

    def has_agent(self, name: str) -> bool:
        """Whether an agent of this name or title names an icon."""
        return name in self._icons.agents

    def mark(self, size: int, dpr: float = 1.0) -> QPixmap:
        """The mark of Assent, ink with a green tick."""
        return self._icons.mark(self.color("text"), self.color("accent"), size, dpr)

    def icon(self, name: str, color_token: str = "text-2", size: int = 16) -> QIcon:
        """An icon at the app's device pixel ratio, with its disabled look."""
        ratio = self._application.devicePixelRatio()
        icon = QIcon(self.pixmap(name, color_token, size, ratio))
        icon.addPixmap(self.pixmap(name, "text-disabled", size, ratio), QIcon.Mode.Disabled)
        return icon

    # -- what settings change ----------------------------------------------------------------------------------------

    def set_choice(self, choice: str) -> None:
        """``system``, ``light`` or ``dark``; anything else counts as ``system``."""
        self._choice = as_choice(choice)
        self._system_changed()

    def set_scale(self, scale: float) -> None:
        """Text zoom, clamped to 0.8 to 2.0."""
        wanted = within_scale(scale)
        if wanted != self._scale:
            self._scale = wanted
            self._fonts = Fonts(self._tokens, wanted)
            self._dress()
            self.changed.emit()

    def set_motion(self, motion: str) -> None:
        """``system``, ``full`` or ``less``."""
        wanted = cast(Motion, motion) if motion in ("full", "less") else "system"
        if wanted != self._motion:
            self._motion = wanted
            self.changed.emit()

    def set_system_less_motion(self, less: bool) -> None:
        """What the desktop says about motion; counts while the choice is ``system``."""
        if less != self._system_less_motion:
            self._system_less_motion = less
            self.changed.emit()

    def _wanted_mode(self) -> Mode:
        if self._settled:
            self._system_dark = self._hints.colorScheme() == QtCore.Qt.ColorScheme.Dark
        return mode_of(self._choice, system_dark=self._system_dark)

    def _high_contrast(self) -> bool:
        return self._settled and self._access.contrastPreference() == QtCore.Qt.ContrastPreference.HighContrast

    def _system_changed(self, *_: Any) -> None:
        mode, contrast = self._wanted_mode(), self._high_contrast()
        if (mode, contrast) != (self._mode, self._contrast):
            self._mode, self._contrast = mode, contrast
            self._colors.clear()
            self._dress()
            self.changed.emit()

    def _dress(self) -> None:
        # One sheet in the place of another takes Qt six times as long as none and then the other: it resolves the font
        # and the colours of every widget through all that are around it, once for each of them.
        self._application.setStyleSheet("")
        self._application.setFont(self.font("body"))
        self._application.setPalette(make_palette(self.color))
        self._application.setStyleSheet(make_stylesheet(self.hex, self.px, self._tokens))


def theme() -> Theme:
    """The app's theme. Raises BugError before ``Theme.install``."""
    if Theme._installed is None:
        raise BugError("A widget asked for the theme before Theme.install().")
    return Theme._installed


def parse_color(text: str) -> QColor:
    """``#RRGGBB`` or ``#RRGGBBAA`` (Qt itself would read the latter as ``#AARRGGBB``)."""
    color = QColor(text[:7])
    if len(text) == 9:
        color.setAlpha(int(text[7:], 16))
    return color
