"""The card of a new version: what it may newly do, what is new, how far it is, and what a person can do of it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame

from desktop.presenter.updates.words import UpdateView
from desktop.ui.settings.updates.rights import RightsList
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice, clear
from desktop.ui.widgets.marks import MeterBar, StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Selectable, Text

SIGNED = "signature checked"
NEWS = 60
"""Lines about what is new that are shown."""


class OfferCard(QFrame):
    """``wanted`` tells what the person wants: skip, later, update, stop or take_up."""

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "card")
        column = Column(self, margins=0, spacing=0)
        head = Column(margins=(16, 14, 16, 12), spacing=6)
        line = Row(spacing=10)
        self.title = Text("", "heading")
        line.addWidget(self.title)
        self.signed = StateLabel("done", SIGNED)
        line.addWidget(self.signed)
        line.addStretch(1)
        head.addLayout(line)
        self.about = Paragraph("", "body", "2")
        head.addWidget(self.about)
        column.addLayout(head)
        self.rights = RightsList()
        column.addWidget(self.rights)
        self._news_head = pane("strip")
        row = Row(self._news_head, margins=(16, 4, 8, 4), spacing=8)
        self.news_words = Paragraph("", "body", "2")
        row.addWidget(self.news_words, 1)
        self.all_news = Button("All of it", "quiet", small=True)
        self.all_news.setCheckable(True)
        self.all_news.toggled.connect(self._show_news)
        row.addWidget(self.all_news)
        column.addWidget(self._news_head)
        self._whole_news = pane("plain")
        self._news = Column(self._whole_news, margins=(16, 8, 16, 8), spacing=4)
        self._whole_news.hide()
        column.addWidget(self._whole_news)
        self.waits = Notice("ask", "", icon="pause", banner=True)
        column.addWidget(self.waits)
        self._far = pane("plain")
        far = Column(self._far, margins=(16, 10, 16, 0), spacing=6)
        self.far_words = Text("", "small", "2")
        self.meter = MeterBar("How far the new version is")
        far.addWidget(self.far_words)
        far.addWidget(self.meter)
        column.addWidget(self._far)
        column.addWidget(self._foot())
        self._shown = UpdateView()

    def _foot(self) -> QFrame:
        foot = pane("plain")
        row = Row(foot, margins=(16, 12, 16, 12), spacing=8)
        self.buttons = {
            "skip": Button("Skip it"),
            "later": Button("Later", "quiet"),
            "take_up": Button("Do not skip it"),
            "stop": Button("Stop"),
            "update": Button("Update when idle", "primary", tip="It starts the next time; runs are waited for"),
        }
        for name, button in self.buttons.items():
            if name == "update":
                row.addStretch(1)
            row.addWidget(button)
            button.clicked.connect(lambda _=False, name=name: self.wanted.emit(name))
        self._foot_frame = foot
        return foot

    def show_view(self, view: UpdateView) -> None:
        """Show the version of this view."""
        before, self._shown = self._shown, view
        self.title.setText(shown_line(view.title))
        self.about.set_pieces(shown_line(view.about))
        self.rights.show_rows(view.rows)
        if view.news != before.news:
            self._show_news(self.all_news.isChecked())
        self._news_head.setVisible(bool(view.news))
        self.news_words.set_pieces([("Also new: ", "strong"), (shown_line(_also(view.news)), "")])
        self.all_news.setVisible(len(view.news) > 1)
        self.waits.setVisible(bool(view.waits))
        if view.waits != before.waits:
            self.waits.say(shown_line(view.waits))
        self._far.setVisible(bool(view.progress))
        self.far_words.setText(view.progress)
        self.meter.set_fraction(view.share)
        number = view.title.partition(" ")[2]
        self.buttons["skip"].set_label(f"Skip {number}")
        for name, button in self.buttons.items():
            button.setVisible(name in view.actions)
        self._foot_frame.setVisible(any(name in self.buttons for name in view.actions))

    def _show_news(self, whole: bool) -> None:
        clear(self._news)
        self._whole_news.setVisible(whole and bool(self._shown.news))
        self.all_news.set_label("Less" if whole else "All of it")
        for line in self._shown.news[:NEWS] if whole else ():
            words = Row(spacing=8)
            words.addWidget(Text("•", "body", "3"), 0, Qt.AlignmentFlag.AlignTop)
            words.addWidget(Paragraph(shown_line(line), "body", "2"), 1)
            self._news.addLayout(words)


def _also(news: tuple[str, ...]) -> str:
    if not news:
        return ""
    first = news[0] if len(news[0]) <= 120 else news[0][:117].rstrip() + "…"
    return first + (f" And {len(news) - 1} more." if len(news) > 1 else "")


class InstalledCard(QFrame):
    """How an Assent that something else installs is updated, with the command to copy."""

    copied = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "card")
        column = Column(self, margins=(16, 12, 16, 12), spacing=8)
        self.words = Paragraph("", "body")
        column.addWidget(self.words)
        self._line = Row(spacing=8)
        self.command = Selectable("", "code")
        self._line.addWidget(self.command, 1)
        self.copy = Button("Copy", small=True, icon="copy")
        self.copy.setAccessibleName("Copy the command")
        self.copy.clicked.connect(lambda: self.copied.emit(self.command.text()))
        self._line.addWidget(self.copy)
        column.addLayout(self._line)

    def say(self, words: str, command: str) -> None:
        """Show these."""
        self.words.set_pieces(words)
        self.command.setText(command)
        for widget in (self.command, self.copy):
            widget.setVisible(bool(command))
