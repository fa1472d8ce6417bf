"""Trying a tool on a settings page: its head with the way back, room for its arguments, and what came of the call.

The call is a real one and passes every gate: a write or admin tool asks, as for an agent.
"""

from __future__ import annotations

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QFrame

from desktop.presenter.skills.trying import SkillTrials
from desktop.ui.settings.trial_view import TrialView
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Scroller, clear
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text


class ToolTry(QFrame):
    """The view in which one tool is tried. ``back``: the person is done here. A page puts the arguments into ``fields``
    and says in ``run`` what to call."""

    back = Signal()

    def __init__(self, trials: SkillTrials, requests_wanted: SignalInstance, *, all_of_them: str) -> None:
        super().__init__()
        self.trials, self._all = trials, all_of_them
        self.name = ""
        self.setProperty("pane", "surface")
        scroller = Scroller(margins=(24, 16, 24, 24), spacing=12)
        Column(self, spacing=0).addWidget(scroller)
        self.inside = scroller.column
        self._head, self.fields = Column(spacing=8), Column(spacing=12)
        self.result = TrialView(trials)
        self.inside.addLayout(self._head)
        self.inside.addLayout(self.fields)
        self.result.run_wanted.connect(self.run)
        self.result.requests_wanted.connect(requests_wanted)

    def end_with_result(self) -> None:
        """Put the result at the end of the form."""
        self.inside.addWidget(self.result)
        self.inside.addStretch(1)

    def show_head(self, name: str, category: str, description: str) -> None:
        """Show another tool; the last result and the last arguments are dropped."""
        self.name = name
        self.result.follow(name)
        clear(self._head)
        clear(self.fields)
        head = Row(spacing=8)
        back = Button(self._all, "quiet", icon="left", small=True)
        back.clicked.connect(self.back)
        head.addWidget(back)
        head.addWidget(Text(shown_line(name), "code"))
        head.addWidget(Badge(category))
        head.addStretch(1)
        self._head.addLayout(head)
        self._head.addWidget(Paragraph(shown(description), "body", "2"))

    def run(self) -> None:
        """Call it through every gate."""
        raise NotImplementedError
