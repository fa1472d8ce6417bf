"""How a model is to answer, as fields of a form: the same for agents, sides of debates, jobs and skills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.model_settings import UNKNOWN, ModelTraits
from desktop.presenter.chat.agent_choices import effort_words
from desktop.presenter.common.setting_fields import (
    FIELDS,
    SettingField,
    levels,
    not_taken,
    settings_words,
    spelled,
    text_of,
    value_in,
)
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Field, Labelled, TextArea
from desktop.ui.widgets.layout.turning import Turning
from desktop.ui.widgets.scaling import Column, Row, sized

TITLE = "How its model answers"
PAIR = 340
"""Pixels at 100 % from which on two fields stand side by side."""
AS_IT_DOES = "As the model does by itself"


class ModelSettingsFields(QWidget):
    """``changed(key, value)``: a person changed a setting, None takes it out; what is wrong with it is said at its
    field, and it is passed on as it was written. ``typing``: a field is being typed in, which is ``pending`` until it
    is left. ``of`` says whose they are. Folded to a line until it is opened."""

    changed = Signal(str, object)
    typing = Signal()

    def __init__(self, of: str, setup: ModelSetupViewModel | None = None) -> None:
        super().__init__()
        self._setup, self._model = setup, ""
        self._values: Mapping[str, Any] = {}
        self._problems: Mapping[str, str] = {}
        self._was: dict[str, str] = {}
        self.setAccessibleName(f"{TITLE}, {of}")
        self.fold = Button(TITLE, "quiet", icon="right", small=True, shrinks=True)
        self.fold.clicked.connect(lambda: self.open(not self.is_open))
        self._inside = QWidget()
        self.places: dict[str, Labelled] = {}
        for field in FIELDS:
            self._add(field, of)
        outer = Column(self, spacing=6)
        head = Row(spacing=0)
        head.addWidget(self.fold)
        head.addStretch(1)
        outer.addLayout(head)
        outer.addWidget(self._inside)
        column = Column(self._inside, spacing=10)
        for pair in (("temperature", "top_p"), ("max_tokens", "seed"), ("effort", "region")):
            column.addWidget(Turning(*(self.places[name] for name in pair), minimum=PAIR))
        column.addWidget(self.places["stop"])
        self.open(False)
        if setup is not None:
            setup.changed.connect(self._mark)

    def _add(self, field: SettingField, of: str) -> None:
        name, said = field.name, f"{field.caption}, {of}"
        control: QWidget
        if name == "effort":
            control = Combo(said)
            control.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            control.setMinimumContentsLength(4)
            control.activated.connect(lambda _: self._leave(name))
        elif name == "stop":
            control = sized(TextArea(said, hint=field.hint, mono=True), height=56)
            control.textChanged.connect(lambda: self._type(name))
        else:
            control = Field(said, hint=field.hint)
            control.setMaxLength(400)
            control.textEdited.connect(lambda _: self._type(name))
            control.editingFinished.connect(lambda: self._leave(name))
        control.installEventFilter(self)
        place = self.places[name] = Labelled(field.caption, control, field.about)
        column = place.layout()
        if isinstance(column, Column):
            column.addStretch(1)  # two beside each other begin at one height

    # -- what is shown ------------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether the fields show."""
        return not self._inside.isHidden()

    def open(self, opened: bool) -> None:
        """Show the fields, or only what they say."""
        self._inside.setVisible(opened)
        self.fold.set_icon("down" if opened else "right")
        self._say()

    def _say(self) -> None:
        said = settings_words(self._values)
        self.fold.set_label(TITLE if self.is_open or not said else f"{TITLE}: {said}")
        self.fold.setAccessibleName(f"{TITLE}{f': {said}' if said else ''}")
        self.fold.setAccessibleDescription("open" if self.is_open else "folded")

    def show_values(self, values: Mapping[str, Any], model: str, *, fresh: bool = False) -> None:
        """Show what is said, and what the model takes. A field that is being typed in keeps what stands there, unless
        ``fresh``, with which the fields fold that say nothing."""
        self._values, self._model = values, model
        for name, place in self.places.items():
            value = values.get(spelled(values, name))
            text = text_of(name, value)
            if name == "effort":
                self._fill_efforts(str(value) if value is not None else "")
            elif not fresh and place.control.hasFocus() and self._is_said(name, value):
                text = self._text(name)
            elif fresh or not (self.pending_in(name) and place.control.hasFocus()):
                self._put(name, text)
            self._was[name] = text
        if fresh:
            self.open(bool(settings_words(values)) and self.is_open)
        self._say()
        self._mark()

    def _is_said(self, name: str, value: Any) -> bool:
        """Whether a field says this already, in other letters."""
        mine = value_in(name, self._text(name))[0]
        return bool(mine == (list(value) if isinstance(value, tuple) else value))

    def _put(self, name: str, text: str) -> None:
        control = self.places[name].control
        if isinstance(control, Field) and control.text() != text:
            control.setText(text)
        elif isinstance(control, TextArea) and control.toPlainText() != text:
            control.blockSignals(True)
            control.setPlainText(text)
            control.blockSignals(False)

    def _fill_efforts(self, value: str) -> None:
        box = self.places["effort"].control
        assert isinstance(box, Combo)
        able = levels(self._traits)
        rows: list[tuple[str, object]] = [(AS_IT_DOES, ""), *((effort_words(one, able), one) for one in able)]
        if value and value not in able:
            rows.append((value[:40], value))
        box.fill(rows, value)

    @property
    def _traits(self) -> ModelTraits:
        return self._setup.traits(self._model) if self._setup is not None else UNKNOWN

    def show_problems(self, problems: Mapping[str, str]) -> None:
        """What is wrong, by the setting's name."""
        self._problems = problems
        self._mark()
        if problems and not self.is_open:
            self.open(True)

    def _mark(self) -> None:
        traits = self._traits
        for name, place in self.places.items():
            value, wrong = value_in(name, self._text(name))
            wrong = wrong or self._problems.get(name, "")
            odd = not_taken(traits, name, value) if value is not None else ""
            if wrong:
                place.set_error(wrong)
            else:
                place.set_warning(odd)

    def first_wrong(self) -> QWidget | None:
        """The first field that is wrong."""
        return next((self.places[name].control for name in self.places if value_in(name, self._text(name))[1]), None)

    # -- what is written ----------------------------------------------------------------------------------------------

    def _text(self, name: str) -> str:
        control = self.places[name].control
        if isinstance(control, Combo):
            return str(control.currentData() or "")
        return control.text() if isinstance(control, Field) else control.toPlainText()  # type: ignore[attr-defined]

    def pending_in(self, name: str) -> bool:
        """Whether a field has something that ``changed`` has not told."""
        return self._text(name) != self._was.get(name, "")

    @property
    def pending(self) -> bool:
        """Whether any has."""
        return any(map(self.pending_in, self.places))

    def typed(self) -> list[tuple[str, Any]]:
        """(key, value) of what stands in fields that ``changed`` has not told."""
        pending = [name for name in self.places if self.pending_in(name)]
        return [(spelled(self._values, name), value_in(name, self._text(name))[0]) for name in pending]

    def _type(self, name: str) -> None:
        self._mark()
        self.typing.emit()

    def _leave(self, name: str) -> None:
        if not self.pending_in(name):
            return
        self._was[name] = self._text(name)
        value, _ = value_in(name, self._was[name])
        key = spelled(self._values, name)
        self._values = {**self._values, key: value}
        self._mark()
        self.changed.emit(key, value)

    def eventFilter(self, watched: Any, event: Any) -> bool:
        """Leaving the texts takes them over."""
        if event.type() == event.Type.FocusOut and watched is self.places["stop"].control:
            self._leave("stop")
        return super().eventFilter(watched, event)

    def finish(self) -> None:
        """Take over every field as if the person had left it."""
        for name in self.places:
            self._leave(name)

    def drop(self) -> None:
        """Every field as it was."""
        for name in self.places:
            if name != "effort":
                self._put(name, self._was.get(name, ""))
