"""Tooltips of text that somebody else wrote: a title, an agent's name, a command."""

from __future__ import annotations

from PySide6.QtGui import Qt

from desktop.domain.text.markup import escape


def as_markup(text: str) -> str:
    """Markup that shows exactly this text, line by line."""
    return f"<p style='white-space: pre-wrap'>{escape(text)}</p>"


def plain_tip(text: str) -> str:
    """For ``setToolTip`` and a tooltip's role, which guess whether their text is markup: it is never taken for such, so
    it loads no picture and looks like nothing but itself (R-PRM-15)."""
    return as_markup(text) if Qt.mightBeRichText(text) else text
