"""The lists of models and of agents over the composer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from desktop.presenter.chat.agent_choices import (
    EFFORT_EXPLAINED,
    MODES,
    MODES_EXPLAINED,
    EffortViewModel,
    ToolModesViewModel,
)
from desktop.presenter.chat.other_agent import ChoiceRow
from desktop.ui.chat.composer.picker import Picker, PickerChoice
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph

TOOL_MODE = "open:tool-mode"
"""No agent: how the agent calls its tools."""


class AgentPicker(Picker):
    """The picker of agents as (name, title). Its last row leads to how the current one calls its tools: ``mode`` in
    words."""

    def __init__(self, parent: QWidget, agents: Sequence[tuple[str, str]], current: str, mode: str) -> None:
        super().__init__(parent, name="Choose an agent", empty="No agent yet")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rows = [PickerChoice(name, title, "", agent_icon(name)) for name, title in agents]
        rows.append(PickerChoice(TOOL_MODE, "How it calls its tools…", mode, "code"))
        self.fill(rows, current)


class ToolModePicker(Picker):
    """The ways in which an agent may call its tools, with a sentence about them."""

    def __init__(self, parent: QWidget, modes: ToolModesViewModel, agent: str, title: str) -> None:
        super().__init__(parent, name=f"How {title[:40]} calls its tools", empty="Nothing found")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleDescription(MODES_EXPLAINED)
        foot = QWidget()
        Column(foot, margins=(8, 2, 8, 6)).addWidget(Paragraph(MODES_EXPLAINED, "small", "2"))
        self.column.addWidget(foot)
        said = dict(MODES).get(modes.said(agent) or "none", "")
        icons = {"direct": "step", "": "skills"}
        rows = [PickerChoice(mode, words, said if not mode else "", icons.get(mode, "code")) for mode, words in MODES]
        self.fill(rows, modes.chosen(agent))


class EffortPicker(Picker):
    """The levels of effort that the model has, with a sentence about them."""

    def __init__(self, parent: QWidget, effort: EffortViewModel, agent: str, title: str, model: str) -> None:
        super().__init__(parent, name=f"How much it thinks for {title[:40]}", empty="Nothing found")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleDescription(EFFORT_EXPLAINED)
        foot = QWidget()
        Column(foot, margins=(8, 2, 8, 6)).addWidget(Paragraph(EFFORT_EXPLAINED, "small", "2"))
        self.column.addWidget(foot)
        rows = [PickerChoice(level, words, "", "think") for level, words in effort.rows(model)]
        self.fill(rows, effort.chosen(agent))


class OwnChoicePicker(Picker):
    """The modes or the models that an agent of another maker offers."""

    def __init__(self, parent: QWidget, name: str, rows: tuple[ChoiceRow, ...], icon: str) -> None:
        super().__init__(parent, name=name, empty="It offers none while it does not run")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        found = [PickerChoice(row.value, shown_line(row.name), shown_line(row.about)[:80], icon) for row in rows]
        self.fill(found, next((row.value for row in rows if row.is_current), ""))
