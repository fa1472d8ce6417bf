"""What every place shows of a call that a person tries: its state, that it waits for an answer, what it gave."""

from __future__ import annotations

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget

from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column

STATES = {"stopping": ("running", "stopping"), "aborted": ("aborted", "stopped")}
"""State -> its look and its word, where they are not its name."""


def waiting_strip(wanted: SignalInstance) -> Notice:
    """Says that the call waits for the person; the button emits ``wanted``."""
    strip = Notice("ask", "Waiting for your answer.")
    button = Button("Show the request", small=True)
    button.clicked.connect(wanted)
    strip.add(button)
    return strip


def lines_card(name: str, text: str, rows: int, *, failed: bool = False) -> QWidget:
    """A text as it is, in a card of at most so many rows."""
    card = pane("failed" if failed else "quoted")
    view = LinesView(name, max_rows=rows)
    view.set_indent(12)
    view.set_text(text)
    view.setFixedHeight(view.sizeHint().height())
    Column(card, margins=(1, 8, 1, 8), spacing=0).addWidget(view)
    return card
