"""A list to choose from: models and agents with a field that filters, and the composer's offers without one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.common.fuzzy import Ranges, match
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph, marked_text
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, sized
from desktop.ui.widgets.text import Text

WIDTH = 400
ROWS = 9
"""Rows shown before the list scrolls."""


@dataclass(frozen=True, slots=True)
class PickerChoice:
    """``value`` is what is chosen, ``label`` what is read, ``hint`` stands at the right, ``icon`` at the left."""

    value: str
    label: str
    hint: str = ""
    icon: str = ""
    ranges: Ranges = ()


class Choices(QAbstractListModel):
    """Choices as rows; ``filter`` keeps those that fit, best first."""

    def __init__(self) -> None:
        super().__init__()
        self._all: tuple[PickerChoice, ...] = ()
        self.shown: list[PickerChoice] = []

    def fill(self, choices: Sequence[PickerChoice]) -> None:
        """Take new choices and show all of them."""
        self._all = tuple(choices)
        self.filter("")

    @property
    def any(self) -> bool:
        """Whether there is something to choose from, shown or not."""
        return bool(self._all)

    def filter(self, text: str) -> None:
        """Show what fits ``text``."""
        found = []
        for place, choice in enumerate(self._all):
            fit = match(text, choice.label)
            if fit is not None:
                kept = PickerChoice(choice.value, choice.label, choice.hint, choice.icon, fit.ranges)
                found.append((-fit.score, place, kept))
        self.beginResetModel()
        self.shown = [choice for _, _, choice in sorted(found, key=lambda f: f[:2])]
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """The number of choices that fit the filter."""
        return len(self.shown)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The label and, for a screen reader, the hint."""
        if role == Qt.ItemDataRole.DisplayRole:
            choice = self.shown[index.row()]
            return f"{choice.label}, {choice.hint}" if choice.hint else choice.label
        return None


class ChoiceDelegate(RowDelegate):
    """Icon, label with its matches, hint."""

    inset = 4

    def __init__(self, choices: Choices, *, mono: bool) -> None:
        super().__init__()
        self._choices = choices
        self._role = "code" if mono else "body"

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one choice."""
        t = theme()
        choice = self._choices.shown[index.row()]
        x = box.x() + t.px(8)
        if choice.icon:
            side = t.metric("icon-small")
            glyph(painter, QRect(x, box.y(), side, box.height()), choice.icon, "text-2", side)
            x += side + t.px(8)
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-3"))
        hint = elided(choice.hint, "small", box.width() // 2)
        width = painter.fontMetrics().horizontalAdvance(hint)
        spot = QRect(box.right() - width - t.px(8), box.y(), width + 1, box.height())
        painter.drawText(spot, int(Qt.AlignmentFlag.AlignVCenter), hint)
        label = elided(choice.label, self._role, spot.left() - x - t.px(8), middle=True)
        painter.setFont(t.font(self._role))
        metrics = painter.fontMetrics()
        baseline = box.y() + (box.height() + metrics.ascent() - metrics.descent()) // 2
        marked_text(painter, x, baseline, label, choice.ranges if label == choice.label else (), self._role, "text")


class Picker(QFrame):
    """Opens above or below what was pressed; typing filters; Enter chooses; Escape closes and changes nothing."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget, *, name: str, empty: str, field: bool = True) -> None:
        super().__init__(parent, Qt.WindowType.Popup if field else Qt.WindowType.Widget)
        self.setProperty("pane", "card-attention")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(name)
        self._choices = Choices()
        self.rows = RowList(name, ChoiceDelegate(self._choices, mono=False))
        self.rows.setModel(self._choices)
        self._none = empty
        self._empty = Text(empty, "small", "3")
        self.field = Field(name, hint=name, icon="search")
        column = self.column = Column(self, margins=6, spacing=6)
        column.addWidget(self.field)
        self.field.setVisible(field)
        column.addWidget(self.rows)
        column.addWidget(self._empty)
        self._room: int | None = None
        """Pixels that there are for all of it, above or below what was pressed."""
        sized(self, width=WIDTH)
        self.field.textChanged.connect(self._filter)
        self.rows.clicked.connect(lambda _: self.choose())
        self.rows.activated.connect(lambda _: self.choose())
        self.hide()

    @property
    def count(self) -> int:
        """How many rows are shown."""
        return len(self._choices.shown)

    def fill(self, choices: Sequence[PickerChoice], current: str = "") -> None:
        """Show other choices; ``current`` is marked."""
        self._choices.fill(choices)
        self._show(next((i for i, c in enumerate(self._choices.shown) if c.value == current), 0))

    def _filter(self, text: str) -> None:
        self._choices.filter(text)
        self._show(0)

    def _show(self, row: int) -> None:
        rows = self.count
        self._empty.setText("Nothing found" if self._choices.any else self._none)
        self._empty.setVisible(rows == 0)
        self.rows.setVisible(rows > 0)
        row_height = theme().px(32)
        maximum = ROWS if self._room is None else min(ROWS, (self._room - self._around()) // row_height)
        self.rows.setFixedHeight(row_height * max(1, min(maximum, rows)) + 2)
        if rows:
            self.rows.setCurrentIndex(self._choices.index(row))
        self.adjustSize()

    def _around(self) -> int:
        """The height above and below the rows, in pixels."""
        margins = self.column.contentsMargins()
        return margins.top() + margins.bottom() + self.field.sizeHint().height() + self.column.spacing() + 4

    def open_at(self, anchor: QWidget, part: QRect | None = None) -> None:
        """Above the widget, or the part of it, that was pressed; below where there is more room. Always inside the
        window: what is longer than its room scrolls."""
        self.field.clear()
        part, gap = part or anchor.rect(), theme().px(6)
        pressed = QRect(anchor.mapToGlobal(part.topLeft()), part.size())
        window = anchor.window()
        edge = theme().px(4)
        room = QRect(window.mapToGlobal(QPoint(0, 0)), window.size()).adjusted(edge, edge, -edge, -edge)
        room &= anchor.screen().availableGeometry()
        above, below = pressed.top() - gap - room.top(), room.bottom() - pressed.bottom() - gap
        self._room = max(above, below)
        self._show(max(0, self.rows.currentIndex().row()))
        fits_above = self.height() <= above
        top = pressed.top() - gap - self.height() if fits_above else pressed.bottom() + 1 + gap
        left = max(room.left(), min(pressed.left(), room.right() + 1 - self.width()))
        self.move(left, top)
        self.show()
        self.field.setFocus()

    def step(self, delta: int) -> None:
        """Move the mark up or down, round the ends."""
        if self.count:
            row = (self.rows.currentIndex().row() + delta) % self.count
            self.rows.setCurrentIndex(self._choices.index(row))

    def choose(self) -> None:
        """Choose the marked row."""
        row = self.rows.currentIndex().row()
        if 0 <= row < self.count:
            value = self._choices.shown[row].value
            self.hide()
            self.chosen.emit(value)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up, Down, Enter, Escape while the field has the keys."""
        moves = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() in moves:
            self.step(moves[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.choose()
        elif event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)
