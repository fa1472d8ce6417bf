"""Settings, About: which Assent this is, what it is made of, and the text of every licence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QStackedWidget

from desktop.presenter.settings.about.page import OWN_LICENCE, AboutViewModel, part_facts
from desktop.ui.settings.about.rows import PART, PartsList, part_title
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Field, MonoView
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.layout.containers import EmptyState, Notice, Scroller, caption_value, clear
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import search_took
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Selectable, Text

VIEWS = (("this", "This Assent"), ("parts", "What it is made of"))
WHAT = "Each part keeps the licence that its authors gave it. Open one to read the text."
NOTHING_FOUND = "No part has these words in its name or its licence."


class AboutPage(QFrame):
    """Facts, or the list of parts, or one with its text. ``said`` shows a short sentence in the toast of Settings."""

    def __init__(self, model: AboutViewModel, said: Callable[[str], None]) -> None:
        super().__init__()
        self._model = model
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        self.choice = Segmented("What to show", VIEWS)
        head = Row(margins=(24, 16, 24, 0))
        head.addWidget(self.choice)
        head.addStretch(1)
        column.addLayout(head)
        self.stack = QStackedWidget()
        column.addWidget(self.stack, 1)
        self._said = said
        self.facts = FactsPane(model, said)
        self.stack.addWidget(self.facts)
        self.choice.chosen.connect(self.show_view)
        self.show_view(VIEWS[0][0])
        model.look()

    @cached_property
    def list(self) -> PartsPane:
        """The list, made when it is first wanted."""
        made = PartsPane(self._model)
        made.parts.clicked.connect(self._open)
        made.parts.activated.connect(self._open)
        self.stack.addWidget(made)
        return made

    @cached_property
    def open(self) -> TextPane:
        """The open part, made when one is."""
        made = TextPane(self._model, self._said)
        made.back.clicked.connect(self._back)
        self.stack.addWidget(made)
        return made

    def _shows(self, view: str) -> bool:
        return view in vars(self) and self.stack.currentWidget() is vars(self)[view]

    def show_view(self, name: str) -> None:
        """``this`` or ``parts``."""
        self.choice.set_value(name)
        self.stack.setCurrentWidget(self.facts if name == VIEWS[0][0] else self.list)

    def _open(self, index: QModelIndex) -> None:
        part = index.data(PART)
        if part is not None:
            self._model.open(part)
            self.open.show_part()
            self.stack.setCurrentWidget(self.open)
            self.open.back.setFocus(Qt.FocusReason.OtherFocusReason)

    def _back(self) -> None:
        self.stack.setCurrentWidget(self.list)
        self.list.parts.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape goes back to the list; over the list it empties the search, Down goes into it."""
        if self._shows("open") and event.key() == Qt.Key.Key_Escape:
            self._back()
        elif not self._shows("list") or not search_took(event, self.list.search, self.list.parts):
            super().keyPressEvent(event)


class FactsPane(Scroller):
    """Which Assent this is, with Copy, and its own licence."""

    def __init__(self, model: AboutViewModel, said: Callable[[str], None]) -> None:
        super().__init__(margins=(24, 16, 24, 24), spacing=12)
        self._model, self._said = model, said
        card = pane("card")
        column = Column(card, margins=(16, 12, 16, 14), spacing=8)
        head = Row(spacing=12)
        head.addWidget(Text("Assent", "title"))
        head.addStretch(1)
        self.copy = Button("Copy", small=True, icon="copy")
        self.copy.setAccessibleName("Copy what this Assent is")
        self.copy.clicked.connect(self._copy)
        head.addWidget(self.copy)
        column.addLayout(head)
        self._facts = Column(spacing=4)
        column.addLayout(self._facts)
        self.column.addWidget(card)
        self.column.addWidget(Text("Licence", "strong"))
        self.column.addWidget(Paragraph(OWN_LICENCE, "body", "2"))
        self.column.addStretch(1)
        model.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        clear(self._facts)
        for name, value in self._model.facts:
            self._facts.addLayout(caption_value(name, Selectable(shown_line(value), "body", "")))
        self.copy.setEnabled(bool(self._model.facts))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._model.facts_text)
        self._said("What this Assent is was copied")


class PartsPane(QFrame):
    """What Assent is made of, searched as one types."""

    def __init__(self, model: AboutViewModel) -> None:
        super().__init__()
        self._model = model
        self.setProperty("pane", "surface")
        column = Column(self, margins=(24, 16, 24, 16), spacing=12)
        column.addWidget(Paragraph(WHAT, "body", "2"))
        self.problem = Notice("failed")
        self.problem.hide()
        column.addWidget(self.problem)
        head = Row(spacing=12)
        self.search = Field("Search names and licences", hint="Search names and licences", icon="search")
        self.search.textChanged.connect(model.search)
        head.addWidget(self.search, 1)
        self.count = Text("", "small", "2")
        head.addWidget(self.count)
        column.addLayout(head)
        self.parts = PartsList()
        column.addWidget(self.parts, 1)
        self.nothing = EmptyState("search", "Nothing found", NOTHING_FOUND, framed=True)
        self.nothing.hide()
        column.addWidget(self.nothing, 1)
        model.changed.connect(self._follow)
        model.found.connect(self._found)
        self._follow()
        self._found()

    def _follow(self) -> None:
        self.problem.setVisible(bool(self._model.problem))
        self.problem.say(shown_line(self._model.problem))

    def _found(self) -> None:
        model = self._model
        self.parts.parts.reset(list(model.rows))
        self.parts.scrollToTop()
        some = f"{len(model.rows):,} of {model.total:,}" if len(model.rows) < model.total else f"{model.total:,} parts"
        self.count.setText(some if model.total else "")
        self.parts.setVisible(bool(model.rows))
        self.nothing.setVisible(bool(model.total) and not model.rows)


class TextPane(QFrame):
    """One part: what is known of it, and the words of its licence."""

    def __init__(self, model: AboutViewModel, said: Callable[[str], None]) -> None:
        super().__init__()
        self._model, self._said = model, said
        self.setProperty("pane", "surface")
        column = Column(self, margins=(24, 16, 24, 16), spacing=12)
        head = Row(spacing=8)
        self.back = Button("All parts", "quiet", icon="left", small=True)
        head.addWidget(self.back)
        head.addStretch(1)
        self.copy = Button("Copy", small=True, icon="copy")
        self.copy.setAccessibleName("Copy this licence")
        self.copy.clicked.connect(self._copy)
        head.addWidget(self.copy)
        column.addLayout(head)
        self.title = Text("", "title", elide="right")
        column.addWidget(self.title)
        self._facts = Column(spacing=4)
        column.addLayout(self._facts)
        self.choice = sized(Combo("Which text"), max_width=420)
        self.choice.currentIndexChanged.connect(self._chosen)
        column.addWidget(self.choice)
        self.text = sized(MonoView("The licence", wrap=True), min_height=24)
        column.addWidget(self.text, 1)
        model.text_ready.connect(self._show_text)

    def show_part(self) -> None:
        """Show the part that is open; its text comes when it is read."""
        part = self._model.part
        if part is None:
            return
        self.title.setText(part_title(part))
        clear(self._facts)
        for name, value in part_facts(part)[1:]:
            self._facts.addLayout(caption_value(name, Selectable(shown(value), "body", "")))
        self.choice.fill([(shown_line(name), name) for name in part.texts], self._model.text_name)
        self.choice.setVisible(len(part.texts) > 1)
        self._show_text()

    def _chosen(self) -> None:
        if self._model.part is not None:
            self._model.open(self._model.part, str(self.choice.currentData()))

    def _show_text(self) -> None:
        self.text.setPlainText(shown(self._model.text))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._model.open_text)
        self._said("The licence is copied")
