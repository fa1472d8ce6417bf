"""A list of models with a field that searches it, and below it what the prices mean."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from desktop.presenter.common.model_rows import ModelRow, ModelRows, best_row
from desktop.ui.model_picker.rows import HEADING, ROW, ModelDelegate, ModelRowsList
from desktop.ui.theme import theme
from desktop.ui.theme.paint import keycap, keycap_width
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.rows import RowList
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Paragraph, Text

PRICES = "Prices for a million tokens"
NONE = "No model yet. Connect one, or start a server on this computer."
NOTHING = "Nothing found"
ROWS = 7
"""Rows of height that are shown before the list scrolls."""


class ModelSearch(Field):
    """Looks for models; the keys that open the list stand in it as a cap."""

    def __init__(self, keys: str) -> None:
        self._keys = keys
        super().__init__("Search models", hint="Search models", icon="search")

    def _dress(self) -> None:
        self.trailing = round(keycap_width(self._keys) / max(0.1, theme().px(100) / 100)) + 8 if self._keys else 0
        super()._dress()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The cap at the right."""
        super().paintEvent(event)
        if self._keys:
            width, px = keycap_width(self._keys), theme().px
            keycap(QPainter(self), QRect(self.width() - width - px(8), 0, width, self.height()), self._keys)


class ModelChooser(QWidget):
    """``chosen(ref)``: Enter or a click; ``marked(row)``: the mark stands on another one; ``left``: Escape;
    ``connect_wanted``: to where models are connected."""

    chosen = Signal(str)
    marked = Signal(object)
    left = Signal()
    connect_wanted = Signal()

    def __init__(self, keys: str = "") -> None:
        super().__init__()
        self.list = ModelRowsList()
        self.field = ModelSearch(keys)
        self.rows = RowList("Models", ModelDelegate(self.list))
        self.rows.setUniformItemSizes(False)
        self.rows.setModel(self.list)
        self.rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._wanted = False
        self._empty = Paragraph("", "small", "2")
        self.more = Button("Models and keys…", "quiet", small=True)
        self.about = IconButton("info", "About the marked model", side=28)
        self.about.hide()
        self._told: ModelRow | None = None
        column = self.column = Column(self, margins=8, spacing=6)
        column.addWidget(self.field)
        column.addWidget(self.rows, 1)
        inset = Row(margins=(10, 6, 10, 0))
        inset.addWidget(self._empty)
        column.addLayout(inset)
        foot = Row(margins=(10, 0, 0, 0), spacing=8)
        self.prices = Text(PRICES, "small", "3", elide="right")
        foot.addWidget(self.prices, 1)
        foot.addWidget(self.about)
        foot.addWidget(self.more)
        column.addLayout(foot)
        self.field.textChanged.connect(self.list.find)
        self.list.found.connect(self._found)
        self.rows.clicked.connect(lambda _: self.choose())
        self.rows.selectionModel().currentChanged.connect(self._stepped)
        self.more.clicked.connect(self.connect_wanted)

    def show_models(self, source: ModelRows, current: str) -> None:
        """Show other models; ``current`` is in use, and has the mark while nothing is sought."""
        self.list.show_models(source, current)

    @property
    def row(self) -> ModelRow | None:
        """The marked row."""
        at = self.rows.currentIndex().row()
        rows = self.list.rows
        return rows[at] if 0 <= at < len(rows) and rows[at].can else None

    def _found(self) -> None:
        """The mark stays on its model where the list only changed around it."""
        rows, was = self.list.rows, self._told.ref if self._told is not None else None
        same = next((at for at, row in enumerate(rows) if row.can and row.ref == was), -1) if not self.list.text else -1
        at = same if same >= 0 else best_row(rows, self.list.text, self.list.current)
        self.rows.setVisible(at >= 0)
        self._empty.set_pieces("" if rows else NONE if self.list.source.empty else NOTHING)
        self._empty.setVisible(not rows)
        if at >= 0:
            self.rows.setCurrentIndex(self.list.index(at))
            self.rows.scrollTo(self.list.index(max(0, at - 1 if not rows[at - 1].can else at)))
        self._stepped(QModelIndex())
        self.updateGeometry()
        if self._wanted:
            self.choose()

    def _stepped(self, _index: QModelIndex) -> None:
        row = self.row
        if row != self._told:
            self._told = row
            self.field.setAccessibleDescription(row.said if row is not None else "")  # read aloud at each step
            self.marked.emit(row)

    @property
    def rows_height(self) -> int:
        """Pixels that the rows take, up to where they scroll."""
        wanted = sum(ROW if row.can else HEADING for row in self.list.rows[: ROWS + 4])
        return theme().px(min(wanted, ROWS * ROW)) + 2

    def step(self, delta: int) -> None:
        """Move the mark over the headings, round the ends."""
        rows, at = self.list.rows, self.rows.currentIndex().row()
        able = [place for place, row in enumerate(rows) if row.can]
        if able:
            place = able.index(at) if at in able else -1
            self.rows.setCurrentIndex(self.list.index(able[(place + delta) % len(able)]))

    def mark(self, ref: str) -> None:
        """Mark a model, if it is shown."""
        for at, row in enumerate(self.list.rows):
            if row.can and row.ref == ref:
                self.rows.setCurrentIndex(self.list.index(at))

    def choose(self) -> None:
        """Choose the marked model; while a search is under way, once it has found it."""
        self._wanted = self.list.searching
        row = self.row
        if row is not None and not self._wanted:
            self.chosen.emit(row.ref)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up, Down, Enter, Escape while the field has the keys."""
        moves = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -ROWS, Qt.Key.Key_PageDown: ROWS}
        if event.key() in moves:
            self.step(moves[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.choose()
        elif event.key() == Qt.Key.Key_Escape and self.field.text():
            self.field.clear()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
