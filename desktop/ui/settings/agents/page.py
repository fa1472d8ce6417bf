"""Settings, Agents: the definitions there are, where they come from, what is wrong with them; one of them to edit."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.definitions import AgentRow
from desktop.presenter.settings.agents_editing import AgentsViewModel, cycle_words
from desktop.ui.settings.agents.editor import AgentEditor
from desktop.ui.skills import asking
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice, Scroller, clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Selectable, Text

INTRO = (
    "An agent is a prompt with rules: who talks, what ends a turn, what limits it. Each is a file of yours, used "
    "from the next run on. Nothing here lets an agent do more than the rules and your answers allow."
)
KEPT = "This file has a mistake. The last version without one is used until you correct it."
SOURCES = {"mine": "Your own", "library": "Comes with Assent", "project": "From a project that you trust"}


class AgentsPage(QFrame):
    """The list, and the editor of one."""

    def __init__(self, agents: AgentsViewModel) -> None:
        super().__init__()
        self._agents = agents
        self.setProperty("pane", "surface")
        self.stack = QStackedWidget()
        Column(self, spacing=0).addWidget(self.stack)
        front = QFrame()
        column = Column(front, spacing=0)
        column.addWidget(self._make_head())
        self._list = Scroller(margins=(24, 20, 24, 24), spacing=12)
        column.addWidget(self._list, 1)
        self.editor = AgentEditor(agents)
        self.stack.addWidget(front)
        self.stack.addWidget(self.editor)
        self.editor.back.connect(self._leave)
        self._after_save = False
        agents.saved.connect(self._saved)
        agents.failed.connect(lambda _: self._stay())
        agents.conflict.connect(lambda _: self._stay())
        agents.dropped.connect(self.show_list)
        agents.changed.connect(self.refresh)
        agents.chosen.connect(lambda _path: self.stack.setCurrentWidget(self.editor))
        self.refresh()

    def _make_head(self) -> QWidget:
        head = sized(pane("header"), height=48)
        row = Row(head, margins=(24, 0, 16, 1), spacing=8)
        row.addWidget(Text("All agents", "strong"))
        row.addStretch(1)
        self.add = Button("New agent", "quiet", icon="new", small=True)
        self.add.clicked.connect(self._agents.create)
        row.addWidget(self.add)
        return head

    def show_list(self) -> None:
        """Go back to the list of agents."""
        self._agents.leave()
        self.stack.setCurrentIndex(0)

    def _leave(self) -> None:
        """To the list, at once where all is saved, else after asking."""
        if self.editor.dirty:
            asking.ask_leave(self.window(), self.editor.title.text() or self._agents.name, self._answered)
        else:
            self.show_list()

    def _answered(self, answer: str) -> None:
        if answer == "discard":
            self.show_list()
        elif answer == "save":
            self._after_save = True
            self.editor.save_all()

    def _saved(self) -> None:
        after, self._after_save = self._after_save, False
        if after:
            self.show_list()

    def _stay(self) -> None:
        self._after_save = False

    def refresh(self) -> None:
        """Show what the view-model has now."""
        column = self._list.column
        clear(column)
        column.addWidget(Paragraph(INTRO, "body", "2"))
        source = ""
        for row in self._agents.rows:
            if row.source != source:
                source = row.source
                column.addWidget(Text(SOURCES[source], "caption", "3"))
            column.addWidget(self._card(row))
        column.addStretch(1)

    def _card(self, row: AgentRow) -> QWidget:
        agent, name = row.agent, row.path.rpartition("/")[2]
        title = agent.shown if agent is not None else name
        card = pane("card")
        card.setAccessibleName(f"Agent {shown_line(title)}")
        column = Column(card, margins=(16, 10, 12, 12), spacing=6)
        head = Row(spacing=8)
        usual = "debates" if agent is not None and agent.type == "dual_ai" else "agent"
        head.addWidget(Icon(agent_icon(agent.name, usual) if agent is not None else usual))
        head.addWidget(Text(shown_line(title), "strong"))
        head.addWidget(Text(shown_line(_words(row)), "small", "2", elide="right"), 1)
        for button in self._buttons(row, title):
            head.addWidget(button)
        column.addLayout(head)
        if agent is not None and agent.description:
            column.addWidget(Paragraph(shown(agent.description), "body", "2"))
        for sentence in row.errors[:5]:
            column.addWidget(Notice("failed", shown(sentence)))
        if row.kept:
            column.addWidget(Notice("ask", KEPT))
        if row.tool_problem:
            column.addWidget(Notice("ask", shown(f"Other agents cannot call it: {row.tool_problem}.")))
        if row.cycle:
            column.addWidget(Notice("info", shown(cycle_words(row))))
        if row.errors or row.kept:
            column.addWidget(Selectable(row.path, "small", "3"))
        return card

    def _buttons(self, row: AgentRow, title: str) -> list[Button]:
        edit = Button("Edit" if row.writable else "View", small=True, tip=f"Open {shown_line(title)}")
        edit.clicked.connect(lambda: self._agents.choose(row.path))
        copy = Button("Copy", "quiet", small=True, icon="copy", tip=f"Make your own copy of {shown_line(title)}")
        copy.clicked.connect(lambda: self._agents.duplicate(row.path))
        copy.setEnabled(row.agent is not None and not row.kept)
        found = [copy, edit]
        if row.agent is not None and row.agent.type == "dual_ai" and not row.unseen:
            start = Button("Start a debate", small=True, icon="debates", tip=f"Begin with {shown_line(title)}")
            start.clicked.connect(lambda: self._agents.debate_wanted.emit(row.agent.name if row.agent else ""))
            found.append(start)
        if row.writable:
            delete = Button("Delete", "quiet", small=True, icon="delete", tip=f"Delete {shown_line(title)}")
            delete.clicked.connect(lambda: self._agents.delete(row.path))
            found.insert(0, delete)
        return found


def _words(row: AgentRow) -> str:
    agent = row.agent
    if agent is None:
        return "cannot be used"
    kind = "two sides" if agent.type == "dual_ai" else "talks with you"
    return ", ".join([agent.name, kind, *(["a tool of other agents"] if agent.expose_as_tool else [])])
