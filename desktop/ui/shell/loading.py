"""The one place where a page's module is imported late, so that the window paints before pages nobody looks at load.

A page is named by module and class; ``page`` gives a factory for ``MainWindow``, which calls it when the page is first
shown. ``warm`` imports what is left while nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from PySide6.QtWidgets import QWidget

PageFactory = Callable[[], QWidget]


def load(module: str, name: str) -> Any:
    """The attribute ``name`` of ``module``, importing it now if need be."""
    return getattr(import_module(module), name)


def page(module: str, name: str, *arguments: Any, **keywords: Any) -> PageFactory:
    """A factory that loads the class on its first call and builds the page with the given view-models."""

    def build() -> QWidget:
        widget: QWidget = load(module, name)(*arguments, **keywords)
        return widget

    return build


def warm(modules: Iterable[str]) -> Callable[[], bool]:
    """A step function: each call imports one more module; False when all are there."""
    left = list(modules)

    def step() -> bool:
        if left:
            import_module(left.pop(0))
        return bool(left)

    return step
