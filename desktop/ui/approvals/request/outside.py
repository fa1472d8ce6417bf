"""Text from outside that an agent read: which texts a request follows, and each as the model read it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.text.outside import MAX_KEPT, OutsideText
from desktop.domain.text.words import size_words
from desktop.presenter.approvals.request_facts import NO_VERDICT
from desktop.presenter.common.words import clock_s
from desktop.presenter.transcript.items import READ_AS, TranscriptItem
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

TITLE = "Read since you last wrote"
SHOW = "As the model read it"
NOT_KEPT = "Its words are not kept here: they are in the card of the call that read it, or too long ago in this run."
SHOWN = 3
"""Texts that are listed; of more only the number is said."""
ROWS = 26
"""Rows of a text before it scrolls."""


class OutsideCard(QFrame):
    """The texts that were read, the latest first; ``compact``: it alone, where the call itself needs the room.
    ``wanted`` (OutsideText): it is to be shown whole."""

    wanted = Signal(object)

    def __init__(self, texts: tuple[OutsideText, ...], *, compact: bool = False) -> None:
        super().__init__()
        self.setProperty("pane", "card")
        column = Column(self, margins=1, spacing=0)
        head = sized(pane("header"), height=36)
        row = Row(head, margins=(12, 0, 8, 0), spacing=8)
        row.addWidget(Icon("quote", "info", 16))
        row.addWidget(Text(TITLE, "medium", elide="right"), 1)
        column.addWidget(head)
        latest, most = tuple(reversed(texts)), 1 if compact else SHOWN
        for at, text in enumerate(latest[:most]):
            if at:
                column.addWidget(sized(pane("line"), height=1))
            column.addWidget(self._line(text))
        if len(latest) > most:
            more = QWidget()
            Row(more, margins=(12, 4, 12, 8)).addWidget(Text(f"and {len(latest) - most} more before", "small", "2"))
            column.addWidget(more)
        column.addWidget(sized(pane("line"), height=1))
        note = QWidget()
        Row(note, margins=(12, 6, 12, 8)).addWidget(Paragraph(NO_VERDICT, "small", "2"))
        column.addWidget(note)

    def _line(self, text: OutsideText) -> QWidget:
        line = QWidget()
        row = Row(line, margins=(12, 6, 8, 6), spacing=10)
        words = Column(spacing=2)
        words.addWidget(Text(shown_line(text.whose), "body", elide="right"))
        if text.about:
            words.addWidget(Text(shown_line(text.about), "code", "2", elide="middle"))
        row.addLayout(words, 1)
        row.addWidget(Text(facts_of(text), "small", "2"), 0, Qt.AlignmentFlag.AlignVCenter)
        if text.text:
            show = Button(SHOW, "normal", small=True)
            show.setAccessibleName(f"{SHOW}: {shown_line(text.whose)} {shown_line(text.about)}".strip())
            show.clicked.connect(partial(self.wanted.emit, text))
            row.addWidget(show, 0, Qt.AlignmentFlag.AlignVCenter)
        return line


def facts_of(text: OutsideText) -> str:
    """When it was read, and how much it is."""
    when = clock_s(text.at) if text.at else ""
    much = f"{size_words(text.size)} of text" if text.size else ""
    return ", ".join(part for part in (when, much) if part)


def show_card_as_read(window: QWidget, item: TranscriptItem | None, action: str) -> Dialog | None:
    """The same of the card that an action of a transcript names; None: it is no such action, or the card is gone."""
    part_id = action.removeprefix(READ_AS)
    card = next((one for one in item.cards if one.part_id == part_id), None) if item is not None else None
    return show_as_read(window, card.as_read) if card is not None and part_id != action else None


def show_as_read(window: QWidget, text: OutsideText) -> Dialog:
    """A dialog, already open, with the text exactly as the model read it: plain, no link in it does anything."""
    cut = f"; the first {MAX_KEPT:,} characters" if text.size > len(text.text) > 0 else ""
    said = f"{shown_line(text.whose)}. {facts_of(text)}{cut}".strip(" .")
    dialog = Dialog(window, SHOW, said, width=880)
    if text.about:
        dialog.body.addWidget(Text(shown_line(text.about), "code", "2", elide="middle"))
    if not text.text:
        dialog.body.addWidget(Paragraph(NOT_KEPT))
        dialog.open()
        return dialog
    card = QFrame()
    card.setProperty("pane", "card")
    view = LinesView(f"Text of {shown_line(text.whose)}", max_rows=ROWS)
    view.set_text(text.text, numbered=True)
    Column(card, margins=1, spacing=0).addWidget(view)
    dialog.body.addWidget(card)
    dialog.open(view)
    return dialog
