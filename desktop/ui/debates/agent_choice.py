"""Beginning a debate with an agent of two sides, below the templates; not there while there is no such agent."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.presenter.debates.setup import DebateSetupViewModel
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.widgets.controls.fields import Combo
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

NONE = "Choose an agent"


class AgentChoice(QWidget):
    """An agent's own words are shown as one plain line."""

    def __init__(self, setup: DebateSetupViewModel) -> None:
        super().__init__()
        self._setup = setup
        self.box = Combo("Agent with two sides to begin with")
        row = Row(self, spacing=8)
        self._icon = Icon("agent", "text-2", 16)
        row.addWidget(self._icon)
        row.addWidget(Text("Or begin with an agent", "small", "2"))
        row.addWidget(self.box, 1)
        row.addStretch(1)
        self.box.activated.connect(lambda _: self._chosen())
        self.refresh()

    def _chosen(self) -> None:
        name = str(self.box.currentData() or "")
        if name:
            self._setup.choose_agent(name)
        else:
            self.refresh()

    def refresh(self) -> None:
        """Read the choices from the view-model."""
        agents, chosen = self._setup.definitions, self._setup.setup.agent
        self.box.fill([(NONE, ""), *((shown_line(one.title), one.name) for one in agents)], chosen)
        about = next((one.hint for one in agents if one.name == chosen), "")
        self._icon.set_icon(agent_icon(chosen), "text-2")
        self.box.setToolTip(plain_tip(shown_line(about)))
        self.setVisible(bool(agents))
