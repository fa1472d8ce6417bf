"""The document beside the open chat, page by page: the view-model of the Document panel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.files.documents import OpenDocument, read_citation
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import DocumentBlock
from desktop.domain.text.words import size_words

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.documents.service import DocumentService

View = Literal["page", "text"]
ABOVE = 5
"""Rows above a cell that are shown with it."""
ROOM = 24_000
"""Characters of a part that are shown."""
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


class DocumentViewModel(QObject):
    """``opened``: a document is to be shown; ``changed``: what is shown is another; ``said``: a sentence;
    ``copied``: name and bytes of an original that is to be saved."""

    opened = Signal()
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
        self._held: _Held | None = None
        self._turn = asyncio.Lock()
        self._asked = 0
        self._idle = QTimer(self, singleShot=True, interval=CLOSES)
        self._idle.timeout.connect(self.close)

    def cite(self, text: str) -> None:
        """Show the place that an answer names, or a document by its name."""
        self.open(*(read_citation(text) or (text,)))

    def open(self, name: str, part: int = 1, sheet: str = "", row: int = 0) -> None:
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
            self._block = block
            names = block.names.split("\n")
            number = names.index(sheet) + 1 if sheet and sheet in names else part or 1
            self.opened.emit()
            await self._show(number, max(1, row - ABOVE))

        self._bridge.spawn(work(), name="open a document", on_error=self._failed)

    def go(self, part: int) -> None:
        """Show another part of it; one that is not there is the nearest."""
        self._bridge.spawn(self._show(part), name="show a page", on_error=self._failed)

    def set_view(self, view: View) -> None:
        """As it is printed, or as the model read it."""
        self._view = view
        self.go(self.shown.part)

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
        self._bridge.spawn(self._let_go(), name="close a document")

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _show(self, part: int, line: int = 1) -> None:
        block = self._block
        if block is None:
            return
        self._asked += 1
        asked, part = self._asked, max(1, min(part, block.count))
        self._tell(_Blank(block, part, self._view, loading=True).made())
        async with self._turn:
            if asked != self._asked:  # another page was asked for meanwhile
                return
            try:
                shown = await self._read(block, part, line)
            except KnownError as error:
                await self._drop()
                shown = _Blank(block, part, self._view, problem=error.advice).made()
        if asked == self._asked:
            self._tell(shown)

    async def _read(self, block: DocumentBlock, part: int, line: int) -> ShownPart:
        document = await self._opened(block)
        about, view = document.about, self._view if document.about.pictures else "text"
        picture, text = b"", ""
        if view == "page":
            picture = await document.picture(part, self.width)
        else:
            told = await document.text(part, part, line=line, room=ROOM)
            text = told.parts[0][1] if told.parts else ""
            text += "\n[This goes on.]" if told.next_part else ""
        return ShownPart(
            block.name,
            about.title or size_words(block.size),
            about.unit,
            about.count,
            part,
            about.label(block.name, part),
            view,
            about.pictures,
            picture,
            text or ("[There is no text here.]" if view == "text" else ""),
        )

    async def _opened(self, block: DocumentBlock) -> OpenDocument:
        self._idle.start()
        if self._held is None:
            self._held = _Held()
            opened = self._service.opened(block.digest, block.name)
            self._held.task = self._bridge.spawn(self._held.hold(opened), name="hold a document open")
            if self._held.task.cancelled():  # the app closes
                self._held = None
                raise asyncio.CancelledError
        return await self._held.document

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


class _Held:
    """A document that is held open by a task of its own, which opens and closes it."""

    def __init__(self) -> None:
        self.document: asyncio.Future[OpenDocument] = asyncio.get_running_loop().create_future()
        self.over = asyncio.Event()
        self.task: asyncio.Future[None] | None = None

    async def hold(self, opened: AbstractAsyncContextManager[OpenDocument]) -> None:
        """Until it is over. Why it could not be opened is told to who waits for it."""
        try:
            async with opened as document:
                self.document.set_result(document)
                await self.over.wait()
        except KnownError as error:
            if self.document.done():
                raise
            self.document.set_exception(error)
        finally:
            self.document.cancel()


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
