"""Dynamic properties that the style sheet reads."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget


def set_property(widget: QWidget, name: str, value: object) -> None:
    """Set a property and have the style sheet look again, only when it changed."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    widget.update()


def pane(kind: str, parent: QWidget | None = None) -> QFrame:
    """A frame with one of the style sheet's looks: rail list surface header footer card quoted line empty ask …"""
    frame = QFrame(parent)
    frame.setProperty("pane", kind)
    return frame
