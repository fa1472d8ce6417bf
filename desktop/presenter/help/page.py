"""The Help panel: the page for where a person is, what a search finds, what is new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.help.pages import HelpPage, HelpResult, HelpSection
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.help.places import FIRST, only_shows

NEWS = "news"
NEWS_TITLE = "What is new"
KEYS = "keys"


class HelpBook(Protocol):
    """The pages, read once."""

    @property
    def pages(self) -> dict[str, HelpPage]:
        """By name."""
        ...

    @property
    def news(self) -> Sequence[HelpSection]:
        """A section a version, the newest first."""
        ...

    def find(self, query: str) -> HelpResult:
        """What fits a query."""
        ...


@dataclass(frozen=True, slots=True)
class HelpReading:
    """What the reader shows: a page, or one section of it."""

    page: str = ""
    title: str = ""
    sections: tuple[HelpSection, ...] = ()
    whole: bool = True
    """Whether that is all of the page."""


class HelpViewModel(QObject):
    """``open_at`` begins; pages are read in a thread with the first one. ``turned``: something else is to be read.
    ``placed``: the page for where the person is was asked for. ``offered``: which other page belongs there, or none.
    ``there_wanted`` carries a command that shows a place."""

    turned = Signal()
    placed = Signal()
    offered = Signal()
    found = Signal(object)
    listed = Signal()
    there_wanted = Signal(str)

    def __init__(self, read: Callable[[], HelpBook], bridge: Bridge, *, book: HelpBook | None = None) -> None:
        super().__init__()
        self._read, self._bridge, self._book = read, bridge, book
        self._reading = False
        self._place = FIRST
        self._own = self._went = False
        self._wanted: tuple[str, int] = ("", 0)
        self._query = ""
        self._before: list[HelpReading] = []
        self.reading = HelpReading()
        self.result = HelpResult("")

    @property
    def loaded(self) -> bool:
        """Whether the pages were read."""
        return self._book is not None

    @property
    def pages(self) -> tuple[HelpPage, ...]:
        """Every page, by title."""
        return tuple(sorted(self._book.pages.values(), key=lambda page: page.title)) if self._book else ()

    @property
    def can_go_back(self) -> bool:
        """Whether something else was read before."""
        return bool(self._before)

    # -- what is read -------------------------------------------------------------------------------------------------

    def open_at(self, place: str) -> None:
        """The help page of where a person is now."""
        self._place = place or FIRST
        self.placed.emit()
        self._show_place()

    def follow(self, place: str) -> None:
        """The person went elsewhere in the app: the page goes along, unless they read one of their own choice."""
        if (place or FIRST) == self._place:
            return
        self._place = place or FIRST
        if self._own or self._query.strip():
            self._went = True
            self.offered.emit()
        else:
            self._show_place()

    @property
    def offer(self) -> str:
        """The title of the page for where the person went, while another one is read by choice; else ""."""
        page = self._book.pages.get(self._place) if self._book is not None else None
        return page.title if page is not None and self._went and self.reading.page != self._place else ""

    def _show_place(self) -> None:
        self._own = self._went = False
        self._before.clear()
        self._turn(self._place, -1)

    def take_offer(self) -> None:
        """Read the page for where the person is."""
        self.open_at(self._place)

    def show_page(self, name: str) -> None:
        """All of a page; of an unknown one, the first steps."""
        self._own = True
        self._turn(name, -1)

    def show_section(self, section: HelpSection) -> None:
        """One section, as a search found it."""
        self._own = True
        self._turn(section.page, section.number)

    def list_pages(self) -> None:
        """Read them, for a list of them all; ``listed`` follows, unless they are there."""
        if self._book is None:
            self._load()

    def show_whole(self) -> None:
        """All of the page whose section is read."""
        self._own = True
        self._turn(self.reading.page, -1)

    def show_news(self) -> None:
        """What is new, the newest version first."""
        self._own = True
        self._turn(NEWS, -1)

    def back(self) -> None:
        """What was read before."""
        if self._before:
            before = self._before.pop()
            self._own = before.page != self._place
            self._show(before)

    def search(self, query: str) -> None:
        """Find while it is typed; with nothing typed there is nothing found, and the page stays."""
        self._query = query
        if self._book is not None:
            self.result = self._book.find(query) if query.strip() else HelpResult(query)
            self.found.emit(self.result)

    def go_there(self, section: HelpSection) -> None:
        """Show the place that a section is about."""
        if only_shows(section.there):
            self.there_wanted.emit(section.there)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _turn(self, name: str, number: int) -> None:
        self._wanted = (name, number)
        if self._book is None:
            self._load()
            return
        made = self._made(name, number)
        if made != self.reading:
            if self.reading.sections and self._own:
                self._before = [*self._before[-30:], self.reading]
            self._show(made)

    def _made(self, name: str, number: int) -> HelpReading:
        assert self._book is not None
        if name == NEWS:
            return HelpReading(NEWS, NEWS_TITLE, tuple(self._book.news))
        page = self._book.pages.get(name) or self._book.pages.get(FIRST)
        if page is None:
            return HelpReading(name)
        if 0 <= number < len(page.sections):
            return HelpReading(page.name, page.title, (page.sections[number],), whole=len(page.sections) == 1)
        return HelpReading(page.name, page.title, page.sections)

    def _show(self, reading: HelpReading) -> None:
        self.reading = reading
        self.turned.emit()

    def _load(self) -> None:
        if not self._reading:
            self._reading = True
            self._bridge.spawn(self._loaded(), name="read the pages of help")

    async def _loaded(self) -> None:
        try:
            self._book = await self._bridge.in_thread(self._read)
        finally:
            self._reading = False
        self.listed.emit()
        if self._wanted[0]:
            self._turn(*self._wanted)
        if self._query.strip():
            self.search(self._query)
