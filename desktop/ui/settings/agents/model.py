"""The model that a side of an agent names, and how it is to answer, in the place of ``model`` of its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.common.setting_fields import wrong_in
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.model_picker.field import ModelField
from desktop.ui.model_picker.settings_fields import ModelSettingsFields
from desktop.ui.widgets.controls.fields import Labelled
from desktop.ui.widgets.scaling import Column

USUAL = "The chat's model"
HELP = "Chats with it start with this model."


class SideModelFields(QWidget):
    """``changed(path, value)`` as the form has it. A file may name the model alone (``model: lab/m``): with a setting
    beside it that becomes a mapping."""

    changed = Signal(object, object)
    typing = Signal()

    def __init__(self, side: str, title: str, models: ModelSetupViewModel | None) -> None:
        super().__init__()
        self._side, self._models = side, models
        self._given: Any = None
        self._fresh = True
        column = Column(self, spacing=8)
        self.model = ModelField(f"{title}: model", models, ("", USUAL)) if models is not None else None
        self.place = Labelled("Model", self.model, HELP) if self.model is not None else None
        if self.model is not None and self.place is not None:
            self.model.chosen.connect(self._choose)
            column.addWidget(self.place)
        self.fields = ModelSettingsFields(f"of {title.casefold()}", models)
        self.fields.changed.connect(self._set)
        self.fields.typing.connect(self.typing)
        column.addWidget(self.fields)

    @property
    def _mapping(self) -> Mapping[str, Any]:
        given = self._given
        return given if isinstance(given, Mapping) else {"model": given} if isinstance(given, str) and given else {}

    def begin(self) -> None:
        """Begin with another file."""
        self._fresh = True

    def show_value(self, given: Any) -> None:
        """Show what the file says below ``model``."""
        self._given = given
        ref = str(self._mapping.get("model") or "")
        if self.model is not None:
            self.model.show_ref(ref)
        usual = self._models.default_model if self._models is not None else ""
        self.fields.show_values(self._mapping, ref or usual, fresh=self._fresh)
        self._fresh = False

    def show_problems(self, wrong: Mapping[str, str]) -> None:
        """What is wrong, by the paths of fields."""
        path = f"{self._side}.model"
        if self.place is not None:
            self.place.set_error(wrong.get(path, "") or wrong.get(f"{path}.model", ""))
        below = {name.removeprefix(f"{path}."): text for name, text in wrong.items() if name.startswith(f"{path}.")}
        self.fields.show_problems(wrong_in(below))

    def typed(self) -> list[tuple[tuple[str, ...], Any]]:
        """What stands in fields that ``changed`` has not told yet, by their paths."""
        return [((self._side, "model", key), value) for key, value in self.fields.typed()]

    def _choose(self, ref: str) -> None:
        if isinstance(self._given, Mapping) and set(self._given) - {"model"}:
            self.changed.emit((self._side, "model", "model"), ref or None)
        else:
            self.changed.emit((self._side, "model"), ref or None)

    def _set(self, key: str, value: Any) -> None:
        alone, now = isinstance(self._given, str) and bool(self._given), {**self._mapping, key: value}
        self._given = now  # the next one may come before the text was read
        if alone:
            self.changed.emit((self._side, "model"), now)
        else:
            self.changed.emit((self._side, "model", key), value)
