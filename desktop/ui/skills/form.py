"""The frontmatter of a skill as a form. Each change is written into the text by the service, every other byte kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.skills import SkillProblem
from desktop.presenter.common.setting_fields import wrong_in
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.presenter.skills.editing import FormState
from desktop.presenter.skills.forms import parse_json
from desktop.presenter.skills.words import CODE_FIELDS
from desktop.ui.model_picker.field import ModelField
from desktop.ui.model_picker.settings_fields import ModelSettingsFields
from desktop.ui.widgets.controls.fields import Combo, Field, Labelled, MonoView, TextArea
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.layout.containers import Notice, Scroller
from desktop.ui.widgets.scaling import Row, sized

APPLY_AFTER = 350
"""Milliseconds after the last key before a field's value goes into the text."""
HELP = {
    "name": "1 to 64 of a to z, 0 to 9, and single hyphens.",
    "description": "What it does and when to use it: this is what an agent chooses by.",
    "allowed-tools": "Tools it may call: names, patterns such as read-*, #tags. Empty: every tool that is not hidden.",
    "tags": "Words with spaces between.",
    "category": "Whether a call asks you first. Empty: decided from what it may call.",
    "params": "JSON Schema of the arguments. Empty: it takes none.",
    "returns": "JSON Schema of the result. Empty: plain text.",
    "model": "All that is said of its agent, as JSON: also agent, maxTurns, maxSteps, toolMode, persistent.",
}


class FrontmatterForm(Scroller):
    """``changed(key, value)``: a person changed a field; None takes the key out."""

    changed = Signal(str, object)

    def __init__(self, known: ModelSetupViewModel | None = None) -> None:
        super().__init__()
        self.setAccessibleName("Frontmatter")
        self._known = known
        self._values: dict[str, Any] = {}
        self._loading = False
        self._pending: dict[str, Callable[[], None]] = {}
        self._later = QTimer(self, singleShot=True, interval=APPLY_AFTER)
        self._later.timeout.connect(self.flush)
        self.refused = Notice("ask", "")
        self.refused.hide()
        self._make_controls()
        self._lay_out()

    def _make_controls(self) -> None:
        self.name = Field("Name", mono=True)
        self.description = sized(TextArea("Description"), height=72)
        self.tools = sized(TextArea("Allowed tools", mono=True), height=60)
        self.tags = Field("Tags")
        self.visibility = Segmented("Visibility", (("shown", "Shown"), ("hidden", "Hidden")))
        self.category = Combo("Category")
        choices = [("Automatic", ""), ("read: runs at once", "read"), ("write: asks each time", "write")]
        self.category.fill([*choices, ("admin: asks, never remembered", "admin")])
        self.params = sized(TextArea("Params as JSON Schema", mono=True), height=156)
        self.returns = sized(TextArea("Returns as JSON Schema", mono=True), height=92)
        self.model = sized(TextArea("Model settings as JSON", mono=True), height=60)
        self.chosen = ModelField("Model that works on it", self._known, ("", OF_CALLER)) if self._known else None
        if self.chosen is not None:
            self.chosen.chosen.connect(self._choose)
        self.settings = ModelSettingsFields("of this skill", self._known)
        self.settings.changed.connect(self._set)
        self.settings.typing.connect(self._later.start)
        self.others = MonoView("Other keys, as YAML", rows=6)
        texts = {"description": self.description, "allowed-tools": self.tools}
        for key, area in texts.items():
            area.textChanged.connect(lambda key=key, area=area: self._typed(key, area.toPlainText))
        for key, area in {"params": self.params, "returns": self.returns, "model": self.model}.items():
            area.textChanged.connect(lambda key=key, area=area: self._typed(key, area.toPlainText))
        for key, field in {"name": self.name, "tags": self.tags}.items():
            field.textEdited.connect(lambda _, key=key, field=field: self._typed(key, field.text))
        self.visibility.chosen.connect(lambda value: self._give("visibility", "hidden" if value == "hidden" else None))
        self.category.activated.connect(lambda _: self._give("category", self.category.currentData() or None))

    def _lay_out(self) -> None:
        column = self.column
        column.addWidget(self.refused)
        self._labels: dict[str, Labelled] = {}
        side = Row(spacing=16)
        for key, caption, control in (
            ("name", "Name", self.name),
            ("description", "Description", self.description),
            ("tags", "Tags", self.tags),
            ("allowed-tools", "Allowed tools", self.tools),
            ("visibility", "Visibility", self.visibility),
            ("category", "Category", self.category),
            ("params", "Params", self.params),
            ("returns", "Returns", self.returns),
            ("model", "Agent and model", self.model),
        ):
            label = self._labels[key] = Labelled(caption, control, HELP.get(key, ""))
            if key in ("visibility", "category"):
                side.addWidget(label, 0 if key == "visibility" else 1, Qt.AlignmentFlag.AlignTop)
                if key == "category":
                    column.addLayout(side)
            elif key == "model":
                self._of_model = label
                if self.chosen is not None:
                    column.addWidget(Labelled("Model", self.chosen, "Which model works on it."))
                column.addWidget(self.settings)
                column.addWidget(label)
            else:
                column.addWidget(label)
        self._others = Labelled("Other keys", self.others, "These are kept as they are; change them under Text.")
        column.addWidget(self._others)
        column.addStretch(1)

    # -- from the text ------------------------------------------------------------------------------------------------

    def load(self, form: FormState, problems: Sequence[SkillProblem], *, writable: bool, fresh: bool = False) -> None:
        """Show what the text says; a field that is being typed in keeps what stands there, unless ``fresh``."""
        if fresh:
            self._later.stop()
            self._pending.clear()
        self._loading = True
        self.refused.say(form.refused)
        self.refused.setVisible(bool(form.refused))
        for key, value in form.values.items():
            kept = key in self._pending or (not fresh and self._controls()[key].hasFocus())
            if not kept and (fresh or value != self._values.get(key, _NOTHING)):
                self._show(key, value)
        self._values = dict(form.values)
        self._show_model(fresh=fresh)
        self.others.setPlainText(form.others)
        self._others.setVisible(bool(form.others))
        for control in (*self._controls().values(), self.settings, *([self.chosen] if self.chosen else [])):
            control.setEnabled(writable and not form.refused)
        self._loading = False
        self._mark(problems)

    def _controls(self) -> dict[str, QWidget]:
        return {key: label.control for key, label in self._labels.items()}

    def _show(self, key: str, value: Any) -> None:
        control = self._controls()[key]
        if isinstance(control, Field):
            text = " ".join(value) if isinstance(value, list) else str(value or "")
            if control.text() != text and (not control.hasFocus() or _differs(key, control.text(), value)):
                control.setText(text)
        elif isinstance(control, TextArea):
            text = value if isinstance(value, str) else "" if value is None else _laid_out(value)
            now = control.toPlainText()
            if now != text and (not control.hasFocus() or _differs(key, now, value)):
                control.setPlainText(text)
        elif isinstance(control, Segmented):
            control.set_value("hidden" if value == "hidden" else "shown")
        elif isinstance(control, Combo):
            control.setCurrentIndex(max(0, control.findData(value or "")))

    @property
    def _model_values(self) -> Mapping[str, Any]:
        given = self._values.get("model")
        return given if isinstance(given, Mapping) else {"model": given} if isinstance(given, str) and given else {}

    def _show_model(self, *, fresh: bool = False) -> None:
        ref = str(self._model_values.get("model") or "")
        if self.chosen is not None:
            self.chosen.show_ref(ref)
        usual = self._known.default_model if self._known is not None else ""
        self.settings.show_values(self._model_values, ref or usual, fresh=fresh)

    def _choose(self, ref: str) -> None:
        if isinstance(self._values.get("model"), Mapping):
            self._give("model.model", ref or None)
        else:
            self._give("model", ref or None)

    def _set(self, key: str, value: Any) -> None:
        """One setting of its model. A file may name the model alone (``model: lab/m``): that becomes a mapping."""
        given, now = self._values.get("model"), {**self._model_values, key: value}
        alone = isinstance(given, str) and bool(given)
        self._give("model" if alone else f"model.{key}", now if alone else value)
        self._values["model"] = now  # the next one may come before the text was read

    def _mark(self, problems: Sequence[SkillProblem]) -> None:
        """Each problem below the field that it is about."""
        said: dict[str, str] = {}
        of_model: dict[str, str] = {}
        for problem in problems:
            if (found := _OF_MODEL.match(problem.message)) is not None:
                of_model.setdefault(found.group(1), problem.message)
            key = CODE_FIELDS.get(problem.code.split(".", 1)[0], "")
            if problem.code == "schema.invalid":
                key = problem.message.split(" ", 1)[0]
            if key in self._labels and key not in said:
                said[key] = f"Line {problem.line}, column {problem.column}: {problem.message}"
        self.settings.show_problems(wrong_in(of_model))
        for key, label in self._labels.items():
            if key not in self._pending:
                label.set_error(said.get(key, ""))

    # -- to the text --------------------------------------------------------------------------------------------------

    def _typed(self, key: str, read: Callable[[], str]) -> None:
        if not self._loading:
            self._pending[key] = lambda: self._send(key, read())
            self._later.start()

    def flush(self) -> None:
        """Give what was typed just now."""
        self._later.stop()
        self.settings.finish()
        pending, self._pending = self._pending, {}
        for send in pending.values():
            send()

    def _send(self, key: str, text: str) -> None:
        try:
            value = _value(key, text)
        except ValueError as error:
            self._labels[key].set_error(str(error))
            return
        self._labels[key].set_error("")
        if value != self._values.get(key):
            self._give(key, value)

    def _give(self, key: str, value: Any) -> None:
        if not self._loading:
            if "." not in key:
                self._values[key] = value
            self.changed.emit(key, value)


_NOTHING = object()
_OF_MODEL = re.compile(r"model\.(\w+) ")
"""How the message of a problem begins that is about a setting of the model."""
OF_CALLER = "The model of whoever calls it"


def _value(key: str, text: str) -> Any:
    """A field's text as the value of its key; None takes the key out. Raises ValueError with a sentence."""
    if key == "tags":
        return [tag for tag in re.split(r"[\s,#]+", text) if tag] or None
    if key in ("params", "returns", "model"):
        if not text.strip():
            return None
        value = parse_json(text)
        if not isinstance(value, Mapping):
            raise ValueError("This has to be an object: { … }.")
        return value
    text = " ".join(text.split()) if key != "description" else text.strip()
    return text if text or key in ("name", "description") else None


def _differs(key: str, text: str, value: Any) -> bool:
    """Whether a field says something else than the text of the file does."""
    try:
        mine = _value(key, text)
    except ValueError:
        return False
    if key == "description":
        return " ".join(str(mine).split()) != " ".join(str(value or "").split())
    return bool((mine or None) != (value or None))


def _laid_out(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)[:2000]
