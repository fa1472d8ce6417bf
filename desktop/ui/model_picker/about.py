"""What is known of the marked model: what it can, how much it thinks for an agent, which models stand in for it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.chat.agent_choices import EFFORT_EXPLAINED, EffortViewModel
from desktop.presenter.common.model_rows import NOT_NOW, can_words, plain_name
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.layout.containers import Scroller, clear
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Text

INSTEAD = "If it is too busy or cannot be reached"
ONLY = (
    "Only before the first word, and the answer says which model gave it. Never after a wrong key or a refused request."
)
WRONG = "Listed by its server or a table. Wrong?"
USUAL = "auto"
"""What an effort is called that nobody chose."""


class ModelAbout(Scroller):
    """``add_wanted``: another model for the list is to be chosen; ``correct_wanted``: what is known of it is wrong."""

    add_wanted = Signal()
    correct_wanted = Signal()
    grew = Signal()

    def __init__(self, setup: ModelSetupViewModel, effort: EffortViewModel, agent: str, title: str) -> None:
        super().__init__(margins=(16, 14, 16, 14), spacing=8)
        self.setAccessibleName("About the model")
        self._setup, self._effort = setup, effort
        self._agent, self._title = agent, title
        self.ref = ""
        self._told: object = None
        self.efforts: Segmented | None = None
        self.add: Button | None = None
        self._rest: tuple[tuple[str, tuple[str, str]], ...] = ()
        self._keys = False
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._build_rest)
        effort.changed.connect(self.refresh)
        setup.changed.connect(self.refresh)

    def show_model(self, ref: str) -> None:
        """Show another model; "" for none."""
        self.ref = ref
        self.refresh()

    def refresh(self) -> None:
        """Show what is known now."""
        setup, ref = self._setup, self.ref
        efforts = (self._effort.levels(ref), self._effort.chosen(self._agent))
        chain = tuple((one, self._named(one)) for one in setup.fallbacks if one != ref)
        told = (ref, setup.model(ref), efforts, chain)
        if told == self._told:
            return
        self._told = told
        keys = self.isAncestorOf(self.focusWidget()) if self.focusWidget() is not None else False
        clear(self.column)
        self.add = None
        if ref:
            self._build()
        self.column.addStretch(1)
        self._later.start()
        self._rest, self._keys = chain, keys

    def _build_rest(self) -> None:
        """What stands below: in a turn of its own, so that what is pressed meanwhile is heard."""
        chain, ref, model = self._rest, self.ref, self._setup.model(self.ref)
        self.column.takeAt(self.column.count() - 1)  # the stretch below what is there
        if ref and (model is None or model.locality in ("local", "provider")):
            self._chain(*self._named(ref), chain)
            self._origin()
        self.column.addStretch(1)
        if self._keys and self.add is not None:
            (self.efforts or self.add).setFocus(Qt.FocusReason.OtherFocusReason)
        self.grew.emit()

    def _named(self, ref: str) -> tuple[str, str]:
        """(name, connection) of a model."""
        name, place = self._setup.describe(ref)[0], self._setup.place(ref.partition("/")[0])
        return plain_name(name), plain_name(place) if self._setup.model(ref) is not None else NOT_NOW

    def wanted_height(self, width: int) -> int:
        """How high all of it is, that wide."""
        column = self.column
        return column.totalHeightForWidth(width) if column.hasHeightForWidth() else column.sizeHint().height()

    def _build(self) -> None:
        column, model = self.column, self._setup.model(self.ref)
        column.addWidget(Text(self._named(self.ref)[0], "code", elide="middle"))
        if model is not None and (words := can_words(model)):
            chips = FlowRow(gap=4)
            chips.set_items([Badge(word) for word in words])
            column.addWidget(chips)
        self._thinking()

    def _thinking(self) -> None:
        levels = self._effort.rows(self.ref)
        self.efforts = None
        if len(levels) < 2:
            return
        column = self.column
        column.addSpacing(4)
        column.addWidget(Text(f"Effort, kept for {plain_name(self._title)}", "small", "2", elide="right"))
        choices = tuple((level, words if level else USUAL) for level, words in levels)
        self.efforts = Segmented(f"Effort, kept for {self._title[:60]}", choices, small=True)
        self.efforts.set_tips({level: EFFORT_EXPLAINED if level else words for level, words in levels})
        self.efforts.set_value(self._effort.chosen(self._agent))
        self.efforts.chosen.connect(lambda level: self._effort.choose(self._agent, level))
        column.addWidget(self.efforts)

    def _chain(self, name: str, place: str, chain: tuple[tuple[str, tuple[str, str]], ...]) -> None:
        column = self.column
        column.addSpacing(4)
        column.addWidget(Text(INSTEAD, "small", "2", elide="right"))
        rows = Column(spacing=0)
        rows.addWidget(self._link(1, name, place, ""))
        for at, (ref, (other, where)) in enumerate(chain):
            rows.addWidget(self._link(at + 2, other, where, ref))
        column.addLayout(rows)
        self.add = Button("Add a model to try next", "quiet", icon="new", small=True)
        self.add.clicked.connect(self.add_wanted)
        row = Row(spacing=0)
        row.addWidget(self.add)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(Paragraph(ONLY, "small", "3"))

    def _link(self, number: int, name: str, place: str, ref: str) -> QWidget:
        holder = sized(QWidget(), height=28)
        row = Row(holder, spacing=8)
        row.addWidget(sized(Text(str(number), "small", "3"), width=12))
        row.addWidget(Text(name, "code", elide="middle"), 3)
        row.addWidget(_right(Text(place, "small", "ask" if place == NOT_NOW else "2", elide="right")), 3)
        if ref:
            remove = IconButton("close", f"Do not ask {name} instead", side=24, glyph_side=14)
            remove.clicked.connect(lambda: self._remove(ref))
            row.addWidget(remove)
        return holder

    def _remove(self, ref: str) -> None:
        if self.add is not None:
            self.add.setFocus(Qt.FocusReason.OtherFocusReason)  # the button that was pressed goes with its row
        self._setup.set_fallbacks([one for one in self._setup.fallbacks if one != ref])

    def _origin(self) -> None:
        self.column.addSpacing(2)
        self.column.addWidget(pane("line"))
        row = Row(spacing=4)
        row.addWidget(Text(WRONG, "small", "3", elide="right"), 1)
        correct = Button("Correct it", "quiet", small=True)
        correct.clicked.connect(self.correct_wanted)
        row.addWidget(correct)
        self.column.addLayout(row)


def _right(text: Text) -> Text:
    text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return text
