"""Layouts and sizes given at 100 % that follow the text scale, without rebuilding a page.

``rescale(root)`` is called once by the window after the scale changed.
"""

from __future__ import annotations

from typing import Any, TypeVar

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from desktop.ui.theme import theme

Margins = tuple[int, int, int, int] | int
_SIZES = "_assent_sizes"
W = TypeVar("W", bound=QWidget)


def _four(margins: Margins) -> tuple[int, int, int, int]:
    return margins if isinstance(margins, tuple) else (margins, margins, margins, margins)


class Row(QHBoxLayout):
    """A horizontal layout; ``margins`` (left, top, right, bottom) and ``spacing`` in pixels at 100 %."""

    def __init__(self, parent: QWidget | None = None, *, margins: Margins = 0, spacing: int = 8) -> None:
        super().__init__()
        self._base = (_four(margins), spacing)
        self.rescale()
        if parent is not None:
            parent.setLayout(self)

    def rescale(self) -> None:
        """Apply the current text scale."""
        _apply(self, *self._base)


class Column(QVBoxLayout):
    """A vertical layout; ``margins`` (left, top, right, bottom) and ``spacing`` in pixels at 100 %."""

    def __init__(self, parent: QWidget | None = None, *, margins: Margins = 0, spacing: int = 8) -> None:
        super().__init__()
        self._base = (_four(margins), spacing)
        self.rescale()
        if parent is not None:
            parent.setLayout(self)

    def rescale(self) -> None:
        """Apply the current text scale."""
        _apply(self, *self._base)


def _apply(layout: QBoxLayout, margins: tuple[int, int, int, int], spacing: int) -> None:
    px = theme().px
    layout.setContentsMargins(*(px(value) for value in margins))
    layout.setSpacing(px(spacing))


def sized(widget: W, **sizes: int) -> W:
    """Fix sizes given at 100 %: ``width``, ``height``, ``min_width``, ``max_width``, ``min_height``, ``icon`` …"""
    setattr(widget, _SIZES, sizes)
    _resize(widget, sizes)
    return widget


_SETTERS = {
    "width": "setFixedWidth",
    "height": "setFixedHeight",
    "min_width": "setMinimumWidth",
    "max_width": "setMaximumWidth",
    "min_height": "setMinimumHeight",
    "max_height": "setMaximumHeight",
}


def _resize(widget: QWidget, sizes: dict[str, int]) -> None:
    px = theme().px
    for name, value in sizes.items():
        if name == "icon":
            side = px(value)
            target: Any = widget
            target.setIconSize(QSize(side, side))
        else:
            getattr(widget, _SETTERS[name])(px(value))


def rescale(root: QWidget) -> None:
    """Bring every layout and size below ``root`` to the current text scale."""
    for child in (root, *root.findChildren(QWidget)):
        sizes = getattr(child, _SIZES, None)
        if sizes:
            _resize(child, sizes)
    for layout in (*root.findChildren(QHBoxLayout), *root.findChildren(QVBoxLayout)):
        if isinstance(layout, Row | Column):
            layout.rescale()
