"""What comes after what for those who do not see the page: as its layouts have it, from the top to the bottom.

Qt goes by the order in which widgets were made. A page is filled in parts, so that is another one; Tab and assistive
technology follow this instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QGridLayout, QLayout, QWidget


def children_of(widget: QWidget) -> list[QWidget]:
    """The widgets directly in a widget: those in its layout first, then what lies over them, by their places."""
    layout = widget.layout()
    laid = list(_in_layout(layout)) if layout is not None else []
    known = {id(child) for child in laid}
    others = [one for one in widget.children() if isinstance(one, QWidget) and not one.isWindow()]
    rest = sorted((one for one in others if id(one) not in known), key=lambda one: (one.y(), one.x()))
    return [*(one for one in laid if one.parent() is widget), *rest]


def _in_layout(layout: QLayout) -> Iterator[QWidget]:
    places = list(range(layout.count()))
    if isinstance(layout, QGridLayout):
        places.sort(key=lambda at: cast("tuple[int, int, int, int]", layout.getItemPosition(at))[:2])
    for place in places:
        item = layout.itemAt(place)
        if item is None:
            continue
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            yield widget
        elif inner is not None:
            yield from _in_layout(inner)


def tab_stops(root: QWidget) -> Iterator[QWidget]:
    """Where Tab stops, in reading order."""
    for child in children_of(root):
        if child.isVisible():
            if child.isEnabled() and child.focusPolicy() & Qt.FocusPolicy.TabFocus and child.focusProxy() is None:
                yield child
            yield from tab_stops(child)


def put_in_order(root: QWidget) -> None:
    """Below this widget assistive technology finds children as they are read."""
    wanted = children_of(root)
    if wanted != [one for one in root.children() if isinstance(one, QWidget) and not one.isWindow()]:
        for child in wanted:
            child.raise_()  # to the end of the children; what lies over others comes last, as before
    for child in wanted:
        put_in_order(child)


class Ordered(QWidget):
    """Keeps its children in reading order while somebody uses assistive technology."""

    def event(self, event: QEvent) -> bool:
        """Put the children in order after something came, went or moved."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and QAccessible.isActive():
            put_in_order(self)
        return done


def put_in_order_if_read(root: QWidget) -> None:
    """The children in the order in which they are read, where somebody uses assistive technology."""
    if QAccessible.isActive():
        put_in_order(root)


def move(window: QWidget, forward: bool) -> bool:
    """The focus to the next stop of Tab, or the one before; False where there is none."""
    stops = list(tab_stops(window))
    if not stops:
        return False
    now = window.focusWidget()
    at = stops.index(now) if now in stops else -1 if forward else 0
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    stops[(at + (1 if forward else -1)) % len(stops)].setFocus(reason)
    return True
