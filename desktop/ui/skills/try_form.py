"""The form of arguments: one control for each entry that the schema names, its default in it, its mistakes below it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtWidgets import QWidget

from desktop.presenter.skills.forms import FormField, default_text, read
from desktop.ui.widgets.controls.fields import Combo, Field, Labelled, TextArea
from desktop.ui.widgets.controls.toggles import CheckBox
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Text

LONG = ("text", "content", "prompt", "body", "message", "command")
"""Names of texts that get several lines."""


class ArgumentForm(QWidget):
    """The form of a skill's arguments. ``values`` reads it: the arguments, and whether everything can be sent; mistakes
    stand below their fields."""

    def __init__(self, fields: Sequence[FormField], prefix: str = "") -> None:
        super().__init__()
        self._fields = tuple(fields)
        self._prefix = prefix
        self._controls: dict[str, QWidget] = {}
        self._labels: dict[str, Labelled] = {}
        self._groups: dict[str, ArgumentForm] = {}
        column = Column(self, spacing=12)
        for field in self._fields:
            column.addWidget(self._row(field))

    def _row(self, field: FormField) -> QWidget:
        if field.kind == "group":
            return self._group(field)
        control = self._controls[field.name] = _control(field)
        caption = f"{shown_line(field.name)}  ·  {shown_line(field.words)}{', required' if field.required else ''}"
        label = self._labels[field.name] = Labelled(caption, control, shown(field.description))
        control.setAccessibleName(f"{field.name}, {field.words}{', required' if field.required else ''}")
        return label

    def _group(self, field: FormField) -> QWidget:
        holder = pane("card")
        column = Column(holder, margins=12, spacing=8)
        column.addWidget(Text(f"{shown_line(field.name)}{'  ·  required' if field.required else ''}", "caption", "2"))
        form = self._groups[field.name] = ArgumentForm(field.fields, f"{self._prefix}{field.name}.")
        column.addWidget(form)
        return holder

    def first(self) -> QWidget | None:
        """The widget that gets the keyboard focus."""
        inner = next(iter(self._groups.values()), None)
        return next(iter(self._controls.values()), inner.first() if inner is not None else None)

    def raw(self) -> dict[str, Any]:
        """The controls' contents, as ``presenter.skills.forms.read`` takes them."""
        found: dict[str, Any] = {name: _content(control) for name, control in self._controls.items()}
        found.update({name: form.raw() for name, form in self._groups.items()})
        return found

    def values(self) -> tuple[dict[str, Any], bool]:
        """(arguments, whether nothing is wrong); says below each field what is."""
        values, errors = read(self._fields, self.raw())
        self.show_errors(errors)
        return values, not errors

    def show_errors(self, errors: Mapping[str, str]) -> None:
        """Show errors at their fields, which are named ``group.field``."""
        for name, label in self._labels.items():
            label.set_error(errors.get(f"{self._prefix}{name}", ""))
        for form in self._groups.values():
            form.show_errors(errors)

    def fill(self, values: Mapping[str, Any]) -> None:
        """Put arguments in, as from JSON; what has no field is left out."""
        for field in self._fields:
            if field.name in self._groups:
                inner = values.get(field.name)
                self._groups[field.name].fill(inner if isinstance(inner, Mapping) else {})
            elif field.name in values:
                _put(self._controls[field.name], field, values[field.name])


def _control(field: FormField) -> QWidget:
    name = field.name
    match field.kind:
        case "boolean":
            return _boolean(field)
        case "choice":
            combo = Combo(name)
            choices: list[tuple[str, object]] = [("not given", -1)] if not field.required else []
            choices += [(shown_line(str(choice)), at) for at, choice in enumerate(field.choices)]
            given = field.choices.index(field.default) if field.default in field.choices else -1
            combo.fill(choices, given)
            return combo
        case "list":
            area = sized(TextArea(name, hint="one in each line", mono=True), height=72)
        case "json":
            area = sized(TextArea(name, hint="JSON", mono=True), height=92)
        case "text" if name in LONG or len(default_text(field)) > 80:
            area = sized(TextArea(name), height=92)
        case _:
            line = Field(name, mono=field.kind in ("integer", "number"))
            line.setText(default_text(field))
            return line
    area.setPlainText(default_text(field))
    return area


def _boolean(field: FormField) -> QWidget:
    """The control of a yes or no; where the value is optional, also of neither."""
    if field.required or field.has_default:
        check = CheckBox("yes")
        check.setChecked(bool(field.default))
        return check
    combo = Combo(field.name)
    combo.fill([("not given", None), ("yes", True), ("no", False)])
    return combo


def _content(control: QWidget) -> Any:
    if isinstance(control, Field):
        return control.text()
    if isinstance(control, TextArea):
        return control.toPlainText()
    if isinstance(control, CheckBox):
        return control.isChecked()
    assert isinstance(control, Combo)
    return control.currentData()


def _put(control: QWidget, field: FormField, value: Any) -> None:
    if isinstance(control, CheckBox):
        control.setChecked(bool(value))
    elif isinstance(control, Combo):
        data = field.choices.index(value) if field.kind == "choice" and value in field.choices else value
        control.setCurrentIndex(max(0, control.findData(data)))
    else:
        lines = field.kind == "list" and isinstance(value, list)
        plain = isinstance(value, str) and field.kind != "json"
        text = "\n".join(map(str, value)) if lines else value if plain else json.dumps(value, ensure_ascii=False)
        if isinstance(control, Field):
            control.setText(text)
        elif isinstance(control, TextArea):
            control.setPlainText(text)
