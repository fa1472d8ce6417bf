"""Reading what a person attaches, two at a time: text in a thread, pictures and documents in a process each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.files.documents import Asking
from desktop.domain.files.pictures import PictureOpener
from desktop.domain.messages import Block, FileBlock, ImageBlock
from desktop.presenter.chat.attachments import (
    COUNT_LIMIT,
    PASTED,
    opened_picture,
    read_attachment,
    read_document,
    read_picture,
)

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge


AT_ONCE = 2
TOLD_EACH = 0.2
"""Seconds between two words on how far a document is read."""
ELSEWHERE = "What was read is attached in the chat that it was chosen for."
KeepElsewhere = Callable[[Sequence[Block]], bool]
"""Keeps blocks with the chat they were chosen for, if another one is open by now: then the answer is True."""


class AttachesDocuments(Protocol):
    """What reads documents."""

    def attach(
        self, name: str, data: bytes, room: int, asking: Asking | None = None, taken: dict[str, str] | None = None
    ) -> Coroutine[Any, Any, list[Block]]:
        """What goes with a message: the document, up to ``room`` characters of its text, and pictures of its pages.
        ``taken``: the digests of other documents by their names, which it does not get."""
        ...


class SeesPictures(Protocol):
    """What knows whether the chosen model sees pictures."""

    @property
    def known(self) -> bool | None:
        """Whether it does, as far as that is known."""
        ...

    async def learn(self) -> None:
        """Ask its server, where nobody has yet."""
        ...


class AttachingViewModel(QObject):
    """Files, images and long pasted text become blocks; what is refused is said in words. ``ready``: the blocks of one
    attachment. ``reading`` says what is being read, "" when nothing is. ``learned``: what ``unseen`` says may be
    another. ``locked``: the name of a document whose password is asked for ("" when that is over), and what was wrong
    with the last one. ``room``: how many characters of a document the model gets at once. ``others``: the documents
    that the chat has already, by name. ``here`` is asked as reading begins: what is read for one chat is never put into
    another, which may have a model of another company."""

    ready = Signal(object)
    refused = Signal(str)
    reading = Signal(str)
    learned = Signal()
    locked = Signal(str, str)

    def __init__(
        self,
        bridge: Bridge,
        documents: AttachesDocuments,
        room: Callable[[], int],
        pictures: PictureOpener,
        others: Callable[[], Awaitable[dict[str, str]]],
        sees: SeesPictures | None = None,
        here: Callable[[], KeepElsewhere] = lambda: lambda _blocks: False,
    ) -> None:
        super().__init__()
        self._sees, self._here = sees, here
        self._others = others
        self._names: dict[str, str] = {}
        self._pictures = pictures
        self._bridge = bridge
        self._documents = documents
        self._room = room
        self._work: dict[asyncio.Future[Sequence[Block]], str] = {}
        self._asked: asyncio.Future[str] | None = None
        self._one_at_a_time = asyncio.Lock()

    def files(self, paths: tuple[str, ...]) -> None:
        """Read files; folders, devices and too large ones are refused by name."""
        if len(paths) > COUNT_LIMIT:
            self.refused.emit(f"At most {COUNT_LIMIT} files go with one message.")
        self._bridge.spawn(self._files(paths[:COUNT_LIMIT], self._here()), name="read attachments")

    def begin(self) -> None:
        """Another chat is open: the names of the last one's documents are free in it."""
        self._names = {}

    def unseen(self, blocks: Sequence[Block]) -> str:
        """What is said of the pictures in a message before it is sent; "" where the model may see them."""
        count = sum(isinstance(block, ImageBlock) for block in blocks)
        if not count or self._sees is None or self._sees.known is not False:
            return ""
        what = "the picture: it" if count == 1 else f"the {count} pictures: it"
        return f"This model does not see {what} is only told that there {'is one' if count == 1 else 'are some'}."

    def stop(self) -> None:
        """The person does not wait for what is being read."""
        for work in tuple(self._work):
            work.cancel()

    def unlock(self, password: str) -> None:
        """The password that was asked for; "": the document is left out."""
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(password)

    async def password(self, name: str, said: str) -> str:
        """Ask for the password of a document; one is asked for at a time."""
        async with self._one_at_a_time:
            asked: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            self._asked = asked
            self.reading.emit("")
            self.locked.emit(name, said)
            try:
                return await asked
            finally:
                self._asked = None
                self.locked.emit("", "")
                self.reading.emit(next(reversed(self._work.values()), ""))

    async def _files(self, paths: tuple[str, ...], elsewhere: KeepElsewhere) -> None:
        """Two at a time, and told in their order."""
        names = self._names
        for name, digest in (await self._others()).items():
            names.setdefault(name, digest)
        turns = asyncio.Semaphore(AT_ONCE)
        works = [self._bridge.spawn(self._in_turn(turns, path, names), name="read an attachment") for path in paths]
        for work in works:
            self._tell(await work, elsewhere)

    async def _in_turn(
        self, turns: asyncio.Semaphore, path: str, names: dict[str, str]
    ) -> Sequence[Block] | KnownError:
        async with turns:
            try:
                return await self._one(path, names)
            except KnownError as error:
                return error

    def _tell(self, found: Sequence[Block] | KnownError, elsewhere: KeepElsewhere) -> None:
        if isinstance(found, KnownError):
            self.refused.emit(found.advice)
        elif found and elsewhere(found):
            self.refused.emit(ELSEWHERE)
        else:
            self.ready.emit(tuple(found))

    async def _one(self, path: str, names: dict[str, str]) -> Sequence[Block]:
        name = Path(path).name
        picture = await self._bridge.in_thread(read_picture, path)
        if picture is not None:
            return await self._waited_for(self._picture(picture, name), f"Opening {name}")
        data = await self._bridge.in_thread(read_document, path)
        if data is None:
            return [await self._bridge.in_thread(read_attachment, path)]
        return await self._waited_for(self._document(name, data, names), f"Reading {name}")

    async def _picture(self, data: bytes, name: str) -> Sequence[Block]:
        made = await opened_picture(self._pictures, data, name)
        if self._sees is not None and self._sees.known is None:
            self._bridge.spawn(self._learn(self._sees), name="whether the model sees")
        return [made]

    async def _learn(self, sees: SeesPictures) -> None:
        await sees.learn()
        self.learned.emit()

    async def _document(self, name: str, data: bytes, names: dict[str, str]) -> Sequence[Block]:
        try:
            return await self._documents.attach(name, data, self._room(), _BeingRead(self, name), names)
        except KnownError as error:
            raise KnownError(f"“{name}” was not attached. {error}", next_step=error.next_step) from None

    async def _waited_for(self, reading: Coroutine[Any, Any, Sequence[Block]], words: str) -> Sequence[Block]:
        """What another process reads, while the person is told of it and can stop it."""
        work = self._bridge.spawn(reading, name="read for a message", on_error=_told_by_the_reader)
        self._work[work] = words
        self.reading.emit(words)
        try:
            return await work
        except asyncio.CancelledError:
            if not work.cancelled():  # the app closes
                work.cancel()
                raise
            return []
        finally:
            del self._work[work]
            self.reading.emit(next(reversed(self._work.values()), ""))

    def image(self, encoded: Callable[[], bytes]) -> None:
        """Attach a pasted picture; ``encoded`` gives its bytes, in whatever format, and is called in a thread."""
        self._bridge.spawn(self._image(encoded, self._here()), name="read pasted picture")

    async def _image(self, encoded: Callable[[], bytes], elsewhere: KeepElsewhere) -> None:
        try:
            data = await self._bridge.in_thread(encoded)
            self._tell(await self._waited_for(self._picture(data, PASTED), "Opening the picture"), elsewhere)
        except KnownError as error:
            self.refused.emit(error.advice)

    def text(self, text: str) -> None:
        """Pasted text that is too long for the composer travels as a file."""
        self.ready.emit((FileBlock("pasted text.txt", text),))


class _BeingRead:
    """One document that is read: who is asked for its password and told how far it is."""

    def __init__(self, attaching: AttachingViewModel, name: str) -> None:
        self._attaching, self._name = attaching, name
        self._told = 0.0

    async def password(self, name: str, said: str) -> str:
        """See ``AttachingViewModel.password``."""
        return await self._attaching.password(name, said)

    def progress(self, words: str) -> None:
        """Said some times a second."""
        now = time.monotonic()
        if now - self._told > TOLD_EACH:
            self._told = now
            self._attaching.reading.emit(f"Reading {self._name}: {words}")


def _told_by_the_reader(_error: AssentError) -> None:
    """Who waits for the document is told, and says it."""
