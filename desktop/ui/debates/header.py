"""The head of a debate: title and state, turns, how it is looked at; and the strip with what each side has used."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from desktop.domain.debates import DebateState, SideMeter
from desktop.domain.definitions import SIDES, SideName
from desktop.presenter.common.folders import name_of, short_path
from desktop.presenter.debates.words import STATUS, label_of, meter_facts, prompt_words, status_words
from desktop.ui.chat.header import EditableTitle
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.help_button import HelpIcon
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.layout.panel_head import AGENTS_KEYS
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.side_marks import Pips, SideMark
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

VIEWS = (("lanes", "Lanes"), ("column", "Column"), ("a", "● As A"), ("b", "■ As B"))
FOLDER = 24
"""The longest name of a folder beside the title."""
TITLE = 140
"""Pixels at 100 % that are left to the title."""
_LOOKS = {"running": "running", "pausing": "running", "paused": "queued", "ended": "done", "ready": "queued"}


class DebateHeader(QFrame):
    """The head of a debate; its signals say what was pressed. Where it is narrow, how the debate is shown is chosen
    in a line of its own."""

    renamed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "header")
        self.fold = IconButton("sidebar", "Show or hide the list of debates")
        self._title = EditableTitle("", "Title of this debate")
        self.title, self.field = self._title.text, self._title.field
        self.folder = Text("", "small", "2")
        self.state = StateLabel()
        self._turn = Text("Turn", "small", "3")
        self._count = Text("", "title")
        self.pips = Pips()
        self.views = Segmented("How the debate is shown", VIEWS)
        self.agents = IconButton("agent", "Show the agents", shortcut=AGENTS_KEYS, side=32)
        self.agents.setCheckable(True)
        self.more = IconButton("more", "More for this debate")
        self._bar = sized(QWidget(), height=47)
        self._row = row = Row(self._bar, margins=(16, 0, 12, 0), spacing=8)
        row.addWidget(self.fold)
        row.addWidget(self._title, 1)
        row.addWidget(self.folder)
        for widget in (self.state, self._turn, self._count, self.pips):
            row.addWidget(widget)
        row.addSpacing(theme().px(16))
        self.help = HelpIcon()
        for control in (self.views, self.agents, self.more, self.help):
            row.addWidget(control)
        self._below = QWidget()
        self._line = Row(self._below, margins=(16, 0, 12, 8), spacing=8)
        self._line.addStretch(1)
        self._below.hide()
        column = Column(self, margins=(0, 0, 0, 1), spacing=0)
        column.addWidget(self._bar)
        column.addWidget(self._below)
        self._title.renamed.connect(self.renamed)

    def show_agents(self, shown: bool) -> None:
        """Show whether the agents stand beside the turns."""
        self.agents.setChecked(shown)
        self.agents.set_name(f"{'Hide' if shown else 'Show'} the agents", AGENTS_KEYS)

    def edit_title(self) -> None:
        """Put the field in the title's place."""
        self._title.edit()

    def show_state(self, state: DebateState) -> None:
        """Title, status, turn N of M and its pips."""
        self.title.setText(" ".join((state.title or state.setup.topic or "Untitled debate").split()))
        project = state.setup.project
        name = shown_line(name_of(project)) if project else ""
        self.folder.setVisible(bool(name))
        self.folder.setText(name if len(name) <= FOLDER else f"{name[: FOLDER - 1]}…")
        self.folder.setToolTip(plain_tip(f"Both sides work in {shown_line(short_path(project))}" if project else ""))
        words = "judging" if state.judging else STATUS[state.status]
        self.state.set_state("running" if state.judging else _LOOKS[state.status], words)
        self.state.setToolTip(plain_tip("" if state.judging else status_words(state)))
        turns = state.setup.turn_limit
        self._count.setText(f"{state.turn} / {turns}")
        self._count.updateGeometry()
        live = any(meter.round for meter in state.meters.values())
        self.pips.show_turns(state.turn - 1 if live else state.turn, turns, live=live)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The choice of the view leaves the title some room."""
        super().resizeEvent(event)
        others = (
            *([self.folder] if self.folder.isVisibleTo(self) else []),
            self.fold,
            self.state,
            self._count,
            self.agents,
            self.more,
            self.help,
            self.views,
        )
        needed = sum(one.sizeHint().width() for one in others) + theme().px(TITLE + 16 + 12 + 16 + 8 * len(others))
        below = self.width() < needed
        if below != self._below.isVisibleTo(self):
            if below:
                self._line.insertWidget(0, self.views)
            else:
                self._row.insertWidget(self._row.indexOf(self.agents), self.views)
            self._below.setVisible(below)

    def show_narrow(self, narrow: bool) -> None:
        """Where it is narrow the pips give way to the title."""
        self._turn.setVisible(not narrow)
        self.pips.setVisible(not narrow and self.pips.sizeHint().width() > 0)


class _SideStrip(QWidget):
    def __init__(self, side: SideName) -> None:
        super().__init__()
        self._side: SideName = side
        column = Column(self, spacing=2)
        head = Row(spacing=8)
        self._label = Text("", "strong", f"side-{side}", elide="right")
        self._label.setSizePolicy(self._label.sizePolicy().Policy.Maximum, self._label.sizePolicy().Policy.Fixed)
        self._who = Text("", "small", "3", elide="right")
        head.addWidget(SideMark(side))
        head.addWidget(self._label)
        head.addWidget(self._who, 1)
        column.addLayout(head)
        facts, pairs = FlowRow(gap=14), []
        self._facts: dict[str, Text] = {}
        for name in ("rounds", "tokens", "cost", "calls"):
            pairs.append(QWidget())
            row = Row(pairs[-1], spacing=4)
            row.addWidget(Text(name, "small", "3"))
            self._facts[name] = Text("", "small")
            row.addWidget(self._facts[name])
        facts.set_items(pairs)
        column.addWidget(facts)

    def show_state(self, state: DebateState) -> None:
        side = state.setup.side(self._side)
        self._label.setText(label_of(side, self._side))
        self._label.updateGeometry()
        model = side.model.partition("/")[2] or side.model or "the default model"
        self._who.setText(f"{prompt_words(side)}, {model}")
        facts = meter_facts(state.meters.get(self._side, SideMeter()))
        for name, figure in facts:
            if self._facts[name].text() != figure:
                self._facts[name].setText(figure)
                self._facts[name].updateGeometry()
        said = ", ".join(f"{name} {figure}" for name, figure in facts)
        self.setAccessibleName(f"{label_of(side, self._side)}: {said}")


class MeterStrip(QFrame):
    """Both sides, each over its lane."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "bg")
        sized(self, min_height=64)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        column = Column(self, spacing=0)
        self._row = Row(margins=(24, 8, 24, 8), spacing=64)
        self.sides = {side: _SideStrip(side) for side in SIDES}
        for strip in self.sides.values():
            self._row.addWidget(strip, 1)
        column.addLayout(self._row, 1)
        line = QFrame()
        line.setProperty("pane", "line")
        column.addWidget(line)

    def show_state(self, state: DebateState) -> None:
        """Show what each side has used so far."""
        for strip in self.sides.values():
            strip.show_state(state)
