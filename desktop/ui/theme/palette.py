"""The Qt palette made from the tokens, for what QSS does not reach (text selection, placeholder, item views)."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QColor, QPalette

ROLES: tuple[tuple[QPalette.ColorRole, str], ...] = (
    (QPalette.ColorRole.Window, "bg"),
    (QPalette.ColorRole.WindowText, "text"),
    (QPalette.ColorRole.Base, "surface"),
    (QPalette.ColorRole.AlternateBase, "sunken"),
    (QPalette.ColorRole.Text, "text"),
    (QPalette.ColorRole.PlaceholderText, "text-3"),
    (QPalette.ColorRole.Button, "surface"),
    (QPalette.ColorRole.ButtonText, "text"),
    (QPalette.ColorRole.BrightText, "on-accent"),
    (QPalette.ColorRole.ToolTipBase, "raised"),
    (QPalette.ColorRole.ToolTipText, "text"),
    (QPalette.ColorRole.Highlight, "selection"),
    (QPalette.ColorRole.HighlightedText, "text"),
    (QPalette.ColorRole.Link, "text"),
    (QPalette.ColorRole.LinkVisited, "text-2"),
    (QPalette.ColorRole.Light, "surface"),
    (QPalette.ColorRole.Midlight, "hover"),
    (QPalette.ColorRole.Mid, "border"),
    (QPalette.ColorRole.Dark, "border-strong"),
    (QPalette.ColorRole.Shadow, "border-strong"),
    (QPalette.ColorRole.Accent, "accent"),
)
DISABLED = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)


def make_palette(color: Callable[[str], QColor]) -> QPalette:
    """Every role from a token; disabled text is its own token."""
    palette = QPalette()
    for role, token in ROLES:
        palette.setColor(role, color(token))
    for role in DISABLED:
        palette.setColor(QPalette.ColorGroup.Disabled, role, color("text-disabled"))
    return palette
