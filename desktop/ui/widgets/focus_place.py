"""Where a control stands: whoever had the keys there gets them back at the same place, or beside it.

Also where its card was made anew meanwhile, has gone, or is greyed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QScrollArea, QWidget
from shiboken6 import isValid

from desktop.ui.theme import theme
from desktop.ui.widgets import reading_order
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.buttons import Button, IconButton

_WEIGHTY = frozenset({"primary", "danger", "admin"})
"""Looks of buttons that do something at once which a person has to mean: a press that was for another one, and comes
late, must not reach them."""


class _FocusLevel(NamedTuple):
    """Something around a control: which of its children holds it, the names between, where that begins and where in it
    the control's middle is."""

    around: QWidget
    branch: QWidget
    names: tuple[str, ...]
    top: int
    middle: QPoint


class FocusPlace:
    """Where a control stands in its window; without one, nowhere."""

    def __init__(self, control: QWidget | None) -> None:
        self._control = control
        self._like = _likeness(control) if control is not None else None
        self._around: list[_FocusLevel] = []
        if control is None:
            return
        names: tuple[str, ...] = ()
        branch, parent, middle = control, control.parentWidget(), control.rect().center()
        while parent is not None and not branch.isWindow():
            if branch is not control and branch.accessibleName():
                names = (*names, branch.accessibleName())
            middle = branch.mapToParent(middle)
            self._around.append(_FocusLevel(parent, branch, names, branch.y(), middle))
            branch, parent = parent, parent.parentWidget()

    @classmethod
    def of(cls, window: QWidget) -> FocusPlace:
        """Where the keys of a window are now."""
        return cls(window.focusWidget())

    def again(self) -> QWidget | None:
        """The control itself, the one that has been made in its place, or what stands where its card was; None while
        it is there and only hidden or greyed."""
        control = self._control
        if control is not None and isValid(control) and control.isVisible() and control.isEnabled():
            return control
        for level in self._around:
            if isValid(level.around) and level.around.isVisible():
                gone = not isValid(level.branch) or level.branch.parentWidget() is not level.around
                return self._in_place(level) if gone else None
        return None

    def or_beside(self) -> QWidget | None:
        """``again``, or what is beside it."""
        control = self._control
        return self.again() or (beside(control) if control is not None and isValid(control) else None)

    def give_back(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """The keys go there again; where its page does not show, once it does."""
        to = self.or_beside() or self._control
        if to is not None and isValid(to):
            give_keys(to, reason)

    def _in_place(self, level: _FocusLevel) -> QWidget | None:
        """The same control on a card of the same name; with another name, as *Pause* has, the one in the same place;
        else the first on what stands there now, or above."""
        around, layout = level.around, level.around.layout()
        if layout is not None:
            layout.activate()
        stops = list(reading_order.tab_stops(around))
        for stop in stops:
            if _likeness(stop) == self._like and _names(stop, around) == level.names:
                return stop
        calm = [stop for stop in stops if not _weighty(stop)]
        there = (stop for stop in calm if stop.rect().contains(stop.mapFrom(around, level.middle)))
        below = (stop for stop in calm if stop.mapTo(around, stop.rect().bottomLeft()).y() > level.top)
        return next(there, None) or next(below, calm[-1] if calm else None)


def give_keys(to: QWidget, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
    """The keys to a control, which is scrolled to where it can be seen."""
    to.setFocus(reason)
    around = to.parentWidget()
    while around is not None:
        if isinstance(around, QScrollArea):
            around.ensureWidgetVisible(to, 0, theme().px(16))
        around = around.parentWidget()


def enter(first: QWidget) -> None:
    """The keys to what a page wants them in first; while that is hidden, as an empty list is, beside it."""
    hidden = not first.isVisible() and first.window().isVisible()
    to = beside(first) if hidden else None
    (to or first).setFocus()


def first_in(page: QWidget) -> QWidget | None:
    """The first control that does nothing at once."""
    return next((stop for stop in _stops(page) if not _weighty(stop)), None)


def beside(lost: QWidget) -> QWidget | None:
    """The next control on the same row, card or page as one that is hidden or greyed, or the last before it. Fields and
    quiet buttons come first; it is never what allows a call, and nothing outside the page or the dialog."""
    window, branch, around = lost.window(), lost, lost.parentWidget()
    other: QWidget | None = None
    while around is not None and around is not window and around.parentWidget() is not window:
        if around.isVisible():
            stops = list(_next(around, branch))
            calm = next((stop for stop in stops if not _weighty(stop)), None)
            if calm is not None:
                return calm
            other = other or next((stop for stop in stops if not isinstance(stop, AllowButton)), None)
        branch, around = around, around.parentWidget()
    return other


def _next(around: QWidget, branch: QWidget) -> Iterator[QWidget]:
    """What can have the keys below a branch, then above it from the nearest on."""
    children = reading_order.children_of(around)
    at = children.index(branch)
    for child in children[at + 1 :]:
        yield from _stops(child)
    for child in reversed(children[:at]):
        yield from reversed(list(_stops(child)))


def _stops(root: QWidget) -> Iterator[QWidget]:
    if root.isVisible():
        if _takes_keys(root):
            yield root
        yield from reading_order.tab_stops(root)


def _takes_keys(widget: QWidget) -> bool:
    tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    return bool(tab and widget.isVisible() and widget.isEnabled() and widget.focusProxy() is None)


def _weighty(stop: QWidget) -> bool:
    if isinstance(stop, IconButton):
        return stop.takes_away
    return isinstance(stop, AllowButton) or (isinstance(stop, Button) and stop.kind in _WEIGHTY)


def _likeness(control: QWidget) -> tuple[type[QWidget], str]:
    return type(control), control.accessibleName()


def _names(stop: QWidget, around: QWidget) -> tuple[str, ...]:
    names: list[str] = []
    parent = stop.parentWidget()
    while parent is not None and parent is not around:
        if parent.accessibleName():
            names.append(parent.accessibleName())
        parent = parent.parentWidget()
    return tuple(names)
