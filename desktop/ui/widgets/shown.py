"""How long machine text may be in a view, and how long something has waited. What makes it safe to look at is
``desktop.presenter.common.shown``, for views to import from here.
"""

from __future__ import annotations

from desktop.presenter.common.shown import arguments_text, shown, shown_line

__all__ = ["LINE", "arguments_text", "pieces_of", "shown", "shown_line", "waited"]

LINE = 400
"""Characters after which a long line goes on in the next row of a view."""


def pieces_of(line: str, columns: int = LINE) -> list[str]:
    """A line cut into rows of at most ``columns`` characters."""
    return [line[at : at + columns] for at in range(0, len(line), columns)] or [""]


def waited(seconds: float) -> str:
    """How long something has waited: ``2:14``, above an hour ``1 h 05``."""
    whole = max(0, int(seconds))
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}"
