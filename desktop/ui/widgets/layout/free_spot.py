"""Where something may stand over a page for a while without covering what a person presses there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QRect
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTextEdit,
    QWidget,
)

from desktop.ui.widgets.controls.fields import Labelled

CONTROLS = (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox, QPlainTextEdit, QTextEdit, QAbstractSlider)


FIELDS = (QComboBox, QLineEdit, QAbstractSpinBox, QPlainTextEdit, QTextEdit)
"""What is filled in."""


class _Taken(NamedTuple):
    """A place that is taken; ``need``: 3 has the keys, 2 cannot be scrolled away, 1 is a field, 0 is anything else."""

    rect: QRect
    need: int


def find_spot(pane: QWidget, box: QRect, over: QWidget, gap: int) -> QRect:
    """``box`` in ``pane``, moved up past what is in use below ``over``, or to the right. Where there is no room for
    that, past fields and what cannot be scrolled out from under it, then past the latter, at last past the field that
    has the keys; and where it is again too full, as it was."""
    taken = list(_in_use(pane, over))
    right = QRect(box)
    right.moveRight(pane.width() - box.left())
    for need in range(4):
        rects = [one.rect for one in taken if one.need >= need]
        found = _raised(box, rects, gap) or _raised(right, rects, gap)
        if found is not None:
            return found
    return box


def focus_in(pane: QWidget) -> QRect | None:
    """Where in ``pane`` the field is that has the keys, with its caption and what is wrong with it, as far as it
    shows."""
    focus = pane.window().focusWidget()
    if not isinstance(focus, FIELDS) or not pane.isAncestorOf(focus):
        return None
    around = focus.parentWidget()
    whole = around if isinstance(around, Labelled) else focus
    seen = whole.visibleRegion().boundingRect()
    return None if seen.isEmpty() else QRect(whole.mapTo(pane, seen.topLeft()), seen.size())


def _raised(box: QRect, taken: Sequence[QRect], gap: int) -> QRect | None:
    spot = QRect(box)
    while spot.top() >= gap:
        hit = [rect.top() for rect in taken if rect.adjusted(0, -gap, 0, gap).intersects(spot)]
        if not hit:
            return spot
        spot.moveBottom(min(min(hit) - gap, spot.bottom()) - 1)
    return None


def _in_use(pane: QWidget, over: QWidget) -> Iterator[_Taken]:
    """What is pressed and written in and can be seen, and the last row of a list."""
    for widget in _shown(pane, over):
        if isinstance(widget, QAbstractItemView):
            for rect in _last_row(widget, pane):
                yield _Taken(rect, 2)
        else:
            seen = widget.visibleRegion().boundingRect()
            if not seen.isEmpty():
                control = widget.control if isinstance(widget, Labelled) else widget
                field = isinstance(control, FIELDS)
                need = 3 if field and control.hasFocus() else 2 if not _scrolls(widget, pane) else int(field)
                yield _Taken(QRect(widget.mapTo(pane, seen.topLeft()), seen.size()), need)


def _shown(parent: QWidget, over: QWidget) -> Iterator[QWidget]:
    """The controls and lists that are shown; pages and cards that do not show are passed over with all that they
    hold."""
    for child in parent.children():
        if not isinstance(child, QWidget) or not child.isVisible() or child is over or isinstance(child, QScrollBar):
            continue
        if isinstance(child, (QAbstractItemView, Labelled, *CONTROLS)):
            yield child
        else:
            yield from _shown(child, over)


def _last_row(view: QAbstractItemView, pane: QWidget) -> Iterator[QRect]:
    """Nothing scrolls the last row away from under something that stands over it."""
    model = view.model()
    rows = model.rowCount(view.rootIndex()) if model is not None else 0
    area = view.viewport()
    if rows:
        rect = view.visualRect(model.index(rows - 1, 0, view.rootIndex())).intersected(area.rect())
        if not rect.isEmpty():
            yield QRect(area.mapTo(pane, rect.topLeft()), rect.size())


def _scrolls(widget: QWidget, pane: QWidget) -> bool:
    """Whether it lies on something that can still be scrolled up."""
    parent = widget.parentWidget()
    while parent is not None and parent is not pane:
        if isinstance(parent, QAbstractScrollArea):
            bar = parent.verticalScrollBar()
            return bar.value() < bar.maximum()
        parent = parent.parentWidget()
    return False
