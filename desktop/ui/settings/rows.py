"""One setting as a row: title and help at the left, a control made from its kind at the right, refusals below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QFrame, QWidget

from desktop.presenter.settings.page import SettingSpec, SettingsViewModel
from desktop.ui.settings.list_editor import ListEditor
from desktop.ui.settings.times_editor import TimesEditor
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Field
from desktop.ui.widgets.controls.toggles import Segmented, Switch
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Text

LISTS = frozenset({"texts", "paths", "patterns", "expressions", "names", "times", "traits"})
WORDS = 180
"""Pixels at 100 % that title and help need beside the control."""
SCALES = (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0)


class Control(QObject):
    """A widget with a value; ``edited(value)`` when the person changed it."""

    edited = Signal(object)

    def __init__(self, widget: QWidget, put: Callable[[Any], None]) -> None:
        super().__init__(widget)
        self.widget = widget
        self.put = put

    def tell(self, value: object) -> None:
        """Tell the value that the person chose."""
        self.edited.emit(value)


def make_control(spec: SettingSpec) -> Control:
    """The control for a kind of setting."""
    if spec.kind == "flag":
        return _switch(spec)
    if spec.kind == "choice":
        return _choices(spec)
    if spec.kind == "times":
        return _times(spec)
    if spec.kind in LISTS:
        return _list(spec)
    if spec.key == "appearance.text_scale":
        return _scale(spec)
    return _line(spec)


def _switch(spec: SettingSpec) -> Control:
    switch = Switch(spec.title)
    control = Control(switch, lambda value: switch.setChecked(bool(value)))
    switch.clicked.connect(lambda: control.edited.emit(switch.isChecked()))
    return control


def _choices(spec: SettingSpec) -> Control:
    if len(spec.choices) <= 3:
        segmented = Segmented(spec.title, spec.choices)
        control = Control(segmented, lambda value: segmented.set_value(str(value)))
        segmented.chosen.connect(control.tell)
        return control
    combo = sized(Combo(spec.title), width=200)
    combo.fill([(label, value) for value, label in spec.choices])
    control = Control(combo, lambda value: combo.setCurrentIndex(combo.findData(value)))
    combo.activated.connect(lambda _index: control.edited.emit(combo.currentData()))
    return control


def _scale(spec: SettingSpec) -> Control:
    combo = sized(Combo(spec.title), width=120)
    combo.fill([(f"{round(scale * 100)} %", scale) for scale in SCALES])

    def put(value: Any) -> None:
        nearest = min(SCALES, key=lambda scale: abs(scale - float(value)))
        combo.setCurrentIndex(SCALES.index(nearest))

    control = Control(combo, put)
    combo.activated.connect(lambda _index: control.edited.emit(combo.currentData()))
    return control


def _list(spec: SettingSpec) -> Control:
    editor = ListEditor(spec.title, folders=spec.kind == "paths")
    control = Control(editor, lambda value: editor.set_entries(tuple(str(entry) for entry in value)))
    editor.edited.connect(control.tell)
    return control


def _times(spec: SettingSpec) -> Control:
    editor = TimesEditor(spec.title, spec.unit)
    control = Control(editor, editor.set_entries)
    editor.edited.connect(control.tell)
    return control


def _line(spec: SettingSpec) -> Control:
    holder = QWidget()
    row = Row(holder, spacing=8)
    number = spec.kind in ("number", "whole")
    wide = len(spec.zero) > len("No limit")
    field = sized(Field(spec.title, hint=spec.zero, mono=not number), width=184 if wide else 96 if number else 240)
    row.addWidget(field)
    if spec.unit:
        row.addWidget(sized(Text(spec.unit, "body", "2"), min_width=56))

    def put(value: Any) -> None:
        zero = spec.zero and value == 0
        field.setText("" if zero else f"{value:g}" if isinstance(value, float) else str(value))
        field.setModified(False)

    control = Control(holder, put)

    def finished() -> None:
        if field.isModified():
            field.setModified(False)
            emptied = spec.zero and not field.text().strip()
            control.edited.emit(0 if emptied else parsed(spec.kind, field.text()))

    field.editingFinished.connect(finished)
    return control


def parsed(kind: str, text: str) -> Any:
    """What a person typed as the kind's value; what is no number stays text, and the settings say why not."""
    text = text.strip()
    try:
        if kind == "whole":
            return int(text.replace(",", "").replace(" ", ""))
        if kind == "number":
            return float(text.replace(",", "."))
    except ValueError:
        return text
    return text


class SettingRow(QFrame):
    """The row of one setting.

    It follows the view-model; a refused value goes back, with the reason. A changed value can be reset; ``resetting``
    announces that. ``control`` takes the place of the one that fits the kind. With a ``heading`` it is no row of a card
    but a part of the page: the heading, ``tools`` at its right, the control below.
    """

    resetting = Signal()

    def __init__(
        self,
        settings: SettingsViewModel,
        spec: SettingSpec,
        *,
        last: bool = False,
        control: Control | None = None,
        heading: str = "",
        tools: QWidget | None = None,
    ) -> None:
        super().__init__()
        self._settings = settings
        self.spec = spec
        self.setProperty("pane", "row-last" if last or heading else "row")
        column = Column(self, margins=0 if heading else (16, 12, 16, 12), spacing=4)
        self._upper, head = Row(spacing=8 if heading else 16), Row(spacing=8 if heading else 16)
        words = Column(spacing=2)
        if heading:
            words.addWidget(Text(heading, "strong", elide="right"))
        else:
            words.addWidget(Paragraph(spec.title, "medium"))
            words.addWidget(Paragraph(spec.help, "small", "2"))
        head.addLayout(words, 1)
        self._reset = Button("Reset", "quiet", small=True, tip="Back to the default")
        self._reset.clicked.connect(self._back_to_default)
        head.addWidget(self._reset)
        if tools is not None:
            head.addWidget(tools)
        self._upper.addLayout(head, 1)
        self.control = control or make_control(spec)
        column.addLayout(self._upper)
        if spec.kind in LISTS:
            column.addSpacing(4)
            column.addWidget(self.control.widget)
        else:
            beside = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            self._upper.addWidget(self.control.widget, 0, beside)
        self._warning = Notice("ask", "", icon="failed")
        self._warning.hide()
        column.addWidget(self._warning)
        self._refusal = Paragraph("", "small", "failed")
        self._refusal.hide()
        column.addWidget(self._refusal)
        self.control.widget.setAccessibleDescription(spec.help)
        self.control.edited.connect(self._edited)
        settings.changed.connect(self._changed)
        settings.refused.connect(self._refused)
        settings.problems_changed.connect(self._warn)
        self.refresh()

    def event(self, event: QEvent) -> bool:
        """Whatever changes the room of the words, they are never squeezed: the control goes below them."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest) and self.spec.kind not in LISTS:
            self._place()
        return super().event(event)

    def _place(self) -> None:
        px, margins = theme().px, self.layout().contentsMargins()  # type: ignore[union-attr]  # a column
        own = self.control.widget.sizeHint().width() + self._upper.spacing()
        own += 0 if self._reset.isHidden() else self._reset.sizeHint().width() + self._upper.spacing()
        below = self.width() - margins.left() - margins.right() < own + px(WORDS)
        wanted = QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight
        if self._upper.direction() != wanted:
            self._upper.setDirection(wanted)
            self.updateGeometry()  # what it lies in has given it the height of before

    def refresh(self) -> None:
        """Show what is in force."""
        value = self._settings.get(self.spec.key)
        self.control.put(value)
        self._reset.setVisible(value != self._settings.default(self.spec.key))
        self._warn()

    def _warn(self) -> None:
        words = self._settings.warning(self.spec.key)
        self._warning.setVisible(bool(words))
        if words:
            self._warning.say(words)

    def _back_to_default(self) -> None:
        self.resetting.emit()
        self._settings.reset(self.spec.key)

    def _edited(self, value: Any) -> None:
        self._refusal.hide()
        self._settings.set(self.spec.key, value)

    def _changed(self, key: str) -> None:
        if key == self.spec.key:
            self._refusal.hide()
            self.refresh()

    def _refused(self, key: str, sentence: str) -> None:
        if key == self.spec.key:
            self._refusal.set_pieces(sentence)
            self._refusal.show()
            self.refresh()


def setting_card(settings: SettingsViewModel, specs: list[SettingSpec]) -> QFrame:
    """Several settings in one frame."""
    card = pane("card")
    column = Column(card, margins=0, spacing=0)
    for at, spec in enumerate(specs):
        column.addWidget(SettingRow(settings, spec, last=at == len(specs) - 1))
    return card
