"""The plain fields of a server's form, with what is wrong below each; all words in it are the server's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.servers.questions import AnswerValue, AskedField
from desktop.ui.widgets.controls.fields import Combo, Field, Labelled, TextArea
from desktop.ui.widgets.controls.toggles import CheckBox, Segmented
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line

LEFT_OUT = "may be left out"
SEGMENTS, SEGMENTS_LETTERS = 4, 30
"""So many short choices stand side by side."""
LINE, TEXT_MAX = 200, 4_000
"""A text of which the server says that it may be longer gets several lines."""
ONE_LINE_LABEL = 56
_HINTS = {"date": "2026-04-01", "date-time": "2026-04-01 14:30", "email": "", "uri": "https://", "": ""}

Check = Callable[[AskedField, object], AnswerValue | None]
"""The value that a control holds; raises ValueError with a sentence."""


class AskedForm(QWidget):
    """``changed`` after each change; ``values`` is None while something is wrong or missing. ``build`` makes its fields
    one after the other, for there may be many."""

    changed = Signal()
    grown = Signal()

    def __init__(self, fields: Sequence[AskedField], check: Check) -> None:
        super().__init__()
        self._fields, self._check = tuple(fields), check
        self._rows: list[_AskedRow] = []
        self._column, self._line = Column(self, spacing=12), Row()

    def build(self) -> Iterator[None]:
        """Make the fields; the window may have its turn after each of them."""
        for asked in self._fields:
            row = _AskedRow(asked, self._check)
            row.changed.connect(self.changed)
            row.grown.connect(self.grown)
            self._put(row)
            self._rows.append(row)
            for widget in (row, *row.findChildren(QWidget)):
                widget.ensurePolished()
            yield

    def _put(self, row: _AskedRow) -> None:
        """Beside the one before where one of them is short, else on a line of its own."""
        before, line = self._rows[-1] if self._rows else None, self._line
        fits = line.count() == 1 and before is not None and (before.is_short or row.is_short)
        if fits and before is not None and not (before.is_tall or row.is_tall):
            line.setStretch(0, 1 if before.is_short else 2)
        else:
            line = self._line = Row(spacing=16)
            self._column.addLayout(line)
        line.addWidget(row, 1 if row.is_short and line.count() else 2, Qt.AlignmentFlag.AlignTop)

    @property
    def first(self) -> QWidget | None:
        """The control that gets the keys."""
        return self._rows[0].control if self._rows else None

    def show_wrong(self) -> None:
        """Say of every field what is wrong with it."""
        for row in self._rows:
            row.look()

    @property
    def values(self) -> dict[str, AnswerValue] | None:
        """What would be sent."""
        found: dict[str, AnswerValue] = {}
        for row in self._rows:
            try:
                value = row.value
            except ValueError:
                return None
            if value is not None:
                found[row.asked.name] = value
        return found


class _AskedRow(Labelled):
    grown = Signal()

    def __init__(self, asked: AskedField, check: Check) -> None:
        control, read = _control(asked, lambda *_: self._edited())
        label = shown_line(asked.label)
        short_check = isinstance(control, CheckBox) and len(label) <= ONE_LINE_LABEL
        super().__init__("" if short_check else _heading(asked), control, shown(asked.words))
        self.asked, self._check, self._read = asked, check, read
        self._wrong = False
        control.setAccessibleName(f"{label}{'' if asked.required else ', ' + LEFT_OUT}")
        if isinstance(control, Field):
            control.editingFinished.connect(self.look)

    @property
    def is_short(self) -> bool:
        """Whether another field has room beside it."""
        asked = self.asked
        return asked.kind in ("number", "integer") or asked.format == "date" or isinstance(self.control, Segmented)

    @property
    def is_tall(self) -> bool:
        """Whether it has several lines."""
        return self.asked.kind in ("boolean", "many") or isinstance(self.control, TextArea)

    @property
    def value(self) -> AnswerValue | None:
        """Raises ValueError."""
        return self._check(self.asked, self._read())

    def _edited(self) -> None:
        """What is wrong is said when the person leaves the field, and taken back as soon as it is right."""
        if self._wrong and not self._sentence():
            self._say("")
        self.changed.emit()

    def look(self) -> None:
        """The person has left the field: say what is wrong with it."""
        self._say(self._sentence())

    def _say(self, sentence: str) -> None:
        if bool(sentence) != self._wrong or sentence:
            self._wrong = bool(sentence)
            self.set_error(sentence)
            self.grown.emit()

    def _sentence(self) -> str:
        try:
            self._check(self.asked, self._read())
        except ValueError as error:
            return str(error)
        return ""


def _heading(asked: AskedField) -> str:
    return shown_line(asked.label) + ("" if asked.required else f"  ·  {LEFT_OUT}")


def _control(asked: AskedField, edited: Callable[..., None]) -> tuple[QWidget, Callable[[], object]]:
    """The control of a field, and what reads it."""
    match asked.kind:
        case "boolean":
            return _yes(asked, edited)
        case "one":
            return _one(asked, edited)
        case "many":
            return _many(asked, edited)
    if asked.kind == "text" and not asked.format and LINE < asked.longest < TEXT_MAX:
        area = sized(TextArea(asked.label), height=92)
        area.setPlainText(_text(asked.default))
        area.textChanged.connect(edited)
        return area, area.toPlainText
    line = Field(asked.label, hint=_HINTS[asked.format])
    line.setMaxLength(max(1, asked.longest) if asked.kind == "text" else 40)
    line.setText(_text(asked.default))
    line.textChanged.connect(edited)
    return line, line.text


def _yes(asked: AskedField, edited: Callable[..., None]) -> tuple[QWidget, Callable[[], object]]:
    label = shown_line(asked.label)
    check = CheckBox(label if len(label) <= ONE_LINE_LABEL else "Yes")
    check.setChecked(asked.default is True)
    check.toggled.connect(edited)
    return check, check.isChecked


def _one(asked: AskedField, edited: Callable[..., None]) -> tuple[QWidget, Callable[[], object]]:
    """Side by side where there are few and one is proposed; nothing is chosen for a person that nobody proposed."""
    titles = [(value, shown_line(title)) for value, title in asked.choices]
    letters = sum(len(title) for _, title in titles)
    proposed = asked.default if isinstance(asked.default, str) else None
    if proposed is not None and asked.required and len(titles) <= SEGMENTS and letters <= SEGMENTS_LETTERS:
        segments = Segmented(asked.label, tuple(titles))
        segments.set_value(proposed)
        segments.chosen.connect(edited)
        return segments, lambda: segments.value
    combo = Combo(asked.label)
    nothing = [] if asked.required and proposed is not None else [("Choose…" if asked.required else "Nothing", None)]
    combo.fill([*nothing, *((title, value) for value, title in titles)], proposed)
    combo.currentIndexChanged.connect(edited)
    return combo, combo.currentData


def _many(asked: AskedField, edited: Callable[..., None]) -> tuple[QWidget, Callable[[], object]]:
    holder = QWidget()
    column = Column(holder, spacing=2)
    proposed = asked.default if isinstance(asked.default, list) else []
    checks: list[tuple[str, CheckBox]] = []
    for value, title in asked.choices:
        check = CheckBox(shown_line(title))
        check.setChecked(value in proposed)
        check.toggled.connect(edited)
        column.addWidget(check)
        checks.append((value, check))
    holder.setFocusProxy(checks[0][1])

    def read() -> object:
        chosen = [value for value, check in checks if check.isChecked()]
        return chosen if chosen or asked.required else None

    return holder, read


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)
