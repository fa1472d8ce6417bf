"""The debate as one side sees it: its system text and the exact messages of its next request, to be read and copied."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame

from desktop.domain.definitions import SideName
from desktop.domain.messages import ChatMessage
from desktop.presenter.debates import message_text, side_text
from desktop.ui.debates.marks import SideMark
from desktop.ui.theme import theme
from desktop.ui.widgets.buttons import Button
from desktop.ui.widgets.fields import MonoView
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Text

MOST = 2_000_000
"""Characters shown; the copy has all of them."""


class SideView(QFrame):
    """Nothing is drawn as Markdown here: what stands here is what the model reads."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        column = Column(self, margins=0, spacing=0)
        head = pane("header")
        row = Row(head, margins=(24, 8, 24, 8), spacing=8)
        self._marks = {side: SideMark(side) for side in ("a", "b")}
        for mark in self._marks.values():
            row.addWidget(mark)
        self._words = Text("", "small", "2", elide="right")
        row.addWidget(self._words, 1)
        self.copy = Button("Copy as JSON", small=True, icon="copy", tip="The whole request, exactly")
        self.copy.clicked.connect(self._copy)
        row.addWidget(self.copy)
        column.addWidget(head)
        self.text = MonoView("Messages of this side", wrap=True)
        column.addWidget(self.text, 1)
        self._whole: tuple[str, Sequence[ChatMessage]] = ("", ())

    def show_side(self, side: SideName, label: str, system: str, messages: Sequence[ChatMessage]) -> None:
        """Another side, or newer messages; the place that is read stays."""
        self._whole = (system, messages)
        for name, mark in self._marks.items():
            mark.setVisible(name == side)
        count = len(messages)
        self._words.setText(
            f"{label} would be sent this: the system text and {count} message{'s' * (count != 1)}. "
            f"Its own turns are “assistant”, everything else is “user”."
        )
        self.text.setAccessibleName(f"Messages of {label}")
        bar = self.text.verticalScrollBar()
        at = bar.value()
        self._fill(system, messages)
        bar.setValue(min(at, bar.maximum()))

    def _fill(self, system: str, messages: Sequence[ChatMessage]) -> None:
        self.text.clear()
        plain, role = QTextCharFormat(), QTextCharFormat()
        role.setFontWeight(600)
        role.setForeground(theme().color("text-2"))
        cursor = QTextCursor(self.text.document())
        cursor.beginEditBlock()
        left = MOST
        whole = [("system", system), *((message.role, message_text(message)) for message in messages)]
        for number, (name, text) in enumerate(whole):
            if left <= 0:
                cursor.insertText(f"\n\n… {len(whole) - number} more messages: copy to see them.", role)
                break
            cursor.insertText(f"{'' if not number else chr(10) * 2}{name}\n", role)
            cursor.insertText(text[:left], plain)
            left -= len(text)
        cursor.endEditBlock()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(side_text(*self._whole))
