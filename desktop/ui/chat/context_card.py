"""What the model reads of this chat: the account, the summary, what is pinned, and how to change it."""

from __future__ import annotations

from typing import Any, Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.chat.context import ContextViewModel, account_words
from desktop.presenter.chat.state import Meters
from desktop.presenter.common.words import cache_words
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import MonoView
from desktop.ui.widgets.dialogs.scrolled_dialog import ScrolledDialog
from desktop.ui.widgets.layout.containers import caption_value, clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

INTRO = "The chat itself is never changed. This is what the model was sent last. It updates while a run is working."
NOTHING_YET = "Nothing has been sent in this chat since Assent was started."
OFF = "Older messages are dropped where a chat outgrows the model's window, unless summaries are on in Settings, Chats."
WRITING = "A summary of the older part is being written. It stands here when it is there."
DECLINED = "You removed the summary, so none is made in this chat."
NO_PINS = "Nothing is pinned. A pinned message is in every request, however old it is."
ELSEWHERE = "on another branch, not sent here"
NAMES = 160


class MeteredChat(Protocol):
    """A chat that knows what was used in it."""

    @property
    def meters(self) -> Meters:
        """What the header of the chat shows."""
        ...


class ContextCard(ScrolledDialog):
    """The card of a thread's context. Opened, never executed; follows the view-model while it is open. What does not
    fit the window is scrolled."""

    help_page = "runs"

    jump_wanted = Signal(str)

    def __init__(self, window: QWidget, context: ContextViewModel, chat: MeteredChat) -> None:
        super().__init__(window, "What the model reads", INTRO, width=560)
        self._context, self._chat = context, chat
        self._unpins: list[IconButton] = []
        self._told: Any = None
        context.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show what the view-model has now. Unchanged parts stay: a person may be reading them."""
        context, overlay = self._context, self._context.overlay
        rows = account_words(context.account)
        cache = cache_words(self._chat.meters.used)
        told = (rows, overlay.summary, overlay.off, context.writing, context.summaries, tuple(context.pinned), cache)
        if told == self._told:
            return
        self._told = told
        keys, bar = self._keys_at(), self.scroller.verticalScrollBar()
        place = bar.value()
        self._build(rows, *cache)
        self.resized()
        bar.setValue(place)
        if keys is not None and self.isVisible():
            to = self._unpins[min(keys, len(self._unpins) - 1)] if self._unpins and keys >= 0 else self.buttons["close"]
            to.setFocus()

    def _keys_at(self) -> int | None:
        """The number of the pin that has the keys; -1: another control in the scrolled part has them; None: the keys
        are elsewhere."""
        focus = self.window().focusWidget()
        if focus is None or not self.scroller.isAncestorOf(focus):
            return None
        return next((at for at, button in enumerate(self._unpins) if button is focus), -1)

    def _build(self, rows: list[tuple[str, str]], cached: str, about: str) -> None:
        context, column = self._context, self.scroller.column
        clear(column)
        self._unpins = []
        for what, how_many in rows:
            column.addLayout(caption_value(what, Text(how_many, "body"), column=NAMES))
        if not rows:
            column.addWidget(Paragraph(NOTHING_YET, "body", "2"))
        if cached:
            column.addWidget(self._cache(cached, about))
        self._summary()
        column.addWidget(Text("Pinned", "medium"))
        for pinned in context.pinned:
            column.addWidget(self._pin(*pinned))
        if not context.pinned:
            column.addWidget(Paragraph(NO_PINS, "small", "2"))
        column.addStretch(1)
        inside, direct = column.parentWidget(), Qt.FindChildOption.FindDirectChildrenOnly
        for one in inside.findChildren(QWidget, options=direct) if inside is not None else ():
            one.show()  # a layout counts what shows, and would show it a turn later

    def _cache(self, cached: str, about: str) -> QWidget:
        """How much of what was sent did not have to be read anew."""
        holder = QWidget()
        row = Row(holder, spacing=8)
        row.addWidget(Icon("retry", "text-2", 16, line="body"), 0, Qt.AlignmentFlag.AlignTop)
        words = QWidget()
        column = Column(words, spacing=2)
        column.addWidget(Paragraph(cached, "medium"))
        column.addWidget(Paragraph(about, "small", "2"))
        row.addWidget(words, 1)
        return holder

    def _summary(self) -> None:
        context, overlay, column = self._context, self._context.overlay, self.scroller.column
        if context.writing:
            column.addWidget(Paragraph(WRITING, "small", "2"))
        if overlay.summary:
            column.addWidget(Paragraph("Summary of the older part, written by the model", "medium"))
            column.addWidget(MonoView("Summary", shown(overlay.summary), rows=8, wrap=True))
            column.addLayout(_button("Use the messages again", "undo", context.undo_summary))
        elif overlay.off:
            column.addWidget(Paragraph(DECLINED, "small", "2"))
            column.addLayout(_button("Allow a summary", "retry", context.allow_summaries))
        elif not context.summaries:
            column.addWidget(Paragraph(OFF, "small", "2"))

    def _pin(self, message_id: str, text: str, here: bool) -> QWidget:
        holder = sized(QWidget(), height=32)
        row = Row(holder, spacing=8)
        words = shown_line(text) or "A message without words"
        row.addWidget(Text(words, "body", "" if here else "3", elide="right"), 1)
        if not here:
            row.addWidget(Text(ELSEWHERE, "small", "3"))
        go = Button("Show", "quiet", small=True, tip="Show it in the chat")
        go.clicked.connect(lambda: self._jump(message_id))
        unpin = IconButton("close", "Unpin")
        unpin.clicked.connect(lambda: self._context.pin(message_id, False))
        self._unpins.append(unpin)
        row.addWidget(go)
        go.setVisible(here)
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
