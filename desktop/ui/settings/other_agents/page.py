"""Settings, Other agents: those that are here, each with its switch and what it may do; a command; a registry."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.settings.other_agents import OtherAgentRow, OtherAgentsViewModel, RegistryRow, chat_agent
from desktop.ui.settings.other_agents.row import OtherAgentLine
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field, Labelled
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.layout.containers import EmptyState, Notice, Scroller, clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

WORDS = (
    "Agents of other makers that speak ACP, the Agent Client Protocol. What they ask for passes the same gates as any "
    "call; what they do by themselves is confined where anything on this computer can confine it."
)
NOBODY = "None of the agents that Assent knows by name is on this computer's PATH."
REGISTRY = (
    "A registry.json of the Agent Client Protocol that you saved says which agents there are. Nothing is fetched."
)


class AddAgent(QFrame):
    """The form of one more, by its command."""

    def __init__(self, model: OtherAgentsViewModel) -> None:
        super().__init__()
        self._model = model
        self.setProperty("pane", "card")
        column = Column(self, margins=(16, 12, 16, 14), spacing=12)
        column.addWidget(Text("One more, by its command", "strong"))
        self.name = Field("Name", hint="my-agent", mono=True)
        self.line = Field("Command", hint="my-agent --acp", mono=True)
        self.places = Field("Where it keeps its settings and login", hint="~/.my-agent", mono=True)
        column.addWidget(Labelled("Name", self.name))
        column.addWidget(Labelled("Command", self.line, "One program that speaks ACP on its input and output."))
        note = "Folders, with commas between. It reads and writes them where you agree; leave it out for none."
        column.addWidget(Labelled("Where it keeps its settings and login", self.places, note))
        buttons = Row(spacing=8)
        self.add = Button("Add, switched off", "primary")
        self.add.clicked.connect(self._add)
        self.away = Button("Cancel", "quiet")
        self.away.clicked.connect(self.hide)
        buttons.addWidget(self.add)
        buttons.addWidget(self.away)
        buttons.addStretch(1)
        column.addLayout(buttons)
        for field in (self.name, self.line, self.places):
            field.returnPressed.connect(self._add)

    def _add(self) -> None:
        self._model.add(self.name.text().strip(), self.line.text().strip(), self.places.text())

    def begin(self) -> None:
        """Show it empty, with the keys in its first field."""
        for field in (self.name, self.line, self.places):
            field.clear()
        self.show()
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)


class OtherAgentsPage(Scroller):
    """``chat`` begins a chat with an agent, by the name of its definition."""

    def __init__(self, model: OtherAgentsViewModel, chat: Callable[[str], object]) -> None:
        super().__init__(margins=(24, 16, 24, 24), spacing=12)
        self._model, self._chat = model, chat
        self._shown: object = None
        self._open: set[str] = set()
        self._logs: set[str] = set()
        self.form = AddAgent(model)
        self.column.addWidget(self._head())
        self._refusal = Notice("failed", "", icon="failed")
        self._refusal.hide()
        self.column.addWidget(self._refusal)
        self.form.hide()
        self.column.addWidget(self.form)
        self._rows, self._registry = Column(spacing=8), Column(spacing=8)
        self.column.addLayout(self._rows)
        self.column.addLayout(self._registry)
        self.column.addStretch(1)
        model.changed.connect(self.refresh)
        model.refused.connect(self._refused)
        model.added.connect(self._added)
        self.refresh()
        model.look()

    def _head(self) -> QWidget:
        holder = QWidget()
        head = Row(holder, spacing=8)
        head.addWidget(Paragraph(WORDS, "body", "2"), 1)
        self.add = Button("Add by command", "quiet", icon="new", small=True)
        self.add.clicked.connect(self.form.begin)
        self.again = Button("Look again", "quiet", icon="retry", small=True)
        self.again.clicked.connect(self._model.look)
        for button in (self.add, self.again):
            head.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return holder

    def lines(self) -> list[OtherAgentLine]:
        """The lines that stand here now, in their order."""
        return self.findChildren(OtherAgentLine)

    def show_place(self, name: str) -> bool:
        """Unfold what the agent of this name may do, and go there; False: it is not here."""
        self._open.add(name)
        self.refresh()
        line = next((one for one in self.lines() if one.row.name == name), None)
        if line is None:
            return False
        line.fold.setFocus(Qt.FocusReason.OtherFocusReason)
        QTimer.singleShot(0, line, lambda: self._bring_to_top(line))  # once it is laid out
        return True

    def _bring_to_top(self, line: OtherAgentLine) -> None:
        self.verticalScrollBar().setValue(line.mapTo(self._inside, QPoint(0, 0)).y() - theme().px(16))

    def refresh(self) -> None:
        """Show what the view-model has now, where something of it is another thing."""
        model = self._model
        now = (model.rows, model.looked, model.registry, model.registry_words, set(self._open), set(self._logs))
        if now == self._shown:
            return
        self._shown = now
        focused = self.focusWidget()
        name = focused.accessibleName() if focused is not None else ""
        self._show_rows(model.rows)
        self._show_registry(model.registry)
        again = next((one for one in self.findChildren(QWidget) if name and one.accessibleName() == name), None)
        if again is not None:
            again.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_rows(self, rows: tuple[OtherAgentRow, ...]) -> None:
        clear(self._rows)
        title = Row(spacing=8)
        title.addWidget(Text("Found on this computer", "strong"))
        title.addWidget(Text(self._model.looked, "small", "2"))
        title.addStretch(1)
        self._rows.addLayout(title)
        if not rows:
            self._rows.addWidget(EmptyState("agent", "No agents of other makers here", NOBODY, framed=True))
            return
        card = pane("card")
        self._rows.addWidget(card)
        column = Column(card, margins=0, spacing=0)
        for at, row in enumerate(rows):
            column.addWidget(self._line(row, last=at == len(rows) - 1))

    def _line(self, row: OtherAgentRow, *, last: bool) -> OtherAgentLine:
        model, name = self._model, row.name
        line = OtherAgentLine(row, is_open=name in self._open, shows_log=name in self._logs, last=last)

        def opened(is_open: bool) -> None:
            (self._open.add if is_open else self._open.discard)(name)
            (self._logs.add if line.shows_log else self._logs.discard)(name)
            self.refresh()

        line.opened.connect(opened)
        line.switched.connect(lambda on: self._done(lambda: model.switch(row, on)))
        line.terms.connect(lambda terms: self._done(lambda: model.agree(row, **terms)))
        line.offered.connect(lambda text: self._done(lambda: model.offer(row, text)))
        line.folder.connect(lambda folder: self._done(lambda: model.work_in(row, folder)))
        line.chat.connect(lambda: self._chat(chat_agent(name)))
        line.removed.connect(lambda: self._done(lambda: model.remove(name)))
        return line

    def _done(self, act: Callable[[], object]) -> None:
        self._refusal.hide()
        act()

    def _show_registry(self, rows: tuple[RegistryRow, ...]) -> None:
        clear(self._registry)
        name, said = self._model.registry_words
        title = Row(spacing=8)
        heading = f"From the registry file {shown_line(name)}" if name else "From a registry file"
        title.addWidget(Text(heading, "strong"))
        title.addWidget(Text(shown_line(said), "small", "2", elide="right"), 1)
        choose = Button("Choose another file" if name else "Choose a file", "quiet", small=True, icon="file")
        choose.clicked.connect(self._choose)
        title.addWidget(choose)
        self._registry.addLayout(title)
        if not rows:
            self._registry.addWidget(Paragraph(REGISTRY, "small", "2"))
            return
        card = pane("card")
        self._registry.addWidget(card)
        column = Column(card, margins=0, spacing=0)
        for at, row in enumerate(rows):
            column.addWidget(self._entry(row, last=at == len(rows) - 1))

    def _entry(self, row: RegistryRow, *, last: bool) -> QFrame:
        line = pane("row-last" if last else "row")
        head = Row(line, margins=(12, 8, 12, 8), spacing=12)
        head.addWidget(Icon("agent", "text-2", 16), 0, Qt.AlignmentFlag.AlignTop)
        words = Column(spacing=2)
        names = Row(spacing=8)
        names.addWidget(Text(shown_line(row.title), "medium"))
        names.addWidget(Text("would run", "small", "2"))
        names.addWidget(Text(shown_line(row.command), "code", "", elide="right"), 1)
        words.addLayout(names)
        if row.note:
            words.addWidget(Paragraph(shown_line(row.note), "small", "2"))
        head.addLayout(words, 1)
        add = Button("Added" if row.there else "Add, switched off", small=True, tip=f"Add {row.title}")
        add.setEnabled(not row.there)
        add.clicked.connect(lambda: self._done(lambda: self._model.add_from_registry(row.name)))
        head.addWidget(add)
        return line

    def _choose(self) -> None:
        dialog = FileDialog(self.window(), "Choose a saved registry of agents")
        dialog.setFileMode(FileDialog.FileMode.ExistingFile)
        dialog.setNameFilter("JSON (*.json)")
        dialog.fileSelected.connect(self._chosen)
        dialog.open()

    def _chosen(self, path: str) -> None:
        if path:
            self._done(lambda: self._model.choose_registry(path))

    def _added(self, name: str) -> None:
        self.form.hide()
        self._open.add(name)
        self.refresh()

    def _refused(self, sentence: str) -> None:
        self._refusal.say(shown_line(sentence))
        self._refusal.show()
        self._shown = None  # a switch that was not kept goes back
        self.refresh()
