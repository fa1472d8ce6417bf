"""The document beside the open chat, page by page: the view-model of the Document panel."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.files.documents import LOCKED, WRONG_PASSWORD, Box, DocumentRefused, OpenDocument, read_citation
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import DocumentBlock
from desktop.domain.text.passages import occurrences, passage
from desktop.domain.text.words import size_words
from desktop.presenter.common.held import HeldOpen
from desktop.presenter.documents.searching import DocumentSearch

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.documents.service import DocumentService

View = Literal["page", "text"]
ABOVE = 5
"""Rows above a cell that are shown with it."""
ROOM = 24_000
"""Characters of a part that are shown."""
NEAR = 200
"""Up to this line of a part its text is shown from its beginning."""
CLOSES = 60_000
"""Milliseconds without a page after which the process that reads is ended."""


@dataclass(frozen=True, slots=True)
class ShownPart:
    """What the panel shows."""

    name: str
    """The document."""
    title: str = ""
    """What it calls itself, or how large it is."""
    unit: str = "page"
    """What its parts are."""
    count: int = 1
    """How many of them."""
    part: int = 1
    """The one that is shown."""
    label: str = ""
    """How an answer names it."""
    view: View = "page"
    """As it is printed, or as the model read it."""
    has_pictures: bool = False
    """Whether it can be shown as it is printed."""
    picture: bytes = b""
    """The page as PNG."""
    text: str = ""
    """Its text."""
    loading: bool = False
    """Whether it is still to come."""
    problem: str = ""
    """Why it cannot be shown."""
    locked: bool = False
    """Whether its password is missing."""
    marks: tuple[tuple[Box, ...], ...] = ()
    """Places on the picture that are marked: the passage that is cited, or what is looked for."""
    stretches: tuple[tuple[int, int], ...] = ()
    """The same in the text."""
    at: int = -1
    """Which of the marks the person is at; -1: none."""
    is_cited: bool = False
    """Whether the mark is the passage that is cited."""
    from_end: bool = False
    """Whether its end is to be seen first: the person came from the part behind it."""


class DocumentViewModel(QObject):
    """``opened``: a document is to be shown; ``changed``: what is shown is another; ``said``: a sentence;
    ``copied``: name and bytes of an original that is to be saved; ``found``: at which of how many places of what is
    looked for the person is; ``looking``: at which part a search is."""

    opened = Signal()
    found = Signal(int, int)
    looking = Signal(str)
    changed = Signal()
    said = Signal(str)
    copied = Signal(str, object)

    def __init__(self, service: DocumentService, bridge: Bridge, thread: Callable[[], str]) -> None:
        super().__init__()
        self._service, self._bridge, self._thread = service, bridge, thread
        self.shown = ShownPart("")
        self.width = 900
        """Pixels of a page in width, as the panel has room for."""
        self._block: DocumentBlock | None = None
        self._view: View = "page"
        self._held: HeldOpen[OpenDocument] | None = None
        self._turn = asyncio.Lock()
        self._asked = 0
        self._claim, self._row = "", 0
        self._search = DocumentSearch()
        self._searching: asyncio.Future[None] | None = None
        self._idle = QTimer(self, singleShot=True, interval=CLOSES)
        self._idle.timeout.connect(self.close)

    def cite(self, text: str, claim: str = "") -> None:
        """Show the place that an answer names, or a document by its name. ``claim``: the sentence that names it; the
        passage that says the same is marked."""
        name, part, sheet, row = read_citation(text) or (text, 1, "", 0)
        self.open(name, part, sheet, row, claim)

    def open(self, name: str, part: int = 1, sheet: str = "", row: int = 0, claim: str = "") -> None:
        """Show a document of the open chat at a part, by its number or the name of a sheet, from about a row on."""
        thread_id = self._thread()

        async def work() -> None:
            block = await self._service.find(thread_id, name)
            if self._thread() != thread_id:  # another chat is open by now
                return
            if block is None:
                self.said.emit(f"There is no document {name} in this chat.")
                return
            if self._block is None or block.digest != self._block.digest:
                await self._let_go()
            if self._thread() != thread_id:
                return
            self._forget_search()
            self._block, self._claim, self._row = block, claim, row
            names = block.names.split("\n")
            number = names.index(sheet) + 1 if sheet and sheet in names else part or 1
            self.opened.emit()
            await self._show(number, row, claim=claim)

        self._bridge.spawn(work(), name="open a document", on_error=self._failed)

    def go(self, part: int, *, from_end: bool = False) -> None:
        """Show another part of it; one that is not there is the nearest. ``from_end``: its end first."""
        self._bridge.spawn(self._show(part, from_end=from_end), name="show a page", on_error=self._failed)

    def turn(self, step: int) -> None:
        """The next part, or the one before; at the ends nothing."""
        if 1 <= self.shown.part + step <= self.shown.count:
            self.go(self.shown.part + step, from_end=step < 0)

    def find(self, words: str, forward: bool = True) -> None:
        """Look for words in the whole document and show the first place from here on; the same words again: the next
        one, or the one before. "" ends it."""
        if words and words == self._search.words:
            if self._searching is None:
                self._search.step(forward)
                self._go_to_found()
            return
        had = self._search.words
        self._forget_search(words)
        if words and self._block is not None:
            self._searching = self._bridge.spawn(self._look_for(words), name="search a document", on_error=self._failed)
        elif had and self._block is not None:
            self.go(self.shown.part)

    def _forget_search(self, words: str = "") -> None:
        if self._searching is not None:
            self._searching.cancel()
        self._search, self._searching = DocumentSearch(words), None
        self.found.emit(0, 0)

    async def _look_for(self, words: str) -> None:
        block = self._block
        try:
            if block is None:
                return
            async with self._turn:
                document = await self._opened(block)

            def progress(part: int) -> None:
                self._idle.start()
                self.looking.emit(f"{block.unit.capitalize()} {part:,} of {block.count:,}")

            found = await document.find(words, progress)
            self._search = DocumentSearch(words, found, self.shown.part)
        except DocumentRefused:
            await self._let_go()
            raise
        finally:
            if self._search.words == words:
                self._searching = None
        self._go_to_found()

    def _go_to_found(self) -> None:
        search = self._search
        self.found.emit(search.place, search.count)
        if search.count:
            self.go(search.part)

    def set_view(self, view: View) -> None:
        """As it is printed, or as the model read it."""
        self._view = view
        self.go(self.shown.part)

    def unlock(self, password: str) -> None:
        """Try a password of the document that is shown; a wrong one is said."""
        block, part = self._block, self.shown.part
        if block is None or not password:
            return

        async def work() -> None:
            try:
                await self._service.unlock(block.digest, block.name, password)
            except DocumentRefused as why:
                if self._block is block:
                    self._tell(replace(self.shown, problem=str(why)))
                return
            if self._block is block:
                await self._show(part)

        self._bridge.spawn(work(), name="unlock a document", on_error=self._failed)

    def save_copy(self) -> None:
        """Get the original, to be saved."""
        block = self._block
        if block is None:
            return

        async def work() -> None:
            self.copied.emit(block.name, await self._service.copy(block.digest))

        self._bridge.spawn(work(), name="save a document", on_error=self._failed)

    def close(self) -> None:
        """The panel is closed, or nobody has turned a page for a while: the process that reads is ended."""
        self._idle.stop()
        self._forget_search()
        self._bridge.spawn(self._let_go(), name="close a document")

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _show(self, part: int, row: int = 0, *, claim: str = "", from_end: bool = False) -> None:
        block = self._block
        if block is None:
            return
        self._asked += 1
        asked, part = self._asked, max(1, min(part, block.count))
        if claim or row or part != self.shown.part:
            self._claim, self._row = claim, row
        self._tell(_Blank(block, part, self._view, loading=True).made())
        async with self._turn:
            if asked != self._asked:  # another page was asked for meanwhile
                return
            try:
                shown = replace(await self._read(block, part), from_end=from_end)
            except KnownError as error:
                await self._drop()
                locked = error.code in (LOCKED, WRONG_PASSWORD)
                problem = str(error) if locked else error.advice
                shown = replace(_Blank(block, part, self._view, problem=problem).made(), locked=locked)
        if asked == self._asked:
            self._tell(shown)

    async def _read(self, block: DocumentBlock, part: int) -> ShownPart:
        document = await self._opened(block)
        about, view = document.about, self._view if document.about.pictures else "text"
        shown = ShownPart(
            block.name,
            about.title or size_words(block.size),
            about.unit,
            about.count,
            part,
            about.label(block.name, part),
            view,
            about.pictures,
            is_cited=not self._search.words,
        )
        words, cited = (self._search.words, False) if self._search.words else (self._claim, True)
        at = self._search.at_in(part) if self._search.words else 0
        if view == "page":
            picture = await document.picture(part, self.width)
            marks = await document.marks(part, words, cited=cited) if words else ()
            return replace(shown, picture=picture, marks=marks, at=at)
        line = 1
        if cited:
            line = max(1, self._row - ABOVE)
        elif at >= 0 and self._search.line > NEAR:
            line = self._search.line - ABOVE
            at -= self._search.before(line)
        told = await document.text(part, part, line=line, room=ROOM)
        text = told.parts[0][1] if told.parts else ""
        if cited and self._row:
            stretches = row_of(text, self._row)
        else:
            stretches = await asyncio.to_thread(passages if cited else occurrences, text, words) if words else []
        text += "\n[This goes on.]" if told.next_part else ""
        return replace(shown, text=text or "[There is no text here.]", stretches=tuple(stretches), at=at)

    async def _opened(self, block: DocumentBlock) -> OpenDocument:
        self._idle.start()
        if self._held is None:
            self._held = HeldOpen[OpenDocument]()
            opened = self._service.opened(block.digest, block.name)
            self._held.task = self._bridge.spawn(self._held.hold(opened), name="hold a document open")
            if self._held.task.cancelled():  # the app closes
                self._held = None
                raise asyncio.CancelledError
        return await self._held.value

    async def _let_go(self) -> None:
        async with self._turn:
            await self._drop()

    async def _drop(self) -> None:
        held, self._held = self._held, None
        if held is not None and held.task is not None:
            held.over.set()
            await asyncio.wait({held.task})

    def _tell(self, shown: ShownPart) -> None:
        self.shown = shown
        self.changed.emit()

    def _failed(self, error: AssentError) -> None:
        self.said.emit(error.advice if isinstance(error, KnownError) else "The document cannot be shown.")


def passages(text: str, claim: str) -> list[tuple[int, int]]:
    """The passage that says what a claim says, if there is one."""
    found = passage(text, claim)
    return [found] if found is not None else []


def row_of(text: str, row: int) -> list[tuple[int, int]]:
    """Where a row of a sheet stands in its text."""
    found = re.search(rf"^\| {row}(?: \(hidden\))? \|.*$", text, re.MULTILINE)
    return [found.span()] if found is not None else []


@dataclass(frozen=True, slots=True)
class _Blank:
    """A page before it is there, or that does not come."""

    block: DocumentBlock
    part: int
    view: View
    loading: bool = False
    problem: str = ""

    def made(self) -> ShownPart:
        """As it is shown."""
        block = self.block
        return ShownPart(
            block.name,
            size_words(block.size),
            block.unit,
            block.count,
            self.part,
            view=self.view,
            has_pictures=block.unit == "page" and block.what.startswith("PDF"),
            loading=self.loading,
            problem=self.problem,
        )
