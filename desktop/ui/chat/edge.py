"""The mode of the open chat: its chip in the head, and what is said before the first switch (R-ASK-1)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from desktop.presenter.chat.edge import CHOICES, WORDS, EdgeExplained, EdgeViewModel
from desktop.ui.chat.header import ThreadHeader
from desktop.ui.widgets.dialogs.base import DialogAnswer
from desktop.ui.widgets.dialogs.scrolled_dialog import ScrolledDialog
from desktop.ui.widgets.dialogs.toast import Toast
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

UNASKED = (
    "New and changed files in the folder",
    "Commands, in a copy first; taken over if they stayed inside",
    "Agents it calls, under the same limits",
)
ASKS = (
    "Any file outside the folder",
    "The network, and what follows text from outside",
    "What is too big or too secret to keep for undoing",
    "Admin calls, git hooks and other places that run by themselves",
)
CAN = (
    "This machine can confine commands and make copies of the folder. For this chat only; switch back at any time in "
    "its head, and the next call asks."
)
KEEP = DialogAnswer("keep", "Keep asking", key="Esc")


class EdgeDialog(ScrolledDialog):
    """What the edge means, in three sentences and two lists; answered ``switch`` or ``keep``. Where nothing confines
    commands it says so, and offers nothing."""

    help_page = "safety"

    def __init__(self, window: QWidget, explained: EdgeExplained) -> None:
        name = shown_line(explained.folder)
        text = (
            ("Inside ", ""),
            (name, "mono"),
            (
                " it edits files and runs commands without asking. What leaves the folder, uses the network or cannot "
                "be undone asks you first, as before. Everything it did is in Changes, and you can undo it later.",
                "",
            ),
        )
        answers = (KEEP,) if explained.closed else (KEEP, DialogAnswer("switch", "Switch this chat", "primary"))
        super().__init__(window, "Let this chat work up to the edge?", text, answers, width=560)
        box = QFrame()
        box.setProperty("pane", "card")
        lists = Row(box, margins=(16, 12, 16, 12), spacing=16)
        lists.addLayout(_list("allow", "allow", "Runs without asking", UNASKED), 1)
        lists.addWidget(sized(pane("line-v"), width=1))
        lists.addLayout(_list("ask", "ask", "Always asks", ASKS), 1)
        self.scroller.column.addWidget(box)
        closed = f"Not here: {explained.closed}. So every call asks, as before."
        note = Row(spacing=8)
        note.addWidget(Icon("lock", "failed" if explained.closed else "text-2", 16, line="small"), 0, _TOP)
        note.addWidget(
            Paragraph(closed if explained.closed else CAN, "small", "failed" if explained.closed else "2"), 1
        )
        self.scroller.column.addLayout(note)


_TOP = Qt.AlignmentFlag.AlignTop


def _list(icon: str, token: str, title: str, lines: Sequence[str]) -> Column:
    column = Column(spacing=6)
    head = Row(spacing=6)
    head.addWidget(Icon(icon, token, 16))
    head.addWidget(Text(title, "medium"), 1)
    column.addLayout(head)
    for line in lines:
        column.addWidget(Paragraph(line, "small", "2"))
    column.addStretch(1)
    return column


class EdgeChip(QObject):
    """Shows the mode of the open chat, and has the person choose it, in the window of ``page``."""

    def __init__(self, page: QWidget, edge: EdgeViewModel, header: ThreadHeader, toast: Toast) -> None:
        super().__init__(page)
        self._page, self._edge, self._header = page, edge, header
        edge.changed.connect(self._show)
        edge.explain.connect(self._explain)
        edge.said.connect(toast.say)
        header.mode.clicked.connect(self.choose)
        self._show()

    def _show(self) -> None:
        words, icon = WORDS[self._edge.mode]
        self._header.show_mode(words, icon, self._edge.closed if self._edge.mode == "ask" else "")

    def choose(self) -> None:
        """Open the two modes below the chip."""
        menu = QMenu(self._page)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for mode, words in CHOICES:
            closed = self._edge.closed if mode == "edge" and self._edge.mode == "ask" else ""
            action = menu.addAction(words if not closed else f"{words}. {closed}")
            action.setCheckable(True)
            action.setChecked(mode == self._edge.mode)
            action.setEnabled(not closed)
            action.triggered.connect(lambda _=False, mode=mode: self._edge.choose(mode))
        words, on = self._edge.usual
        if words:
            menu.addSeparator()
            action = menu.addAction(shown_line(words).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(on)
            action.triggered.connect(self._edge.set_usual)
        menu.popup(self._header.mode.mapToGlobal(QPoint(0, self._header.mode.height())))

    def _explain(self, explained: EdgeExplained) -> None:
        dialog = EdgeDialog(self._page.window(), explained)
        dialog.answered.connect(lambda answer: self._edge.agree(explained) if answer == "switch" else None)
        dialog.open()
