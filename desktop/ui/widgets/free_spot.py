"""Where something may stand over a page for a while without covering what a person presses there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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

CONTROLS = (
    QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox, QPlainTextEdit, QTextEdit, QAbstractSlider,
)  # fmt: skip


def find_spot(pane: QWidget, box: QRect, over: QWidget, gap: int) -> QRect:
    """``box`` in ``pane``, moved up past what is in use below ``over``. Where there is no room for that, past what
    cannot be scrolled out from under it; and where it is again too full, as it was."""
    taken = list(_in_use(pane, over))
    everything = [rect for rect, _ in taken]
    fixed = [rect for rect, scrolls in taken if not scrolls]
    return _raised(box, everything, gap) or _raised(box, fixed, gap) or box


def _raised(box: QRect, taken: Sequence[QRect], gap: int) -> QRect | None:
    spot = QRect(box)
    while spot.top() >= gap:
        hit = [rect.top() for rect in taken if rect.adjusted(0, -gap, 0, gap).intersects(spot)]
        if not hit:
            return spot
        spot.moveBottom(min(min(hit) - gap, spot.bottom()) - 1)
    return None


def _in_use(pane: QWidget, over: QWidget) -> Iterator[tuple[QRect, bool]]:
    """What is pressed and written in and can be seen, and the last row of a list; whether it can be scrolled away."""
    for widget in _shown(pane, over):
        if isinstance(widget, QAbstractItemView):
            yield from _last_row(widget, pane)
        else:
            seen = widget.visibleRegion().boundingRect()
            if not seen.isEmpty():
                yield QRect(widget.mapTo(pane, seen.topLeft()), seen.size()), _scrolls(widget, pane)


def _shown(parent: QWidget, over: QWidget) -> Iterator[QWidget]:
    """Controls and lists; pages and cards that do not show are passed over with all that they hold."""
    for child in parent.children():
        if not isinstance(child, QWidget) or not child.isVisible() or child is over or isinstance(child, QScrollBar):
            continue
        if isinstance(child, (QAbstractItemView, *CONTROLS)):
            yield child
        else:
            yield from _shown(child, over)


def _last_row(view: QAbstractItemView, pane: QWidget) -> Iterator[tuple[QRect, bool]]:
    """Nothing scrolls the last row away from under something that stands over it."""
    model = view.model()
    rows = model.rowCount(view.rootIndex()) if model is not None else 0
    area = view.viewport()
    if rows:
        rect = view.visualRect(model.index(rows - 1, 0, view.rootIndex())).intersected(area.rect())
        if not rect.isEmpty():
            yield QRect(area.mapTo(pane, rect.topLeft()), rect.size()), False


def _scrolls(widget: QWidget, pane: QWidget) -> bool:
    """Whether it lies on something that can still be scrolled up."""
    parent = widget.parentWidget()
    while parent is not None and parent is not pane:
        if isinstance(parent, QAbstractScrollArea):
            bar = parent.verticalScrollBar()
            return bar.value() < bar.maximum()
        parent = parent.parentWidget()
    return False
