"""The lists of models and of agents over the composer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from desktop.domain.models import ModelInfo
from desktop.presenter.item_builder import human_count
from desktop.presenter.model_setup import ModelSetupViewModel
from desktop.ui.chat.picker import Choice, Picker


def model_choice(model: ModelInfo) -> Choice:
    """A model as a row: where it runs and its window; what is not known is left out."""
    facts = [model.ref.connection_id]
    if model.context_window:
        facts.append(human_count(model.context_window))
    if model.locality == "demo":
        facts = ["not an AI"]
    icon = {"local": "server", "demo": "demo", "scripted": "demo"}.get(model.locality, "model")
    return Choice(str(model.ref), model.title, ", ".join(facts), icon)


class ModelPicker(Picker):
    """All models that can be used now; it follows a look that is still under way."""

    def __init__(self, parent: QWidget, setup: ModelSetupViewModel, current: str) -> None:
        super().__init__(parent, name="Choose a model", empty="No model yet")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._setup = setup
        self._current = current
        setup.changed.connect(self._fill)
        self._fill()
        setup.look()

    def _fill(self) -> None:
        rows = [model_choice(model) for model in self._setup.models]
        if self._current and self._current not in {row.value for row in rows}:
            rows.insert(0, Choice(self._current, self._setup.describe(self._current)[0], "now", "model"))
        rows.append(Choice("open-models", "Models and keys…", "settings", "key"))
        self.fill(rows, self._current)


class AgentPicker(Picker):
    """All agents; (name, title) each."""

    def __init__(self, parent: QWidget, agents: Sequence[tuple[str, str]], current: str) -> None:
        super().__init__(parent, name="Choose an agent", empty="No agent yet")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill([Choice(name, title, "", "agent") for name, title in agents], current)
