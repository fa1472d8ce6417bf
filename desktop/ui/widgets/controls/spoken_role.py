"""What a choice among several is for assistive technology: a page tab or an item of a list, selected or not.

Qt says check box of every button that stays pressed. A button class names its role as ``spoken_role``.
"""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractButton, QAccessibleWidget

ROLES = {
    "page tab": QAccessible.Role.PageTab,
    "list item": QAccessible.Role.ListItem,
    "radio button": QAccessible.Role.RadioButton,
}


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


def interface_of(key: str, thing: QObject) -> QAccessibleInterface | None:
    """Qt asks once for each widget; only choices are ours."""
    role = ROLES.get(getattr(type(thing), "spoken_role", ""))
    if role is None or key != type(thing).__name__ or not isinstance(thing, QAbstractButton):
        return None
    kept: QAccessibleInterface | None = thing.__dict__.get("_interface")
    if kept is None:  # the widget keeps it: Qt does not
        kept = thing.__dict__["_interface"] = ChoiceInterface(thing, role)
    return kept


def install() -> None:
    """Once, before there is anything to ask about: Qt asks only the first time."""
    QAccessible.installFactory(interface_of)
