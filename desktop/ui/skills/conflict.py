"""The file was changed by another program while it was edited here: both texts, and three ways on."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from desktop.presenter.common.line_ends import Conflict
from desktop.presenter.common.unsaved import RESTORED
from desktop.ui.approvals.request.background import Background
from desktop.ui.approvals.request.diffing import Diff, diff
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Text

CHANGED = "Another program has changed this file. Nothing is overwritten until you choose."
GONE = "Another program has deleted this file. Your text is safe here: saving creates the file again."


OUTSIDE = {
    "changed": "Another program has changed this file. Your text is safe here.",
    "deleted": "Another program has deleted this file. Your text is safe here: saving creates it again.",
    RESTORED: "What you had not saved when Assent ended is here again. Discard changes brings back the file.",
}


class OutsideStrip(Notice):
    """Over a text that is being written: its file is another one by now, or the text is here again from before the app
    ended. ``compare`` leads to both."""

    def __init__(self) -> None:
        super().__init__("info", "", banner=True)
        self.compare = Button("Compare", small=True)
        self.add(self.compare)
        self.hide()

    def show_outside(self, what: str) -> None:
        """A key of ``OUTSIDE``, or "" for nothing to say."""
        self.setVisible(what in OUTSIDE)
        if what in OUTSIDE:
            self.say(OUTSIDE[what], "info")


class ConflictView(QFrame):
    """The question after a conflict. ``answered``: keep | reload | over. Keep editing is the safe answer and has the
    keys."""

    answered = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        inside = Column(margins=(24, 16, 24, 16), spacing=12)
        self._words = Notice("ask", CHANGED)
        inside.addWidget(self._words)
        card = pane("card")
        rows = Column(card, margins=1, spacing=0)
        head = sized(pane("header"), height=36)
        line = Row(head, margins=(12, 0, 12, 0), spacing=16)
        line.addWidget(Text("−  as it is on disk", "small", "2"))
        line.addWidget(Text("+  as you have it here", "small", "2"))
        line.addStretch(1)
        self._figure = Text("", "small", "2")
        line.addWidget(self._figure)
        rows.addWidget(head)
        self.lines = LinesView("What differs between the file and your text")
        rows.addWidget(self.lines, 1)
        inside.addWidget(card, 1)
        column.addLayout(inside, 1)
        foot = pane("footer")
        row = Row(foot, margins=(24, 8, 16, 8), spacing=8)
        row.addStretch(1)
        self.buttons: dict[str, Button] = {}
        self.keep, self.reload = Button("Keep editing"), Button("Load theirs, drop mine", "danger")
        self.over = Button("Save mine", "primary")
        for value, button in (("keep", self.keep), ("reload", self.reload), ("over", self.over)):
            self.buttons[value] = button
            button.clicked.connect(lambda _=False, value=value: self.answered.emit(value))
            row.addWidget(button)
        column.addWidget(foot)
        self._finding = Background(self, self._found)

    def show_conflict(self, conflict: Conflict) -> None:
        """Show both texts; the difference is found in a thread."""
        gone = conflict.theirs is None
        self._words.say(GONE if gone else CHANGED)
        self.reload.setVisible(not gone)
        theirs, mine = conflict.theirs or "", conflict.mine
        self.lines.set_rows(())
        self._finding.start(lambda: diff(theirs.replace("\r\n", "\n"), mine.replace("\r\n", "\n")))
        self.keep.setFocus()

    def _found(self, result: object) -> None:
        assert isinstance(result, Diff)
        self.lines.set_rows(result.rows)
        same = not (result.added or result.removed)
        self._figure.setText("only line ends differ" if same else f"+{result.added} −{result.removed}")
        self._figure.updateGeometry()
