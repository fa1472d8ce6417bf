"""The heads of what stands beside a thread: the same tabs on each, so that one is a click away from the other."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame

from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.layout.tabs import Tabs
from desktop.ui.widgets.scaling import Row, sized
from desktop.ui.widgets.text import Text

AGENTS_KEYS = "Ctrl+Shift+A"
CHANGES_KEYS = "Ctrl+Shift+G"
TABS = (("trace", "Trace"), ("agents", "Agents"), ("changes", "Changes"))


def panel_tabs(value: str) -> Tabs:
    """Trace, Agents and Changes, of which ``value`` shows."""
    made = Tabs("Beside the chat", TABS, spacing=12)
    made.set_value(value)
    return made


class RunHead(QFrame):
    """The head of a run's panel, 48 pixels high; its signals say what was pressed. ``alone``: nothing else stands in
    the same place, so there are no tabs."""

    def __init__(self, *, alone: bool = False) -> None:
        super().__init__()
        self.setProperty("pane", "header")
        sized(self, height=48)
        self.tabs = None if alone else panel_tabs("agents")
        self.count = Text("", "small", "2", elide="right")
        self.close_button = IconButton("close", "Close the agents", shortcut=AGENTS_KEYS, side=32)
        row = Row(self, margins=(16, 1, 8, 0), spacing=12)
        row.addWidget(self.tabs or Text("Agents", "strong"))
        row.addWidget(self.count, 1)
        row.addWidget(self.close_button)
