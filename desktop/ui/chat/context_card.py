"""What the model reads of this thread: the account, the summary, what is pinned, and how to change it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.context import ContextViewModel, account_words
from desktop.ui.widgets.buttons import Button, IconButton
from desktop.ui.widgets.containers import caption_value, clear
from desktop.ui.widgets.dialog import Dialog
from desktop.ui.widgets.fields import MonoView
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

INTRO = "The thread itself is never changed. This is what the last request held of it; it follows a run at work."
NOTHING_YET = "Nothing has been sent in this thread since Assent was started."
OFF = "Older messages are dropped where a chat outgrows the model's window, unless summaries are on in Settings, Chats."
WRITING = "A summary of the older part is being written. It stands here when it is there."
DECLINED = "You took a summary back: none is made in this thread."
NO_PINS = "Nothing is pinned. A pinned message is in every request, however old it is."


class ContextCard(Dialog):
    """Opened, never executed; follows the view-model while it is open."""

    jump_wanted = Signal(str)

    def __init__(self, window: QWidget, context: ContextViewModel) -> None:
        super().__init__(window, "What the model reads", INTRO, width=560)
        self._context = context
        self._column = Column(spacing=8)
        self.body.addLayout(self._column)
        context.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Follow the view-model."""
        context, column = self._context, self._column
        clear(column)
        rows = account_words(context.account)
        for what, how_many in rows:
            column.addLayout(caption_value(what, Text(how_many, "body"), column=160))
        if not rows:
            column.addWidget(Paragraph(NOTHING_YET, "body", "2"))
        self._summary(column)
        column.addWidget(Text("Pinned", "medium"))
        for message_id, text in context.pinned:
            column.addWidget(self._pin(message_id, text))
        if not context.pinned:
            column.addWidget(Paragraph(NO_PINS, "small", "2"))

    def _summary(self, column: Column) -> None:
        context, overlay = self._context, self._context.overlay
        if context.writing:
            column.addWidget(Paragraph(WRITING, "small", "2"))
        if overlay.summary:
            column.addWidget(Text("Summary of the older part, written by the model", "medium"))
            column.addWidget(MonoView("Summary", shown(overlay.summary), rows=8, wrap=True))
            column.addLayout(_button("Use the messages again", "undo", context.undo_summary))
        elif overlay.off:
            column.addWidget(Paragraph(DECLINED, "small", "2"))
            column.addLayout(_button("Allow a summary", "retry", context.allow_summaries))
        elif not context.summaries:
            column.addWidget(Paragraph(OFF, "small", "2"))

    def _pin(self, message_id: str, text: str) -> QWidget:
        holder = sized(QWidget(), height=32)
        row = Row(holder, spacing=8)
        row.addWidget(Text(shown_line(text) or "A message without words", "body", elide="right"), 1)
        go = Button("Show", "quiet", small=True, tip="Show it in the thread")
        go.clicked.connect(lambda: self._jump(message_id))
        unpin = IconButton("close", "Unpin")
        unpin.clicked.connect(lambda: self._context.pin(message_id, False))
        row.addWidget(go)
        row.addWidget(unpin)
        return holder

    def _jump(self, message_id: str) -> None:
        self.answer("close")
        self.jump_wanted.emit(message_id)


def _button(label: str, icon: str, act: object) -> Row:
    row = Row(spacing=8)
    button = Button(label, icon=icon, small=True)
    button.clicked.connect(act)
    row.addWidget(button)
    row.addStretch(1)
    return row
