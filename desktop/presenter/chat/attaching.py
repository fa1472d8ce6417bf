"""Reading what a person attaches, one after the other: text and pictures in a thread, documents in a process each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.messages import Block, FileBlock
from desktop.presenter.chat.attachments import COUNT_LIMIT, image_block, read_attachment, read_document

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge


class AttachesDocuments(Protocol):
    """What reads documents."""

    def attach(self, name: str, data: bytes, room: int) -> Coroutine[Any, Any, Sequence[Block]]:
        """What goes with a message: the document, up to ``room`` characters of its text, and pictures of its pages."""
        ...


class AttachingViewModel(QObject):
    """Files, images and long pasted text become blocks; what is refused is said in words. ``ready``: the blocks of one
    attachment. ``reading`` says which document is being read, "" when none is. ``room``: how many characters of one the
    model gets at once."""

    ready = Signal(object)
    refused = Signal(str)
    reading = Signal(str)

    def __init__(self, bridge: Bridge, documents: AttachesDocuments, room: Callable[[], int]) -> None:
        super().__init__()
        self._bridge = bridge
        self._documents = documents
        self._room = room
        self._work: set[asyncio.Future[Sequence[Block]]] = set()

    def files(self, paths: tuple[str, ...]) -> None:
        """Read files; folders, devices and too large ones are refused by name."""
        if len(paths) > COUNT_LIMIT:
            self.refused.emit(f"At most {COUNT_LIMIT} files go with one message.")
        self._bridge.spawn(self._files(paths[:COUNT_LIMIT]), name="read attachments")

    def stop(self) -> None:
        """The person does not wait for the documents that are being read."""
        for work in tuple(self._work):
            work.cancel()

    async def _files(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            try:
                blocks = await self._one(path)
            except KnownError as error:
                self.refused.emit(error.advice)
            else:
                self.ready.emit(tuple(blocks))

    async def _one(self, path: str) -> Sequence[Block]:
        data = await self._bridge.in_thread(read_document, path)
        if data is None:
            return [await self._bridge.in_thread(read_attachment, path)]
        name = Path(path).name
        reading = self._documents.attach(name, data, self._room())
        work = self._bridge.spawn(reading, name="read a document", on_error=_told_by_the_reader)
        self._work.add(work)
        self.reading.emit(f"Reading {name}")
        try:
            return await work
        except KnownError as error:
            raise KnownError(f"“{name}” was not attached. {error}", next_step=error.next_step) from None
        except asyncio.CancelledError:
            if not work.cancelled():  # the app closes
                work.cancel()
                raise
            return []
        finally:
            self._work.discard(work)
            if not self._work:
                self.reading.emit("")

    def image(self, encoded: Callable[[], bytes]) -> None:
        """Attach a pasted image; ``encoded`` makes its PNG bytes and is called in a thread."""
        self._bridge.spawn(self._image(encoded), name="read pasted image")

    async def _image(self, encoded: Callable[[], bytes]) -> None:
        try:
            block = await self._bridge.in_thread(lambda: image_block(encoded()))
        except KnownError as error:
            self.refused.emit(error.advice)
        else:
            self.ready.emit((block,))

    def text(self, text: str) -> None:
        """Pasted text that is too long for the composer travels as a file."""
        self.ready.emit((FileBlock("pasted text.txt", text),))


def _told_by_the_reader(_error: AssentError) -> None:
    """Who waits for the document is told, and says it."""
