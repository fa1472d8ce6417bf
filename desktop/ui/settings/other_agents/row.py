"""One agent of another maker in the list: its switch, how it stands, and what it may do."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.settings.other_agents import OtherAgentRow
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Combo, Field, MonoView
from desktop.ui.widgets.controls.toggles import Switch
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.marks import Badge, StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

BESIDE_SWITCH = 44
"""Pixels at 100 % that the lines below a name are moved in: the switch and the space beside it."""
LABEL = 92
"""Pixels at 100 % of the column of what a fact is about."""
STATES = {"on": "done", "off": "idle", "new": "info", "changed": "warning", "missing": "failed"}
FIELD = 200
"""The least width of a field, in pixels at 100 %."""
LOG_ROWS = 8
SAW = "This is what it may do. Nothing of it has been started."
SAW_AGAIN = "Its program is another one than the one that you looked at. This is what it may do."


class OtherAgentLine(QFrame):
    """``opened`` when it is to show what it may do, or no longer; the other signals are what the person wants of it."""

    opened = Signal(bool)
    switched = Signal(bool)
    terms = Signal(dict)
    offered = Signal(str)
    folder = Signal(str)
    chat = Signal()
    removed = Signal()

    def __init__(self, row: OtherAgentRow, *, is_open: bool, shows_log: bool, last: bool) -> None:
        super().__init__()
        self.row, self.is_open, self.shows_log = row, is_open, shows_log
        self.setProperty("pane", "row-last" if last else "row")
        self._column = Column(self, margins=(12, 8, 12, 10), spacing=8)
        self._column.addWidget(self._head())
        if row.problem:
            self._column.addLayout(_moved_in(Notice("failed", shown(row.problem)[:600], slim=True)))
        if shows_log:
            self._column.addLayout(_moved_in(self._log()))
        if is_open:
            self._column.addLayout(_moved_in(self._facts()))

    # -- the line -----------------------------------------------------------------------------------------------------

    def _head(self) -> QWidget:
        row, holder = self.row, QWidget()
        head = Row(holder, spacing=12)
        self.switch = Switch(f"{row.title} may be used")
        self.switch.setChecked(row.on)
        self.switch.setEnabled(row.standing != "missing")
        self.switch.clicked.connect(self._switched)
        head.addWidget(self.switch, 0, Qt.AlignmentFlag.AlignTop)
        words = Column(spacing=2)
        names: list[QWidget] = [Text(shown_line(row.title), "medium")]
        if row.version:
            names.append(Text(shown_line(row.version), "small", "2"))
        names.append(StateLabel(STATES[row.standing], row.said))
        line = FlowRow()
        line.set_items(names)
        words.addWidget(line)
        words.addWidget(Text(shown_line(row.command), "code", "2", elide="right"))
        head.addLayout(words, 1)
        for button in self._buttons():
            head.addWidget(button)
        word = "Hide" if self.is_open else "Show"
        self.fold = IconButton("down" if self.is_open else "right", f"{word} what {row.title} may do")
        self.fold.clicked.connect(lambda: self.opened.emit(not self.is_open))
        head.addWidget(self.fold)
        return holder

    def _buttons(self) -> list[Button]:
        row, found = self.row, []
        if row.log:
            log = Button("Log", "quiet", small=True, tip=f"What {row.title} wrote")
            log.clicked.connect(self._toggle_log)
            found.append(log)
        if row.on:
            chat = Button("New chat with it", small=True)
            chat.clicked.connect(self.chat)
            found.append(chat)
        elif row.standing in ("new", "changed") and not self.is_open:
            see = Button("See what it may do" if row.standing == "new" else "See what changed", small=True)
            see.clicked.connect(lambda: self.opened.emit(True))
            found.append(see)
        return found

    def _switched(self) -> None:
        """A switch that is put on while nobody sees what that means shows it first."""
        wanted = self.switch.isChecked()
        if wanted and not self.is_open:
            self.switch.setChecked(False)
            self.opened.emit(True)
        else:
            self.switched.emit(wanted)

    def _toggle_log(self) -> None:
        self.shows_log = not self.shows_log
        self.opened.emit(self.is_open)

    def _log(self) -> QWidget:
        view = MonoView(f"Log of {self.row.title}", rows=LOG_ROWS, wrap=True)
        view.setPlainText(shown("\n".join(self.row.log)))
        return view

    # -- what it may do -----------------------------------------------------------------------------------------------

    def _facts(self) -> QWidget:
        holder = QWidget()
        column = Column(holder, spacing=8)
        row = self.row
        if row.standing in ("new", "changed", "off"):
            changed = row.standing == "changed"
            strip = Notice("ask" if changed else "info", SAW_AGAIN if changed else SAW)
            self.agree = Button("Switch it on", "primary", small=True)
            self.agree.clicked.connect(lambda: self.switched.emit(True))
            strip.add(self.agree)
            column.addWidget(strip)
        card = pane("card")
        column.addWidget(card)
        facts = Column(card, margins=0, spacing=0)
        rows = [self._files(), self._commands(), self._by_itself(), self._network(), self._own(), self._skills()]
        rows += [self._place(), self._signed_in()]
        for at, fact in enumerate(rows):
            fact.setProperty("pane", "row-last" if at == len(rows) - 1 else "row")
            facts.addWidget(fact)
        if row.added:
            away = Button("Remove", "quiet", small=True, icon="delete", tip=f"Forget {row.title}")
            away.clicked.connect(self.removed)
            line = Row(spacing=8)
            line.addStretch(1)
            line.addWidget(away)
            column.addLayout(line)
        return holder

    def _files(self) -> QFrame:
        words = "Reads and writes in the folders that you allow, through Assent"
        return _fact("Files", words, Badge("read"), Badge("write"), Text("writes ask", "small", "2"))

    def _commands(self) -> QFrame:
        words = "Through Assent's bash, judged like any other"
        return _fact("Commands", words, Badge("admin", "write or admin"), Text("asks each time", "small", "2"))

    def _by_itself(self) -> QFrame:
        row = self.row
        words = "Its own search and edits, which Assent cannot see one by one"
        self.writes = Switch(f"{row.title} may write by itself")
        self.writes.setChecked(row.writes)
        self.writes.clicked.connect(lambda: self.terms.emit({"writes": self.writes.isChecked()}))
        confined = Badge("confined", "confined") if row.confined else Badge("admin", "not confined")
        return _fact(
            "By itself",
            words,
            confined,
            Text("read only", "small", "3" if row.writes else ""),
            self.writes,
            Text("write", "small", "" if row.writes else "3"),
        )

    def _network(self) -> QFrame:
        row = self.row
        self.network = Combo("Network")
        self.network.fill([("on", True), ("off", False)], row.network)
        self.network.activated.connect(lambda _: self.terms.emit({"network": bool(self.network.currentData())}))
        some = "Any address: which of them is its model's cannot be told"
        words = some if row.network else "None: it reaches no model that is not on this computer's disk"
        return _fact("Network", words, self.network)

    def _own(self) -> QFrame:
        row = self.row
        words = f"Reads and writes {row.places}" if row.places else "Nothing of its own is known"
        self.own = Switch(f"{row.title} may use its own settings and login")
        self.own.setChecked(row.folders and bool(row.places))
        self.own.setEnabled(bool(row.places))
        self.own.clicked.connect(lambda: self.terms.emit({"folders": self.own.isChecked()}))
        return _fact("Its settings", words, self.own)

    def _skills(self) -> QFrame:
        row = self.row
        self.tools = Field("Skills and tools that it is offered", hint="names, with blanks between", mono=True)
        sized(self.tools, min_width=FIELD).setText(" ".join(row.tools))
        self.tools.setCursorPosition(0)
        self.tools.editingFinished.connect(self._tools_said)
        given = f"Gets them as tools: {', '.join(row.tools[:3])}" if row.tools else "Gets none of them as tools"
        more = f", {len(row.tools) - 3} more" if len(row.tools) > 3 else ""
        return _fact("Your skills", given + more, self.tools)

    def _tools_said(self) -> None:
        if self.tools.text().split() != list(self.row.tools):
            self.offered.emit(self.tools.text())

    def _place(self) -> QFrame:
        self.place = Field("Folder that it works in", hint="the workspace", mono=True)
        sized(self.place, min_width=FIELD).setText(self.row.folder)
        self.place.setCursorPosition(0)
        self.place.editingFinished.connect(self._place_said)
        return _fact("Works in", self.row.folder or "The workspace; any folder that you allow can be named", self.place)

    def _place_said(self) -> None:
        if self.place.text().strip() != self.row.folder:
            self.folder.emit(self.place.text())

    def _signed_in(self) -> QFrame:
        words = "With its own account, by its own program. Assent does not see the key."
        marks: Sequence[QWidget] = (StateLabel("ask", "not signed in"),) if self.row.signs_in else ()
        return _fact("Signed in", words, *marks)


def _fact(about: str, words: str, *marks: QWidget) -> QFrame:
    """A line: what it is about, what there is to say, and its controls at the right, below where it is narrow."""
    line = QFrame()
    row = Row(line, margins=(12, 6, 12, 6), spacing=12)
    label = Text(about, "medium")
    sized(label, width=LABEL)
    row.addWidget(label, 0, Qt.AlignmentFlag.AlignVCenter)
    row.addWidget(Paragraph(shown(words), "body", "2"), 1, Qt.AlignmentFlag.AlignVCenter)
    for mark in marks:
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignVCenter)
    return line


def _moved_in(widget: QWidget) -> Column:
    column = Column(margins=(BESIDE_SWITCH, 0, 0, 0), spacing=0)
    column.addWidget(widget)
    return column
