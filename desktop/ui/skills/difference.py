"""What changed in something pinned since the person saw it, part by part; and the two answers to it."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame

from desktop.presenter.skills.page import Difference
from desktop.ui.approvals.request.background import Background
from desktop.ui.approvals.request.diffing import Diff, diff
from desktop.ui.approvals.request.file_card import card_of
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Scroller, clear
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Paragraph, Text

MAX_FILES = 40


TITLE = "What changed since you last read it"
WORDS = "It is off until you have read the changes. Agents cannot see or use it until then."


class Seen(Protocol):
    """What is looked at, and how it is agreed to: skills, or the tools of a server."""

    @property
    def difference(self) -> Difference | None: ...

    def accept(self) -> None: ...


class DifferenceView(QFrame):
    """The difference between two versions of a skill. ``closed``: back to the page. The button that turns the skill on
    works on exactly what is shown (its digest)."""

    closed = Signal()

    def __init__(
        self, seen: Seen, *, title: str = TITLE, words: str = WORDS, done: str = "I have read this, switch on"
    ) -> None:
        super().__init__()
        self._seen = seen
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        self._scroller = Scroller()
        column.addWidget(self._scroller, 1)
        self.files = Column(spacing=16)
        self._scroller.column.addWidget(Text(title, "title"))
        self._scroller.column.addWidget(Paragraph(words, "body", "2"))
        self._scroller.column.addLayout(self.files)
        self._scroller.column.addStretch(1)
        foot = pane("footer")
        row = Row(foot, margins=(24, 12, 24, 12), spacing=8)
        row.addStretch(1)
        self.keep = Button("Keep it off", key="Esc")
        self.keep.clicked.connect(self.closed)
        self.accept = Button(done, "primary", icon="allow")
        self.accept.setEnabled(False)
        self.accept.clicked.connect(self._accept)
        row.addWidget(self.keep)
        row.addWidget(self.accept)
        column.addWidget(foot)
        self._finding = Background(self, self._found)

    def show_difference(self, found: Difference) -> None:
        """Compare in a thread, then show."""
        self.accept.setEnabled(False)
        clear(self.files)
        self.files.addWidget(Text("Comparing…", "body", "2"))
        self._finding.start(lambda: differences(found))

    def _found(self, result: object) -> None:
        clear(self.files)
        assert isinstance(result, list)
        for name, words, compared in result:
            self.files.addWidget(card_of(name, words, compared))
        if not result:
            self.files.addWidget(Text("Nothing: the text is the same as before.", "body", "2"))
        self.accept.setEnabled(self._seen.difference is not None)
        self.keep.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        """What is no longer in sight cannot be agreed to."""
        self.accept.setEnabled(False)
        super().hideEvent(event)

    def _accept(self) -> None:
        self._seen.accept()
        self.closed.emit()


def differences(found: Difference) -> list[tuple[str, str, Diff | None]]:
    """(name, words, rows) of each file that is another one; for a thread."""
    out: list[tuple[str, str, Diff | None]] = []
    for file in found.files[:MAX_FILES]:
        if file.before is None and file.after is None:
            out.append((file.name, "changed, but too large to show or not text", None))
        else:
            made = diff(file.before or "", file.after or "")
            what = "new file" if file.before is None else "deleted" if file.after is None else "changed"
            out.append((file.name, f"{what}, +{made.added} −{made.removed}", made))
    if len(found.files) > MAX_FILES:
        out.append((f"and {len(found.files) - MAX_FILES} more files", "", None))
    return out
