"""A definition as a form. Each field goes into the text when the person is done with it; everything else stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.settings.agents.model import SideModelFields
from desktop.ui.widgets.controls.fields import Field, Labelled, TextArea
from desktop.ui.widgets.controls.prompt_choice import HELP as PROMPT_HELP
from desktop.ui.widgets.controls.prompt_choice import PromptChoice
from desktop.ui.widgets.controls.toggles import CheckBox, Segmented
from desktop.ui.widgets.layout.containers import Scroller
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Text

TYPES = (("ai_human", "One agent, with you"), ("dual_ai", "Two agents, with each other"))
ALONE = "The agent"
"""What stands over the one side of an agent that talks with a person."""
USUAL = "assistant"
"""The skill of a side that had none yet."""
HELP = {
    "icon": "An icon of Assent, such as /icons/search.svg, or a picture beside this file, such as /owl.png: PNG, JPEG, "
    "WebP or a simple SVG. Pictures from the web are not loaded: the first letter of the title is shown instead.",
    "name": "Other agents and files know it by this name, which usually ends in _agent.",
    "description": "What it is for. People choose it by this.",
    "maxSessionTurns": "Counts the turns of both sides.",
    "toolDescription": "What it does for other agents. Models choose it by this.",
    "allowedTools": "Tools it may call: names or patterns such as read-*, with spaces between. Empty: the usual ones.",
    "label": "The name shown beside its messages.",
    "maxSteps": "How many times the model may be asked in one turn. Empty means 20.",
    "stopTool": "Calling this tool ends the turn, in place of a reply.",
    "stopToolResponseProperty": "The property of the stop tool's result that becomes the reply.",
    "endSessionTool": "Calling this tool ends the whole session.",
}


class _Line(Field):
    """One field of the form. ``done(value)`` when the person leaves it changed, a number where it is one."""

    done = Signal(object)

    def __init__(self, name: str, *, number: bool = False, mono: bool = False) -> None:
        super().__init__(name, mono=mono)
        self._number = number
        self._was = ""
        self.editingFinished.connect(self._finished)

    def show_value(self, value: Any) -> None:
        """What the text says; a field that is being typed in keeps what stands there."""
        text = "" if value is None else " ".join(map(str, value)) if isinstance(value, list) else str(value)
        if text != self.text() and not (self.hasFocus() and self.isModified()):
            self.setText(text)
        self._was = text

    @property
    def pending(self) -> bool:
        """Whether something was typed that ``done`` has not told."""
        return self.text().strip() != self._was

    def drop(self) -> None:
        """Drop what was typed and show what the text says."""
        self.setText(self._was)

    def finish(self) -> None:
        """Take over the field as if the person had left it."""
        self._finished()

    def _finished(self) -> None:
        text = self.text().strip()
        if text != self._was:
            self._was = text
            self.setModified(False)
            self.done.emit(self.value)

    @property
    def value(self) -> Any:
        """What stands in it, a number where it is one."""
        text = self.text().strip()
        return int(text) if self._number and text.isdecimal() and len(text) < 10 else text


class _SideFields(QWidget):
    """The fields of one side."""

    changed = Signal(object, object)
    typing = Signal()
    begun = Signal(str)
    left = Signal(str)

    def __init__(self, key: str, title: str, models: ModelSetupViewModel | None) -> None:
        super().__init__()
        self.key = key
        self.setAccessibleName(title)
        card = pane("card")
        Column(self, spacing=0).addWidget(card)
        column = Column(card, margins=(16, 12, 16, 16), spacing=12)
        self._title, self._heading = title, Text(title, "strong")
        column.addWidget(self._heading)
        self.choice = PromptChoice(f"{title}: prompt", f"{title}: kind of prompt", f"{title}: text of the prompt")
        self.prompt, self._skill, self._written, self._list = self.choice.skill, "", "", ""
        self.choice.picked.connect(lambda name: self.changed.emit((key, "prompt"), name))
        self.choice.switched.connect(self._switched)
        self.choice.typed.connect(self.typing)
        self.choice.left.connect(self._leave_text)
        self.lines = {
            name: _Line(f"{title}: {caption}", number=name == "maxSteps", mono="ool" in name)
            for name, caption in (
                ("label", "Label"),
                ("maxSteps", "Round limit"),
                ("stopTool", "Stop tool"),
                ("stopToolResponseProperty", "Part of its result"),
                ("endSessionTool", "Tool that ends the session"),
                ("allowedTools", "Tools"),
            )
        }
        for name, line in self.lines.items():
            line.done.connect(lambda value, name=name: self.changed.emit((key, name), value))
        self.reply = CheckBox("A reply without a tool call ends its turn")
        self.reply.clicked.connect(lambda on: self.changed.emit((key, "stopOnResponse"), None if on else False))
        labels = {
            name: Labelled(line.accessibleName().partition(": ")[2], line, HELP[name])
            for name, line in self.lines.items()
        }
        self.labels = {"prompt": Labelled("Prompt", self.choice, PROMPT_HELP), **labels}
        column.addWidget(self.labels["prompt"])
        column.addWidget(self.labels["allowedTools"])
        for pair in (("label", "maxSteps"), ("stopTool", "stopToolResponseProperty"), ("endSessionTool",)):
            row = Row(spacing=16)
            for name in pair:
                row.addWidget(self.labels[name], 1, Qt.AlignmentFlag.AlignTop)
            column.addLayout(row)
        column.addWidget(self.reply)
        self.models = SideModelFields(key, title, models)
        self.models.changed.connect(self.changed)
        self.models.typing.connect(self.typing)
        column.addWidget(self.models)

    def show_alone(self, alone: bool) -> None:
        """Set the heading: that of a side, or of an agent with nobody on the other side."""
        title = ALONE if alone else self._title
        self._heading.setText(title)
        self.setAccessibleName(title)

    def _switched(self, here: bool) -> None:
        """The other kind of prompt; what was chosen or written of this one comes back with it. The new key is written
        first, so that its side never stands empty."""
        if here:
            self.begun.emit(f"{self.key}.promptText")
            self._written = self.choice.text
            self.changed.emit((self.key, "promptText"), _block(self._written))
            self.changed.emit((self.key, "prompt"), None)
            self.changed.emit((self.key, "allowedTools"), self._list)
        else:
            self._list = self.lines["allowedTools"].text().strip()
            self.changed.emit((self.key, "prompt"), self._skill or str(self.prompt.itemData(0) or USUAL))
            self.changed.emit((self.key, "promptText"), None)
            self.changed.emit((self.key, "allowedTools"), None)
        self._show_kind(here)
        if here:
            self.choice.area.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_kind(self, here: bool) -> None:
        self.choice.show_here(here)
        self.labels["allowedTools"].setVisible(here)

    @property
    def pending(self) -> bool:
        """Whether the prompt or a setting of its model has something that is not in the file's text yet."""
        return self.models.fields.pending or self._writing

    @property
    def _writing(self) -> bool:
        return self.choice.here and self.choice.text != self._written.strip()

    def typed(self) -> list[tuple[tuple[str, ...], Any]]:
        """What stands in fields that ``changed`` has not told yet, by their paths."""
        found: list[tuple[tuple[str, ...], Any]] = []
        if self._writing:
            found.append(((self.key, "promptText"), _block(self.choice.text)))
        found += [((self.key, name), line.value) for name, line in self.lines.items() if line.pending]
        return found + self.models.typed()

    def _take_text(self) -> None:
        if self._writing:
            self._written = self.choice.text
            self.changed.emit((self.key, "promptText"), _block(self._written))

    def _leave_text(self) -> None:
        """The text lost the keys: to another field, or because the window did, and then they come back to it."""
        self._take_text()
        if self.window().focusWidget() is not self.choice.area:
            self.left.emit(f"{self.key}.promptText")

    def finish(self) -> None:
        """Take over every field as if the person had left it."""
        self._take_text()
        self.models.fields.finish()
        for line in self.lines.values():
            line.finish()

    def drop(self) -> None:
        """Every field as the text has it."""
        self.choice.show_text(self._written)
        self.models.fields.drop()
        for line in self.lines.values():
            line.drop()

    def begin(self) -> None:
        """Begin with another file: nothing of the one before comes back."""
        self._skill = self._written = self._list = ""
        self.choice.show_text("")
        self.models.begin()

    def _show_prompt(self, values: Mapping[str, Any]) -> None:
        written = values.get("promptText")
        if written is not None:
            text = str(written)
            if text.strip() != self._written.strip() or not self.choice.area.hasFocus():
                self.choice.show_text(text)
            self._written = text
        self._show_kind(written is not None)

    def show_values(self, values: Mapping[str, Any], prompts: Sequence[str]) -> None:
        """Show what the text says of this side."""
        self._show_prompt(values)
        prompt = str(values.get("prompt") or "").replace("_", "-")
        known: list[tuple[str, object]] = [(name, name) for name in prompts]
        if prompt and prompt not in prompts:
            known.insert(0, (f"{prompt} (missing)", prompt))
        self._skill = prompt or self._skill
        if not prompt:
            known.insert(0, ("Choose a skill", ""))
        self.prompt.fill(known, prompt)
        for name, line in self.lines.items():
            line.show_value(values.get(name))
        self.reply.setChecked(values.get("stopOnResponse") is not False)
        self.models.show_value(values.get("model"))


class AgentForm(Scroller):
    """``changed(path, value)``: a person changed a field; "" or None takes it out. ``typing``: a field is being typed
    in, which is ``pending`` until it is left or ``commit``. ``begun(path)``: an empty field was opened to be written
    in, and ``left``."""

    changed = Signal(object, object)
    typing = Signal()
    begun = Signal(str)
    left = Signal(str)

    def __init__(self, models: ModelSetupViewModel | None = None) -> None:
        super().__init__(margins=(24, 16, 24, 24), spacing=12)
        self.setAccessibleName("Fields of the agent")
        self.lines = {
            name: _Line(caption, number=name == "maxSessionTurns", mono=name == "name")
            for name, caption in (
                ("name", "Name"),
                ("title", "Title"),
                ("maxSessionTurns", "Turn limit"),
                ("icon", "Icon"),
                ("toolDescription", "What it does as a tool"),
            )
        }
        for name, line in self.lines.items():
            line.done.connect(lambda value, name=name: self.changed.emit((name,), value))
        self.description = sized(TextArea("Description", hint="What it is for, in a sentence."), height=60)
        self._described = ""
        self.description.installEventFilter(self)
        self.kind = Segmented("Who talks", TYPES)
        self.kind.chosen.connect(self._type_chosen)
        self.exposed = CheckBox("Other agents may call it as a tool")
        self.exposed.clicked.connect(lambda on: self.changed.emit(("exposeAsTool",), True if on else None))
        self.sides = (_SideFields("sideA", "Side A", models), _SideFields("sideB", "Side B", models))
        for side in self.sides:
            side.changed.connect(self.changed)
            side.typing.connect(self.typing)
            side.begun.connect(self.begun)
            side.left.connect(self.left)
        for line in self._all_lines():
            line.textEdited.connect(lambda _text: self.typing.emit())
        self.description.textChanged.connect(self.typing)
        self._lay_out()

    def _lay_out(self) -> None:
        column = self.column
        self.labels = {
            name: Labelled(line.accessibleName(), line, HELP.get(name, "")) for name, line in self.lines.items()
        }
        column.addLayout(_row(self.labels["name"], self.labels["title"]))
        column.addWidget(Labelled("Description", self.description, HELP["description"]))
        column.addLayout(_row(Labelled("Who talks", self.kind), self.labels["maxSessionTurns"]))
        for side in self.sides:
            column.addWidget(side)
        column.addWidget(self.exposed)
        column.addWidget(self.labels["toolDescription"])
        column.addWidget(self.labels["icon"])
        column.addStretch(1)

    @property
    def pending(self) -> bool:
        """Whether a field has something that is not in the text yet."""
        lines = any(line.pending for line in self._all_lines())
        return self._describing or lines or any(side.pending for side in self.sides)

    @property
    def _describing(self) -> bool:
        return self.description.toPlainText().strip() != self._described.strip()

    def typed(self) -> list[tuple[tuple[str, ...], Any]]:
        """What stands in fields that are still ``pending``, by their paths."""
        found: list[tuple[tuple[str, ...], Any]] = [
            ((name,), line.value) for name, line in self.lines.items() if line.pending
        ]
        if self._describing:
            found.append((("description",), self.description.toPlainText().strip()))
        return found + [one for side in self.sides for one in side.typed()]

    def commit(self) -> None:
        """Take over the field that is being typed in."""
        for line in self.lines.values():
            line.finish()
        for side in self.sides:
            side.finish()
        self._take_description()

    def begin(self) -> None:
        """Begin with another file."""
        for side in self.sides:
            side.begin()

    def drop(self) -> None:
        """Every field as the text has it."""
        for line in self.lines.values():
            line.drop()
        for side in self.sides:
            side.drop()
        self.description.setPlainText(self._described)

    def _all_lines(self) -> list[_Line]:
        return [*self.lines.values(), *(line for side in self.sides for line in side.lines.values())]

    def eventFilter(self, watched: Any, event: Any) -> bool:
        """Leaving the description takes it over."""
        if event.type() == event.Type.FocusOut:
            self._take_description()
        return super().eventFilter(watched, event)

    def _take_description(self) -> None:
        if self._describing:
            self._described = self.description.toPlainText().strip()
            self.changed.emit(("description",), self._described)

    def _type_chosen(self, value: str) -> None:
        self.changed.emit(("type",), value)

    def load(
        self,
        values: Mapping[str, Any],
        prompts: Sequence[str],
        wrong: Mapping[str, str],
        doubtful: Mapping[str, str],
        *,
        writable: bool,
    ) -> None:
        """Show what the text says; ``wrong`` and ``doubtful`` have a sentence by the path of its field."""
        for name, line in self.lines.items():
            line.show_value(values.get(name))
        described = str(values.get("description") or "")
        typing = self.description.hasFocus() and self._describing
        was, self._described = self._described, described
        if described != was and not typing:
            self.description.setPlainText(described)
        dual = values.get("type") == "dual_ai"
        self.kind.set_value("dual_ai" if dual else "ai_human")
        self.labels["maxSessionTurns"].setVisible(dual)
        self.exposed.setChecked(values.get("exposeAsTool") is True)
        self.labels["toolDescription"].setVisible(values.get("exposeAsTool") is True)
        self.sides[0].show_alone(not dual)
        self.sides[1].setVisible(dual)
        for side in self.sides:
            own = values.get(side.key)
            side.show_values(own if isinstance(own, Mapping) else {}, prompts)
        self._mark(wrong, doubtful)
        for control in (*self.lines.values(), self.description, self.kind, self.exposed, *self.sides):
            control.setEnabled(writable)

    def _mark(self, wrong: Mapping[str, str], doubtful: Mapping[str, str]) -> None:
        for name, label in self.labels.items():
            label.set_error(wrong.get(name, ""))
        for side in self.sides:
            for name, label in side.labels.items():
                path = f"{side.key}.{name}"
                label.set_warning(doubtful.get(path, ""))
                if path in wrong:
                    label.set_error(wrong[path])
            side.models.show_problems(wrong)
            of_prompt = (wrong.get(f"{side.key}.{name}", "") for name in ("prompt", "promptText"))
            side.labels["prompt"].set_error(next(filter(None, of_prompt), ""))


def _block(text: str) -> str:
    """A prompt as it stands in a file: with a line's end it is written as a block, also where it is one line."""
    return f"{text}\n" if text else ""


def _row(*parts: QWidget) -> Row:
    row = Row(spacing=16)
    for part in parts:
        row.addWidget(part, 1, Qt.AlignmentFlag.AlignTop)
    return row
