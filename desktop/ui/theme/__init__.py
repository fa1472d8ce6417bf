"""How Assent looks: tokens, theme object, style sheet, icons, and painters that labels and delegates share.

The names are loaded with their first use: the window paints its first picture without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.domain.loading.lazy import lazy_module

if TYPE_CHECKING:
    from desktop.ui.theme import active
    from desktop.ui.theme.active import Theme, parse_color, theme
else:
    active = lazy_module("desktop.ui.theme.active")

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(active, name)
        return found


__all__ = ["Theme", "parse_color", "theme"]
