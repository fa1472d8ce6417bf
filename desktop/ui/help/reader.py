"""A page of help to be read: its sections one after the other, each laid out in a turn of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from desktop.domain.help.pages import HelpSection
from desktop.presenter.help.page import HelpReading, HelpViewModel
from desktop.ui.skills.markdown_view import MarkdownView, piece_tools
from desktop.ui.theme import theme
from desktop.ui.transcript.flow import PieceTools
from desktop.ui.transcript.markdown.inline import InlineParser
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Scroller, clear
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.text import Heading, Paragraph

AT_ONCE = 500
"""Characters that are laid out in one turn."""
_PAGE = re.compile(r"([\w-]+)\.md(?:#.*)?$")
_LINKS = re.compile(r"(?:https?://|mailto:)\S|[\w-]+\.md(?:#[\w-]*)?$", re.IGNORECASE)
"""What a page of help may lead to: addresses of the web, which the browser opens, and other pages."""
_NONE = "There is nothing here to read."


class HelpReader(Scroller):
    """``page_wanted``: the name of a page that a link leads to. ``said``: what was copied."""

    page_wanted = Signal(str)
    said = Signal(str)

    def __init__(self, help: HelpViewModel) -> None:
        super().__init__(margins=(16, 16, 16, 24), spacing=8)
        self.setAccessibleName("Page of help")
        self.viewport().setObjectName("help-reader")
        self._help = help
        self._left: Iterator[Callable[[], QWidget]] = iter(())
        self._turn = QTimer(self, interval=0)
        self._turn.timeout.connect(self._go_on)
        self.column.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The text keeps its width whether there is a bar or not, and gets it once: else all of it would be laid out
        again as the bar comes, or for each letter that makes room for what was found."""
        self._inside.setFixedWidth(self._room())
        QScrollArea.resizeEvent(self, event)

    def _room(self) -> int:
        return self.width() - self.verticalScrollBar().sizeHint().width()

    @cached_property
    def tools(self) -> PieceTools:
        """What all its texts share."""
        return piece_tools(self, InlineParser(_LINKS))

    def show_reading(self, reading: HelpReading) -> None:
        """Show a page or a section from its beginning."""
        clear(self.column)
        self.column.addStretch(1)
        self.verticalScrollBar().setValue(0)
        self._left = self._parts(reading)
        self._go_on()
        self._turn.start()

    def warmed(self) -> Iterator[None]:
        """The first text costs more than all others, for Qt reads its fonts: some words are laid out ahead, in steps,
        and thrown away."""
        look = PageLook(theme())
        for made in range(5):  # Qt's values that a format uses are made by PySide as they are first asked for
            look.inline_format(tuple(at == made for at in range(5)))
            yield
        first = MarkdownView("", self.tools)
        first.resize(200, 1)
        for words in ("a", "**a**", "*a*", "`a`", "- [a](b.md)"):
            first.set_markdown(words)
            yield
        first.deleteLater()

    def _go_on(self) -> None:
        make = next(self._left, None)
        if make is None:
            self._turn.stop()
            return
        self.column.insertWidget(self.column.count() - 1, make())

    # -- the parts ----------------------------------------------------------------------------------------------------

    def _parts(self, reading: HelpReading) -> Iterator[Callable[[], QWidget]]:
        if not reading.sections:
            yield lambda: Paragraph(_NONE, "body", "2")
        for at, section in enumerate(reading.sections):
            role = "title" if not at else "strong"
            yield lambda section=section, role=role: Heading(section.title, role)  # type: ignore[misc]
            for piece in pieces_of(section.text):
                yield lambda section=section, piece=piece: self._text(section, piece)  # type: ignore[misc]
            if section.there or section.command:
                yield lambda section=section: self._actions(section)  # type: ignore[misc]
        yield lambda: self._ways_on(reading)

    def _text(self, section: HelpSection, text: str) -> MarkdownView:
        made = MarkdownView(section.title, self.tools)
        made.link_wanted.connect(self._link)
        made.copied.connect(lambda _: self.said.emit("Copied"))
        margins = self.column.contentsMargins()
        made.resize(self._room() - margins.left() - margins.right(), 1)
        made.set_markdown(text)
        return made

    def _actions(self, section: HelpSection) -> QWidget:
        row, items = FlowRow(), []
        if section.there:
            there = Button("Take me there", small=True)
            there.setAccessibleName(f"Take me there: {section.title}")
            there.clicked.connect(lambda: self._help.go_there(section))
            items.append(there)
        if section.command:
            copy = Button("Copy the command", "quiet", icon="copy", small=True)
            copy.setAccessibleName(f"Copy the command: {section.title}")
            copy.clicked.connect(lambda: self._copy(section.command))
            items.append(copy)
        row.set_items(items)
        return row

    def _ways_on(self, reading: HelpReading) -> QWidget:
        """Where to read on: all of the page, the pages that it names, all pages."""
        row, items = FlowRow(), []
        if not reading.whole:
            whole = Button(f"All of {reading.title}", "quiet", small=True, shrinks=True)
            whole.clicked.connect(self._help.show_whole)
            items.append(whole)
        titles = {page.name: page.title for page in self._help.pages}
        named = dict.fromkeys(name for section in reading.sections for name in section.see if name in titles)
        for name in named:
            page = Button(titles[name], "quiet", small=True, shrinks=True)
            page.clicked.connect(lambda _=False, name=name: self.page_wanted.emit(name))
            items.append(page)
        row.set_items(items)
        if not items:
            row.hide()  # never shown here: without a parent it would be a window
        return row

    def _link(self, link: str) -> None:
        found = _PAGE.match(link)
        if found:
            self.page_wanted.emit(found[1])

    def _copy(self, command: str) -> None:
        QGuiApplication.clipboard().setText(command)
        self.said.emit("Copied")


def pieces_of(text: str) -> Iterator[str]:
    """A text cut between its paragraphs, or the points of a list, so that each piece is laid out quickly."""
    piece: list[str] = []
    length, fenced = 0, False
    for line in text.splitlines():
        begins = not fenced and (not line.strip() or line.startswith(("- ", "* ")))
        if begins and length > AT_ONCE:
            yield "\n".join(piece)
            piece, length = [], 0
        fenced ^= line.startswith("```")
        piece.append(line)
        length += len(line) + 1
    if "".join(piece).strip():
        yield "\n".join(piece)
