"""What stands in the window at its first paint: the theme's colours, where the rail and the page will be.

Plain widgets with palettes: a style sheet, a font or an icon would each take longer than all of this.
"""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop.ui.theme.choices import as_choice, looks_dark, mode_of, within_scale
from desktop.ui.theme.resources import TOKENS
from desktop.ui.theme.tokens import load_tokens


def make_frame(choice: str, scale: float, system: QPalette) -> QWidget:
    """In the theme that was chosen, else like the system's palette, and at a text scale."""
    tokens = load_tokens(TOKENS)
    colors = tokens.colors[mode_of(as_choice(choice), system_dark=looks_dark(system))]
    frame = _filled(colors["bg"])
    rail, line = _filled(colors["rail"], frame), _filled(colors["border"], frame)
    rail.setFixedWidth(round(tokens.metrics["rail"] * within_scale(scale)) - 1)
    line.setFixedWidth(1)
    row = QHBoxLayout(frame)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(0)
    row.addWidget(rail)
    row.addWidget(line)
    row.addStretch(1)
    return frame


def _filled(color: str, parent: QWidget | None = None) -> QWidget:
    widget = QWidget(parent)
    palette = QPalette()  # not QPalette(color): another form of that takes a Qt.GlobalColor, so PySide makes all of Qt
    palette.setColor(QPalette.ColorRole.Window, QColor(color))
    widget.setPalette(palette)
    widget.setAutoFillBackground(True)
    return widget
