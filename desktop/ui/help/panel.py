"""The Help panel: a search at its top, what it found, the page that is read, and at its foot what else there is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.help.pages import HelpResult
from desktop.presenter.help.page import KEYS, NEWS, HelpReading, HelpViewModel
from desktop.ui.help.hits import HEIGHT, HIT, HelpHitDelegate, HelpHitModel
from desktop.ui.help.reader import HelpReader
from desktop.ui.theme import theme
from desktop.ui.widgets import reading_order
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.dialogs.base import dialog_open
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import RowList
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Text

SHOWN_HITS = 4
"""Hits that are seen without scrolling."""
AFTER_TYPING = 120
"""Milliseconds after a letter until the best hit is laid out below."""
COUNT = 64
"""Pixels at the field's end for the number of pages."""
NOTHING = "Nothing was found. Try one word, in English, or look through all pages."
ALL_PAGES = "settings:Help"


class HelpParts:
    """What of the panel takes longest to make: each in a turn of its own, so that the window is not held up."""

    def __init__(self, help: HelpViewModel) -> None:
        self._help = help

    @cached_property
    def field(self) -> _SearchField:
        """The search."""
        return _SearchField()

    @cached_property
    def hits(self) -> RowList:
        """What was found."""
        return RowList("What was found", HelpHitDelegate())

    @cached_property
    def reader(self) -> HelpReader:
        """What is read."""
        return HelpReader(self._help)

    def made_in_turns(self) -> Iterator[object]:
        """Make them one after the other."""
        yield self.field
        yield self.hits
        yield self.reader
        yield self.reader.tools
        for _ in self.reader.warmed():
            yield None


class HelpPanel(QFrame):
    """``closed`` by the person; ``said``: what was copied; ``report_wanted``: the person reports a problem."""

    closed = Signal()
    said = Signal(str)
    report_wanted = Signal()

    def __init__(self, help: HelpViewModel, parent: QWidget | None = None, parts: HelpParts | None = None) -> None:
        super().__init__(parent)
        self._help, parts = help, parts or HelpParts(help)
        self.setProperty("pane", "side")
        self.setAccessibleName("Help")
        self.back = IconButton("left", "Back", side=32)
        self.close_button = IconButton("close", "Close help", shortcut="Esc", side=32)
        self.field, self.hits, self.reader = parts.field, parts.hits, parts.reader
        self.model = HelpHitModel()
        self._read_now: HelpReading | None = None
        self.lies_over = False
        self.hits.setModel(self.model)
        self.nothing = Paragraph(NOTHING, "small", "2")
        self.all_pages = Button("All pages", small=True)
        self.offer = Button("", "quiet", small=True, shrinks=True)
        self.news = Button("What is new", "quiet", small=True)
        self.keys = Button("Keys", "quiet", icon="keyboard", small=True)
        self.report = Button("Report a problem…", "quiet", small=True, shrinks=True)
        self._soon = QTimer(self, singleShot=True, interval=AFTER_TYPING)
        self._lay_out()
        self._connect()
        self._found(help.result)

    def _lay_out(self) -> None:
        column = Column(self, margins=(1, 0, 0, 0), spacing=0)
        head = sized(pane("header"), height=48)
        row = Row(head, margins=(16, 1, 8, 0), spacing=4)
        row.addWidget(self.back)
        row.addWidget(Text("Help", "title"), 1)
        row.addWidget(self.close_button)
        column.addWidget(head)
        self._top = pane("strip")
        top = Column(self._top, margins=(0, 12, 0, 0), spacing=8)
        search = Row(margins=(12, 0, 12, 0), spacing=0)
        search.addWidget(self.field)
        top.addLayout(search)
        top.addWidget(self.hits)
        around = Row(margins=(24, 0, 24, 0), spacing=0)
        around.addWidget(self.nothing, 1)
        around.addWidget(self.all_pages)
        top.addLayout(around)
        self._gap = sized(QWidget(), height=4)
        top.addWidget(self._gap)
        column.addWidget(self._top)
        page = pane("surface")
        reading = Column(page, spacing=0)
        self._offers = QWidget()
        beside = Row(self._offers, margins=(8, 8, 8, 0), spacing=0)
        beside.addWidget(self.offer)
        beside.addStretch(1)
        self._offers.hide()
        reading.addWidget(self._offers)
        reading.addWidget(self.reader, 1)
        column.addWidget(page, 1)
        foot = sized(pane("footer"), height=44)
        below = Row(foot, margins=(8, 0, 8, 0), spacing=8)
        below.addWidget(self.news)
        below.addWidget(self.keys)
        below.addStretch(1)
        below.addWidget(self.report)
        column.addWidget(foot)

    def _connect(self) -> None:
        help = self._help
        self.field.textChanged.connect(help.search)
        self.field.installEventFilter(self)
        help.found.connect(self._found)
        help.turned.connect(self._turned)
        help.placed.connect(self.field.clear)
        help.offered.connect(self._show_offer)
        self.hits.selectionModel().currentChanged.connect(lambda _: self._soon.start())
        self.hits.activated.connect(self._read_on)
        self.hits.clicked.connect(lambda _: self._read())
        self._soon.timeout.connect(self._read)
        self.reader.page_wanted.connect(help.show_page)
        self.reader.said.connect(self.said)
        self.close_button.clicked.connect(self.closed)
        self.back.clicked.connect(help.back)
        self.offer.clicked.connect(self._take_offer)
        self.all_pages.clicked.connect(lambda: help.there_wanted.emit(ALL_PAGES))
        self.news.clicked.connect(help.show_news)
        self.keys.clicked.connect(lambda: help.show_page(KEYS))
        self.report.clicked.connect(self.report_wanted)
        theme().changed.connect(self._fit_hits)

    def first_focus(self) -> QWidget:
        """Keys go to the search."""
        return self.field

    # -- what is found ------------------------------------------------------------------------------------------------

    def _found(self, result: HelpResult) -> None:
        sought = bool(result.query.strip())
        self.model.show(result.hits)
        self.hits.setVisible(bool(result.hits))
        self.nothing.setVisible(sought and not result.hits)
        self.all_pages.setVisible(sought and not result.hits)
        pages = f"{result.pages} page" + ("" if result.pages == 1 else "s")
        self.field.say(pages if sought else "")
        self._fit_hits()
        if result.hits:
            self.hits.setCurrentIndex(self.model.index(0, 0))
            self.hits.scrollToTop()
        else:
            self._soon.stop()

    def _fit_hits(self) -> None:
        rows = min(SHOWN_HITS, len(self.model.hits), max(1, self.height() // (3 * theme().px(HEIGHT)) or 1))
        self.hits.setFixedHeight(rows * theme().px(HEIGHT) + self.hits.frameWidth() * 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave room to read."""
        super().resizeEvent(event)
        self._fit_hits()

    def _read(self) -> None:
        """Show the chosen hit below."""
        self._soon.stop()
        index = self.hits.currentIndex()
        if index.isValid():
            self._help.show_section(index.data(HIT).section)

    def _read_on(self, index: QModelIndex) -> None:
        """Return on a hit: the keys go to what it says."""
        if index.isValid():
            self._read()
            self.reader.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- what is read -------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show what is to be read: it is not laid out while nobody sees it."""
        self._turned()

    def _turned(self) -> None:
        if self.isHidden():
            return
        self.back.setVisible(self._help.can_go_back)
        reading = self._help.reading
        if reading.page and reading is not self._read_now:
            self._read_now = reading
            self.reader.show_reading(reading)
        self.news.setVisible(reading.page != NEWS)
        self._show_offer()

    def _show_offer(self) -> None:
        """A quiet line above what is read: the page for where the person is by now."""
        title = self._help.offer
        self._offers.setVisible(bool(title))
        if title:
            self.offer.set_label(f"Help for {title} \N{RIGHTWARDS ARROW}")
            self.offer.setAccessibleName(f"Help for {title}")

    def _take_offer(self) -> None:
        """The keys go to the search: the line is gone."""
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._help.take_offer()

    # -- keys ---------------------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the field, up and down choose among what was found, Return reads it."""
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
            rows = self.model.rowCount()
            if step and rows:
                at = max(0, min(rows - 1, self.hits.currentIndex().row() + step))
                self.hits.setCurrentIndex(self.model.index(at, 0))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and rows:
                self._read()
                return True
        return super().eventFilter(watched, event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Over a dialog Tab stays in it, for what is below takes no keys; over pages, for they are hidden by it."""
        if self.lies_over or dialog_open(self.window()):
            return reading_order.move(self, forward)
        return super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape empties the search, then closes."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self.field.text():
            self.field.clear()
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.closed.emit()


class _SearchField(Field):
    """The search, with the number of pages at its end."""

    trailing = COUNT

    def __init__(self) -> None:
        super().__init__("Search help", hint="Search help", icon="search")
        self._count = Text("", "small", "2", parent=self)
        self._count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._count.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def say(self, words: str) -> None:
        """How much was found."""
        self._count.setText(words)
        self.setAccessibleDescription(words)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The number stands at the right."""
        super().resizeEvent(event)
        px = theme().px
        self._count.setGeometry(self.width() - px(COUNT) - px(8), 0, px(COUNT), self.height())
