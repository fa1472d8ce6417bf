"""A server's question over the window: whose it is, in its own words, plain fields, and where the answers go.

It comes by itself. So it takes the keys only where they are in no field to write in: what a person is typing goes on
going where it went, until a click or F6. Escape refuses; nothing is sent but by its button.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from desktop.domain.servers.questions import ServerQuestion
from desktop.presenter.mcp.questions import ServerQuestionsViewModel
from desktop.ui.approvals.asking.form import AskedForm
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.patient_button import PatientButton
from desktop.ui.widgets.dialogs.scrolled_dialog import ScrolledDialog
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shadow import REACH
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Selectable, Text

WIDTH = 560
STEP_S = 0.004
KEY = "F6"
NEVER = "Never type a password or a key here. Servers have the browser for that."
BROWSER = "The page opens in your browser, outside of Assent. Look at the address before you type anything there."


class AskingDialog(ScrolledDialog):
    """One question. ``answered`` carries accept, decline, stop, or gone; ``opened`` the page that a person opens."""

    help_page = "mcp"

    opened = Signal(QUrl)

    def __init__(self, window: QWidget, questions: ServerQuestionsViewModel, question: ServerQuestion) -> None:
        super().__init__(window, f"{shown_line(question.server)} asks you", (), (), width=WIDTH)
        self.hide()
        self._questions, self.question = questions, question
        self._safe = "decline"
        self.follows = False
        """Whether the person has just answered another one: then they are at it."""
        self.form: AskedForm | None = None
        self._left_to_build: Iterator[None] = iter(())
        column = self.scroller.column
        column.setSpacing(theme().px(12))
        column.setContentsMargins(0, 0, 0, theme().px(8))
        self._whose = Paragraph(_whose(question, questions), "small", "2")
        column.addLayout(_beside("server", self._whose))
        column.addWidget(_words(question.message))
        column.addWidget(self._page() if question.url else self._fields())
        column.addWidget(_where(question))
        column.addLayout(_beside("link" if question.url else "key", _small(BROWSER if question.url else NEVER)))
        self.body.addWidget(pane("line"))
        self.body.addLayout(self._foot())
        self._close = IconButton("close", "Refuse (Esc)", side=28)
        self._close.setParent(self._box)
        self._close.clicked.connect(lambda: self.answer("decline"))
        self._keys = QShortcut(QKeySequence(KEY), window, context=Qt.ShortcutContext.WindowShortcut)
        self._keys.activated.connect(self.take_keys)
        self._others = [one for one in window.findChildren(QShortcut) if one is not self._keys and _same(one)]
        questions.changed.connect(self._look)

    # -- what is in it ------------------------------------------------------------------------------------------------

    def _fields(self) -> QWidget:
        self.form = AskedForm(self.question.fields, self._questions.value)
        self.form.changed.connect(self._judge)
        self.form.grown.connect(self.resized)
        self._left_to_build = self.form.build()
        return self.form

    def _page(self) -> QWidget:
        holder = QWidget()
        column = Column(holder, spacing=4)
        plain = QUrl.ComponentFormattingOption.FullyEncoded  # xn--… stays that: its letters may look like others
        host = QUrl(self.question.url).host(plain)
        column.addWidget(Paragraph([("It asks you to open a page of ", ""), (shown_line(host), "strong")], "body"))
        column.addWidget(Selectable(shown_line(self.question.url), "code", "2"))
        return holder

    def _foot(self) -> Row:
        refuse = PatientButton("Refuse", key="Esc")
        refuse.clicked.connect(lambda: self.answer("decline"))
        stop = PatientButton("Stop the call")
        stop.set_kind("quiet")
        stop.clicked.connect(lambda: self.answer("stop"))
        label = "Open in the browser" if self.question.url else f"Send to {shown_line(self.question.server)}"
        self.send = PatientButton(label)
        self.send.set_kind("primary")
        self.send.set_icon("link" if self.question.url else "")
        self.send.clicked.connect(lambda: self.answer("accept"))
        row = Row(spacing=8)
        for button in (refuse, stop):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.send)
        self._patient = (refuse, stop, self.send)
        self.buttons = {"decline": refuse, "stop": stop, "accept": self.send}
        self._judge()
        return row

    def _judge(self) -> None:
        self.send.setEnabled(self.form is None or self.form.values is not None)

    def begin(self) -> None:
        """Build what is left, a few milliseconds at a time, and appear."""
        end = time.monotonic() + STEP_S
        for _ in self._left_to_build:
            if time.monotonic() > end:
                QTimer.singleShot(0, self, self.begin)
                return
        QTimer.singleShot(0, self, self._lay_out)

    def _lay_out(self) -> None:
        """In a turn of its own: it takes as long as showing does."""
        self._judge()
        self.resized()
        QTimer.singleShot(0, self, self.appear)

    # -- keys ---------------------------------------------------------------------------------------------------------

    def appear(self) -> None:
        """Show it; the keys come here unless a person is writing."""
        if self._done:
            return
        for other in self._others:
            other.setEnabled(False)
        for button in self._patient:  # a press that was on its way to what is below is no answer
            button.pause()
        self.show()
        self.raise_()
        focused = self.window().focusWidget()
        writes = isinstance(focused, QLineEdit | QPlainTextEdit) and focused.isVisible()
        writing = writes and not self.follows
        if not writing:
            self.take_keys()
        where = "" if not writing else f" Press {KEY} to answer."
        words = f"{shown_line(self.question.server)} asks you: {shown(self.question.message)[:300]}{where}"
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def take_keys(self) -> None:
        """Give the keys to the first field, or to Refuse where there is none."""
        first = self.form.first if self.form is not None else None
        (first or self.buttons["decline"]).setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape refuses, unless it may have been meant for what was here before."""
        if event.key() == Qt.Key.Key_Escape and self.send.deaf:
            event.accept()
        else:
            super().keyPressEvent(event)

    # -- the answer ---------------------------------------------------------------------------------------------------

    def answer(self, value: str) -> None:
        """Pass the person's answer on, and close; an answer to a question that is gone only closes."""
        question_id = self.question.question_id
        if self._done:
            return
        if value == "accept":
            values = self.form.values if self.form is not None else {}
            if values is None or not self.send.isEnabled():
                return
            if self._questions.send(question_id, values) and self.question.url:
                self.opened.emit(QUrl(self.question.url))
        elif value == "stop":
            self._questions.stop_call(question_id)
        elif value == "decline":
            self._questions.refuse(question_id)
        self._keys.setEnabled(False)
        self._keys.deleteLater()
        for other in self._others:
            other.setEnabled(True)
        super().answer(value)

    def _look(self) -> None:
        """The question is gone with its call, or others came."""
        if not self._questions.is_open(self.question.question_id):
            self.answer("gone")
        else:
            self._whose.set_pieces(_whose(self.question, self._questions))

    def resized(self) -> None:
        """The cross keeps its corner."""
        super().resized()
        if hasattr(self, "_close"):
            px = theme().px
            self._close.move(self._box.width() - px(REACH) - self._close.width() - px(16), px(REACH) + px(16))
            self._close.raise_()


def _same(shortcut: QShortcut) -> bool:
    return shortcut.isEnabled() and shortcut.key() == QKeySequence(KEY)


def _beside(icon: str, words: QWidget) -> Row:
    row = Row(spacing=8)
    row.addWidget(Icon(icon, "text-2", 16, line="small"), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(words, 1)
    return row


def _small(words: str) -> Paragraph:
    return Paragraph(words, "small", "2")


def _whose(question: ServerQuestion, questions: ServerQuestionsViewModel) -> list[tuple[str, str]]:
    where, behind = shown_line(question.where), questions.behind
    who = " › ".join(map(shown_line, questions.asked_by(question)))
    at = " at " if question.is_web else ", which runs "
    called = f", called by {who}" if who else f", during {shown_line(question.tool)}"
    more = f". {behind} more {'question waits' if behind == 1 else 'questions wait'} behind it" if behind else ""
    name = shown_line(question.server)
    return [("The server ", ""), (name, "strong"), (at, ""), (where, "strong"), (called + more, "")]


def _words(message: str) -> QWidget:
    box = pane("quoted")
    column = Column(box, margins=(12, 8, 12, 8), spacing=2)
    column.addWidget(Text("In its own words", "small", "3"))
    column.addWidget(Paragraph(shown(message)))
    return box


def _where(question: ServerQuestion) -> QWidget:
    box = pane("quoted")
    row = Row(box, margins=(12, 8, 12, 8), spacing=10)
    row.addWidget(Icon("hidden", "text-2", 16, line="body"), 0, Qt.AlignmentFlag.AlignTop)
    where = shown_line(question.where if question.is_web else question.server)
    if question.url:
        pieces = [("The model does not see this address.", "strong"), (" It hears that you agreed or refused.", "")]
    else:
        goes = f" It goes to {where} only. The model hears that you answered or refused, and what the server then says."
        pieces = [("The model does not see what you type here.", "strong"), (goes, "")]
    row.addWidget(Paragraph(pieces, "body", "2"), 1)
    return box
