"""A choice of agents: each with its icon, where any of them names one."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QIcon

from desktop.ui.theme import theme
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.widgets.controls.fields import Combo


class AgentCombo(Combo):
    """The data of a choice is the agent's name; one without data is no agent."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        theme().changed.connect(self._draw)

    def fill(self, choices: list[tuple[str, object]], current: object = None) -> None:
        """Replace the choices, (title, agent)."""
        super().fill(choices, current)
        self._draw()

    def _draw(self) -> None:
        t = theme()
        names = [str(self.itemData(index) or "") for index in range(self.count())]
        drawn = any(name and t.has_agent(name) for name in names)
        self.setIconSize(QSize(t.px(16), t.px(16)))
        for index, name in enumerate(names):
            self.setItemIcon(index, t.icon(agent_icon(name), "text-2", t.px(16)) if drawn and name else QIcon())
