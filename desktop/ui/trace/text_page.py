"""A whole text of a trace, in place of the facts: to be read, selected and copied. Always plain, never markup."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame

from desktop.presenter.trace.words import Quote
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.fields import MonoView
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Text

MAXIMUM = 120_000
"""Characters that are laid out; more are in the export."""


class TextPage(QFrame):
    """A whole text. ``show_text`` fills it; ``closed`` when the person has read enough, ``said`` a sentence."""

    closed = Signal()
    said = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "plain")
        self._text = ""
        self.back = IconButton("left", "Back to the details", shortcut="Esc", side=24)
        self.title = Text("", "small-medium", elide="right")
        self.copy_button = IconButton("copy", "Copy this text", side=24)
        self.note = Text("", "small", "3", elide="right")
        self.view = MonoView("Text", wrap=True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = Column(self, margins=(0, 8, 0, 0), spacing=4)
        row = Row(margins=(12, 0, 12, 0), spacing=8)
        for widget in (self.back, self.title, self.copy_button):
            row.addWidget(widget, 1 if widget is self.title else 0)
        column.addLayout(row)
        column.addWidget(self.note)
        column.addWidget(self.view, 1)
        self.back.clicked.connect(self.closed)
        self.copy_button.clicked.connect(self._copy)

    def show_text(self, owner: str, quote: Quote, *, keys: bool = True) -> None:
        """Show all of a text, as far as it is kept; ``keys`` go to it."""
        self._text = quote.text
        self.title.setText(shown_line(f"{quote.name}: {owner}"[:200]))
        missing = quote.omitted + max(0, len(quote.text) - MAXIMUM)
        self.note.setText(f"    {missing:,} characters more are not shown here" if missing else "")
        self.note.setVisible(bool(missing))
        self.view.setAccessibleName(shown_line(f"{quote.name} of {owner}"[:200]))
        self.view.setPlainText(shown(quote.text[:MAXIMUM]))
        if keys:
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self.said.emit("The text is copied")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go back on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)
