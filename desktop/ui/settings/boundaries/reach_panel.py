"""What can be reached: for whom, the tree, what its tints mean, and the proof."""

from __future__ import annotations

import datetime
import os
import time

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QWidget

from desktop.domain.approval.reach import Agreement, Proof, ProofLine
from desktop.presenter.settings.reach import ReachViewModel
from desktop.presenter.settings.reach_tree import ROW, ShownRow
from desktop.ui.settings.boundaries.reach_hosts import ReachHosts
from desktop.ui.settings.boundaries.reach_list import ReachList
from desktop.ui.widgets.controls.agent_combo import AgentCombo
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.layout.containers import Notice, Scroller, clear
from desktop.ui.widgets.marks import Icon, StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

LEGEND = (("allow", "rule allows"), ("ask", "asks you"), ("read", "read only"), ("deny", "denied"))
WAYS = {"command": "Commands", "file tool": "File tools"}
VERBS = {"read": "read", "write": "write"}
GRAVE: dict[Agreement, str] = {
    "bug": "Something is open that must not be",
    "unconfined": "Open, because nothing confines commands here",
    "limit": "Open to commands, though not to file tools",
    "stricter": "Less can be done than the lists say",
}
KINDS: dict[Agreement, str] = {"bug": "failed", "unconfined": "failed", "limit": "info", "stricter": "info"}
SHOWN_NAME = 48
FOLLOWED = 300
"""Milliseconds after a proof within which its lines are brought into sight."""


class ProveBox(QFrame):
    """Tries the chosen path when it is pressed, and says how that ended."""

    def __init__(self, reach: ReachViewModel) -> None:
        super().__init__()
        self._reach = reach
        self._path = ""
        self.setProperty("pane", "card")
        column = Column(self, margins=(12, 10, 12, 12), spacing=8)
        row = Row(spacing=12)
        words = Column(spacing=2)
        words.addWidget(Text("Prove it", "medium"))
        self.words = Paragraph("", "small", "2")
        words.addWidget(self.words)
        row.addLayout(words, 1)
        self.button = Button("Prove it", icon="play")
        self.button.clicked.connect(lambda: reach.prove(self._path))
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)
        column.addLayout(row)
        self.warning = Notice("failed")
        self.warning.hide()
        column.addWidget(self.warning)
        self._lines = Column(spacing=2)
        column.addLayout(self._lines)
        reach.changed.connect(self.refresh)
        self.refresh()

    def set_path(self, path: str) -> None:
        """Choose the path that would be tried."""
        if path != self._path:
            self._path = path
            self.refresh()

    def refresh(self) -> None:
        """Words, results and what they mean."""
        reach = self._reach
        busy = bool(reach.proving)
        self.button.setEnabled(bool(self._path) and not busy)
        self.button.set_label("Trying…" if busy else "Prove it")
        self.words.set_pieces(self._pieces())
        clear(self._lines)
        proof = reach.proof if reach.proof is not None and reach.proof.path == self._path and not busy else None
        self._warn(proof)
        for line in proof.lines if proof is not None else ():
            self._lines.addWidget(_line(line))

    def _pieces(self) -> list[tuple[str, str]]:
        if not self._path:
            return [("Choose something in the tree.", "")]
        name = os.path.basename(self._path.rstrip(os.sep)) or self._path
        pieces = [
            ("Tries to read and write ", ""),
            (shown_line(name[:SHOWN_NAME]), "mono"),
            (" from inside the confinement, and as the file tools do. What is there stays as it is.", ""),
        ]
        last = self._reach.last
        if last is not None:
            of = "" if last.path == self._path else f" of {shown_line(os.path.basename(last.path)[:SHOWN_NAME])}"
            pieces.append((f" Last proof{of}: {when(last.at)}, {shown_line(last.summary)}.", ""))
        return pieces

    def _warn(self, proof: Proof | None) -> None:
        """Loudly, where what was tried is not what the tint says."""
        worst = proof.worst if proof is not None else "yes"
        self.warning.setVisible(proof is not None and worst in GRAVE)
        if proof is not None and worst in GRAVE:
            note = next(line.note for line in proof.lines if line.agrees == worst)
            self.warning.say([(f"{GRAVE[worst]}. ", "strong"), (shown_line(note), "")], KINDS[worst])


def _line(line: ProofLine) -> QWidget:
    """The line of one attempt, such as ``Commands, read``, and how it ended."""
    holder = QWidget()
    row = Row(holder, spacing=8)
    what = f"{WAYS[line.way]}, {VERBS[line.access]}"
    row.addWidget(sized(Text(what, "small", "2"), min_width=112))
    look = {"opened": "allow", "refused": "deny", "untried": "queued"}[line.outcome]
    if line.agrees in ("bug", "unconfined"):
        look = "failed"
    elif line.agrees == "limit":
        look = "info"
    row.addWidget(StateLabel(look, shown_line(line.words[:80])))
    row.addStretch(1)
    holder.setAccessibleName(f"{what}: {line.words}. {line.note}".strip())
    return holder


def when(at: float, now: float | None = None) -> str:
    """``today 13:20``, or the day."""
    moment, today = datetime.datetime.fromtimestamp(at), datetime.datetime.fromtimestamp(now or time.time())
    if moment.date() == today.date():
        return f"today {moment:%H:%M}"
    return f"{moment.day} {moment:%b} {moment:%H:%M}" if moment.year == today.year else f"{moment:%Y-%m-%d %H:%M}"


class ReachPanel(QFrame):
    """``allow_wanted(path)`` and ``deny_wanted(path)``: put it on a list, after the editor's own questions."""

    allow_wanted = Signal(str)
    deny_wanted = Signal(str)

    def __init__(self, reach: ReachViewModel) -> None:
        super().__init__()
        self._reach = reach
        self._chose = self._following = False
        self._seen_proof = reach.proof
        self.setProperty("pane", "surface-side")
        self._inside = inside = Scroller(margins=(24, 16, 24, 16), spacing=8)  # only where the least of it is too high
        Column(self, spacing=0).addWidget(inside)
        column = inside.column
        column.addLayout(self._head())
        self.what = Segmented("What", (("files", "Files"), ("hosts", "Hosts")), small=True)
        self.what.chosen.connect(self._show_what)
        column.addWidget(self.what, 0, Qt.AlignmentFlag.AlignLeft)
        self.problem = Notice("failed")
        self.problem.hide()
        column.addWidget(self.problem)
        self.hosts = ReachHosts(reach)
        self.hosts.hide()
        column.addWidget(self.hosts, 1)
        self.files = QWidget()
        column.addWidget(self.files, 1)
        column = Column(self.files, spacing=8)
        card = pane("card")
        self.list = ReachList(reach.tree)
        self.list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        sized(self.list, min_height=150)
        Column(card, margins=1, spacing=0).addWidget(self.list)
        column.addWidget(card, 1)
        column.addLayout(self._legend())
        self.about_commands = Paragraph("", "small", "2")
        self.about_commands.setVisible(False)
        column.addWidget(self.about_commands)
        column.addSpacing(4)
        self.prove = ProveBox(reach)
        column.addWidget(self.prove)
        self._connect()

    def _head(self) -> Row:
        row = Row(spacing=8)
        row.addWidget(Text("What can be reached", "strong"))
        row.addStretch(1)
        row.addWidget(Text("by", "small", "2"))
        self.agent = AgentCombo("Agent")
        self.agent.fill([(shown_line(title), name) for title, name in self._reach.agents()], self._reach.agent)
        self.agent.activated.connect(lambda _: self._reach.set_agent(str(self.agent.currentData())))
        row.addWidget(self.agent)
        self.project = Combo("Folder that the chat works in")
        self.project.activated.connect(lambda _: self._reach.set_project(str(self.project.currentData())))
        row.addWidget(self.project)
        self._show_projects()
        return row

    def _show_projects(self) -> None:
        """Where chats work in folders, one of them can be chosen."""
        folders = [(shown_line(name), path) for name, path in self._reach.folders()]
        if self.project.count() != len(folders):
            self.project.fill([(name, path) for name, path in folders], self._reach.project)
        self.project.setVisible(len(folders) > 1)

    @staticmethod
    def _legend() -> Row:
        row = Row(spacing=16)
        for look, word in LEGEND:
            pair = Row(spacing=6)
            pair.addWidget(Icon(look, look, 14))
            pair.addWidget(Text(word, "small", "2"))
            row.addLayout(pair)
        row.addStretch(1)
        return row

    def _connect(self) -> None:
        reach, rows = self._reach, self.list
        rows.opening.connect(reach.open)
        rows.closing.connect(reach.close)
        rows.seen.connect(reach.look)
        rows.again.connect(reach.again)
        rows.chosen.connect(self._chosen)
        rows.menu_wanted.connect(lambda row, point: self.make_menu(row).popup(point))
        reach.revealed.connect(self.list.go_to)
        reach.offered.connect(self._offered)
        self._inside.verticalScrollBar().rangeChanged.connect(lambda *_: self._to_end())
        reach.changed.connect(self._proved)
        reach.changed.connect(self._changed)
        reach.changed.connect(self._show_projects)
        reach.tree.modelReset.connect(lambda: self.prove.set_path(""))

    def _show_what(self, what: str) -> None:
        """Files or hosts; the other is not looked at meanwhile."""
        self.files.setVisible(what == "files")
        self.hosts.setVisible(what == "hosts")

    def say_about_commands(self, words: str) -> None:
        """Show what commands can reach, which the colours do not say."""
        self.about_commands.set_pieces(words)
        self.about_commands.show()

    def showEvent(self, event: QShowEvent) -> None:
        """Read the tree only when it is first looked at."""
        super().showEvent(event)
        self._reach.begin()

    def hideEvent(self, event: QHideEvent) -> None:
        """Judge no rows while the tree is out of sight."""
        super().hideEvent(event)
        self._reach.look(0, -1)

    def _offered(self, row: int) -> None:
        """Where to begin, unless the person has chosen something meanwhile."""
        if not self.list.currentIndex().isValid() or not self._chose:
            self.list.go_to(row)
            self._chose = False

    def _proved(self) -> None:
        """What trying came to is seen, also where it lies below the fold."""
        proof = self._reach.proof
        if proof is not self._seen_proof and not self._reach.proving:
            self._seen_proof = proof
            self._following = proof is not None
            QTimer.singleShot(FOLLOWED, self, self._stop_following)
            self._to_end()

    def _to_end(self) -> None:
        """The proof is the last of the panel; it grows by its lines when they are laid out."""
        if self._following:
            bar = self._inside.verticalScrollBar()
            bar.setValue(bar.maximum())

    def _stop_following(self) -> None:
        self._following = False

    def _chosen(self, row: int) -> None:
        self._chose = True
        shown = self._reach.tree.shown(row) if row >= 0 else None
        self.prove.set_path(shown.path if shown is not None and not shown.note else "")

    def _changed(self) -> None:
        self.problem.setVisible(bool(self._reach.problem))
        if self._reach.problem:
            self.problem.say(shown_line(self._reach.problem))

    def make_menu(self, row: int) -> QMenu:
        """What can be done with a row."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        shown: ShownRow = self._reach.tree.index(row).data(ROW)
        real, folder = not shown.note, shown.opened is not None
        wanted = (self.list.closing if shown.opened else self.list.opening).emit
        for text, act, enabled in (
            ("Close" if shown.opened else "Open", lambda: wanted(row), folder),
            ("Prove it", lambda: self._reach.prove(shown.path), real and not self._reach.proving),
            ("Allow this folder…", lambda: self.allow_wanted.emit(shown.path), folder),
            ("Deny this…", lambda: self.deny_wanted.emit(shown.path), real),
            ("Copy path", lambda: QGuiApplication.clipboard().setText(shown.path), real),
            ("Read again\tF5", lambda: self.list.again.emit(row), True),
        ):
            action = QAction(text, menu)
            action.setEnabled(enabled)
            action.triggered.connect(lambda _=False, act=act: act())
            menu.addAction(action)
        return menu
