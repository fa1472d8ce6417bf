"""The debate as one side sees it: its system text and the exact messages of its next request, to be read and copied."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame

from desktop.domain.definitions import SideName
from desktop.domain.messages import ChatMessage
from desktop.presenter.debates.items import seen_items
from desktop.presenter.debates.page import side_text
from desktop.ui.debates.lanes import debate_view
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.side_marks import SideMark
from desktop.ui.widgets.text import Text


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
        self.view = debate_view(arrangement="column")
        column.addWidget(self.view, 1)
        self._side = ""
        self._whole: tuple[str, Sequence[ChatMessage]] = ("", ())

    def show_side(self, side: SideName, label: str, system: str, messages: Sequence[ChatMessage]) -> None:
        """Show another side, or newer messages; the place that is read stays."""
        fresh = (side, system, list(messages[:1])) != (self._side, self._whole[0], list(self._whole[1][:1]))
        self._side, self._whole = side, (system, messages)
        for name, mark in self._marks.items():
            mark.setVisible(name == side)
        count = len(messages)
        self._words.setText(
            f"{label} would be sent this: the system text and {count} message{'s' * (count != 1)}. "
            f"Its own turns are “assistant”, everything else is “user”."
        )
        self.view.setAccessibleName(f"Messages of {label}")
        self.view.set_items(seen_items(side, system, messages))
        if fresh:
            self.view.scroll_to(f"{side}:0")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(side_text(*self._whole))
