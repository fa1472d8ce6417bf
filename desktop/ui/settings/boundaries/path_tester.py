"""A path put to the test: allowed or not, for reading and for writing, by which entry, and where it really leads
(R-FS-11)."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.safety import PathVerdict
from desktop.presenter.settings.boundaries import BoundariesViewModel
from desktop.presenter.settings.reach_tree import COMMANDS
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Piece, Text

PAUSE = 200
"""Milliseconds after a key before the path is tested."""


class PathTester(QWidget):
    """Type a path, see what the boundary says. The answer comes from the function that decides about calls."""

    def __init__(self, boundaries: BoundariesViewModel) -> None:
        super().__init__()
        self._boundaries = boundaries
        column = Column(self, spacing=8)
        column.addWidget(Text("Would this path be allowed?", "strong"))
        self.field = Field("Path to test", hint="/a/path, ~/a/path, or a path in the workspace", mono=True)
        column.addWidget(self.field)
        self.card = pane("card")
        self._answers = Column(self.card, margins=(12, 8, 12, 8), spacing=4)
        self.card.hide()
        column.addWidget(self.card)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self.ask)
        self.field.textChanged.connect(lambda _: self._pause.start())
        self.field.returnPressed.connect(self.ask)
        boundaries.judged.connect(self._judged)

    def ask(self) -> None:
        """Test what is typed, now."""
        self._pause.stop()
        path = self.field.text().strip()
        if path:
            self._boundaries.judge(path)
        else:
            self.card.hide()

    def _judged(self, path: str, read: PathVerdict, write: PathVerdict, link: str) -> None:
        if path != self.field.text().strip():
            return
        clear(self._answers)
        self._answers.addWidget(_verdicts(read, write))
        if read.resolved:
            self._answers.addWidget(Paragraph(_really(read, link), "small", "2"))
        for words in _reasons(read, write):
            self._answers.addWidget(Paragraph(shown_line(words), "small", "2"))
        if self._boundaries.commands is not None:
            self._answers.addWidget(Paragraph(f"Commands {COMMANDS[self._boundaries.commands]}", "small", "2"))
        self.card.show()


def _verdicts(read: PathVerdict, write: PathVerdict) -> QFrame:
    """A line such as ``Read: allowed``, ``Write: denied``, and the rule."""
    holder = QFrame()
    row = Row(holder, spacing=8)
    row.addWidget(Text("File tools", "body", "2"))
    row.addSpacing(8)
    for what, verdict in (("Read", read), ("Write", write)):
        row.addWidget(Text(what, "body"))
        row.addWidget(StateLabel("allow", "allowed") if verdict.allowed else StateLabel("deny", "denied"))
        row.addSpacing(16)
    row.addStretch(1)
    row.addWidget(Text("rule:", "small", "2"))
    rules = list(dict.fromkeys(_rule(verdict) for verdict in (read, write)))
    rule = Text(shown_line(" and ".join(rules)), "code", "2", elide="middle")
    row.addWidget(rule, 2, Qt.AlignmentFlag.AlignVCenter)
    holder.setAccessibleName(
        ". ".join(
            f"{what}: {'allowed' if verdict.allowed else 'denied'} by {_rule(verdict)}"
            for what, verdict in (("Read", read), ("Write", write))
        )
    )
    return holder


def _rule(verdict: PathVerdict) -> str:
    """The entry that decided, without the name of its list."""
    for name in ("allowed ", "denied ", "protected "):
        if verdict.rule.startswith(name):
            return verdict.rule.removeprefix(name)
    return {"outside": "in no allowed folder", "malformed": "no path"}.get(verdict.rule, verdict.rule)


def _really(read: PathVerdict, link: str) -> list[Piece]:
    """Where a path really leads, and because of which link."""
    pieces: list[Piece] = [("Really is ", ""), (shown_line(read.resolved), "mono")]
    pieces += [(", because ", ""), (shown_line(link), "mono"), (" is a link.", "")] if link else [(".", "")]
    return pieces


def _reasons(read: PathVerdict, write: PathVerdict) -> list[str]:
    """Why, where the rule beside it does not say so; and what writing asks."""
    unsaid = (verdict for verdict in (read, write) if not verdict.rule.startswith(("allowed ", "denied ")))
    said = list(dict.fromkeys(map(_sentence, unsaid)))
    if write.allowed:
        said.append(
            f"A call that writes here asks as admin: {write.elevated}." if write.elevated else "Each write asks first."
        )
    return said


def _sentence(verdict: PathVerdict) -> str:
    reason = verdict.sentence.removeprefix("Permission denied: ")
    return f"{reason[:1].upper()}{reason[1:]}"
