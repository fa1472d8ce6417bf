"""What a widget is for assistive technology where Qt says something else of it; its class names its ``spoken_role``.

Of every button that stays pressed Qt says check box: a choice among several is a page tab or an item of a list,
selected or not. Of every label it says label: a heading is one, so that people can go from heading to heading.
"""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractButton, QAccessibleWidget, QLabel

ROLES = {
    "page tab": QAccessible.Role.PageTab,
    "list item": QAccessible.Role.ListItem,
    "radio button": QAccessible.Role.RadioButton,
}
HEADING = "heading"


class ChoiceInterface(QAccessibleWidget):
    """One choice of a group, for screen readers."""

    def __init__(self, button: QAbstractButton, role: QAccessible.Role) -> None:
        super().__init__(button, role, button.accessibleName())
        self._button, self._role = button, role

    def state(self) -> QAccessible.State:
        """Selected instead of checked; all of them can be reached by keys."""
        state, on = super().state(), self._button.isChecked()
        radio = self._role == QAccessible.Role.RadioButton
        state.selectable, state.selected = int(not radio), int(on and not radio)
        state.checkable, state.checked = int(radio), int(on and radio)
        state.focusable = int(self._button.isEnabled())
        return state

    def text(self, kind: QAccessible.Text) -> str:
        """The name as it is now: it may hold a count."""
        return self._button.accessibleName() if kind == QAccessible.Text.Name else super().text(kind)


class HeadingInterface(QAccessibleWidget):
    """What stands over a part of a page."""

    def __init__(self, label: QLabel) -> None:
        super().__init__(label, QAccessible.Role.Heading, label.text())
        self._label = label

    def text(self, kind: QAccessible.Text) -> str:
        """The words as they are now."""
        return self._label.text() if kind == QAccessible.Text.Name else super().text(kind)


def interface_of(key: str, thing: QObject) -> QAccessibleInterface | None:
    """Qt asks once for each widget; only choices and headings are ours."""
    spoken = getattr(type(thing), "spoken_role", "")
    if not spoken or key != type(thing).__name__:
        return None
    kept: QAccessibleInterface | None = thing.__dict__.get("_interface")
    if kept is None:  # the widget keeps it: Qt does not
        if spoken in ROLES and isinstance(thing, QAbstractButton):
            kept = ChoiceInterface(thing, ROLES[spoken])
        elif spoken == HEADING and isinstance(thing, QLabel):
            kept = HeadingInterface(thing)
        thing.__dict__["_interface"] = kept
    return kept


def install() -> None:
    """Once, before there is anything to ask about: Qt asks only the first time."""
    QAccessible.installFactory(interface_of)
