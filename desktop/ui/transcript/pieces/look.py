"""What all painted parts need of the theme, made once per theme and scale: fonts, formats, colours, sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPixmap, QTextCharFormat

from desktop.ui.theme import Theme
from desktop.ui.transcript.pieces.text_box import BoxStyle, Wrap

HEADING_ROLES = {1: ("heading", 600), 2: ("title", 600), 3: ("reading", 600)}


class PageLook:
    """``px`` scales a size given at 100 %. A new object replaces it when the theme changes."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.scale = theme.scale
        self.px: Callable[[float], int] = theme.px
        self._styles: dict[tuple[str, Qt.AlignmentFlag, str], BoxStyle] = {}
        self._formats: dict[str, QTextCharFormat] = {}
        self._metrics: dict[tuple[str, int | None], QFontMetricsF] = {}

    def color(self, token: str) -> QColor:
        return self.theme.color(token)

    def font(self, role: str, weight: int | None = None) -> QFont:
        return self.theme.font(role, weight)

    def line(self, role: str) -> int:
        return self.theme.line_height(role)

    def metrics(self, role: str, weight: int | None = None) -> QFontMetricsF:
        """Shared metrics of a font."""
        key = (role, weight)
        found = self._metrics.get(key)
        if found is None:
            found = self._metrics[key] = QFontMetricsF(self.font(role, weight))
        return found

    def pixmap(self, name: str, token: str, size: float, ratio: float) -> QPixmap:
        return self.theme.pixmap(name, token, self.px(size), ratio)

    @cached_property
    def code_advance(self) -> float:
        """Width of one character of code."""
        return self.metrics("code").horizontalAdvance("0")

    def style(self, role: str, align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft, line: str = "") -> BoxStyle:
        """The shared style of running text in a role; ``line`` names another role for the line height."""
        key = (role, align, line)
        found = self._styles.get(key)
        if found is None:
            found = self._styles[key] = BoxStyle(self.font(role), self.line(line or role), align=align)
        return found

    @cached_property
    def code_style(self) -> BoxStyle:
        """Code that is not wrapped."""
        return BoxStyle(self.font("code"), self.line("code"), Wrap.NoWrap, code=True)

    @cached_property
    def output_style(self) -> BoxStyle:
        """Arguments and results, wrapped anywhere."""
        return BoxStyle(self.font("code"), self.line("code"), Wrap.WrapAnywhere, code=True)

    def heading(self, level: int) -> BoxStyle:
        """The style of a heading inside a message."""
        role, weight = HEADING_ROLES.get(level, ("reading", 600))
        return BoxStyle(self.font(role, weight), self.line(role))

    def token_format(self, token: str) -> QTextCharFormat:
        """Text in a token's colour."""
        found = self._formats.get(token)
        if found is None:
            found = self._formats[token] = QTextCharFormat()
            found.setForeground(QBrush(self.color(token)))
        return found

    def inline_format(self, key: tuple[Any, ...]) -> QTextCharFormat:
        """The format of a run: (bold, italic, struck, code, link)."""
        name = "run" + "".join(str(int(bool(flag))) for flag in key)
        found = self._formats.get(name)
        if found is None:
            found = self._formats[name] = self._make_inline(*key)
        return found

    def _make_inline(self, bold: bool, italic: bool, struck: bool, code: bool, link: bool) -> QTextCharFormat:
        made = QTextCharFormat()
        if bold:
            made.setFontWeight(600)
        if italic:
            made.setFontItalic(True)
        if struck:
            made.setFontStrikeOut(True)
        if code:
            font = self.font("code")
            made.setFontFamilies(font.families())
            made.setFontFixedPitch(True)
            made.setProperty(QTextCharFormat.Property.FontPixelSize, self.px(12.5))
            made.setBackground(QBrush(self.color("bg")))
        if link:
            made.setFontUnderline(True)
            made.setForeground(QBrush(self.color("text")))
        return made

    def formula_size(self, line: int, height: float) -> float:
        """Font size in pixels of a formula of relative ``height`` that has to fit into a line."""
        return min(float(self.px(15)), (line + self.px(4)) / max(0.1, height))

    def blank(self, width: float) -> QTextCharFormat:
        """A no-break space of this width, for a drawing to stand in."""
        made = QTextCharFormat()
        made.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
        made.setFontLetterSpacing(width - self.metrics("reading").horizontalAdvance("\u00a0"))
        return made

    @cached_property
    def selection(self) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setBackground(QBrush(self.color("selection")))
        return made

    @cached_property
    def found(self) -> QTextCharFormat:
        """A place that find-in-thread matches."""
        made = QTextCharFormat()
        made.setBackground(QBrush(self.color("write-soft")))
        return made

    @cached_property
    def found_now(self) -> QTextCharFormat:
        """The match the person is at."""
        made = QTextCharFormat()
        made.setBackground(QBrush(self.color("write")))
        made.setForeground(QBrush(self.color("surface")))
        return made
