"""How Assent looks: tokens, theme object, style sheet, icons, and painters that labels and delegates share."""

from desktop.ui.theme.active import Theme, parse_color, theme

__all__ = ["Theme", "parse_color", "theme"]
