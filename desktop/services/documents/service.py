"""Documents of threads: the original is kept, read in a process of its own, and opened again for its pages.

Originals go when no message, draft or waiting message has them any more.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import BinaryIO

from desktop.domain.errors import StoreError
from desktop.domain.estimates import CHARACTERS_PER_TOKEN
from desktop.domain.files.documents import (
    LOCKED,
    WRONG_PASSWORD,
    Asking,
    DocumentOpener,
    DocumentRefused,
    OpenDocument,
    cite_name,
    own_name,
)
from desktop.domain.files.pictures import PictureOpener
from desktop.domain.messages import Block, DocumentBlock, MediaBlock
from desktop.files.nameless import nameless_file
from desktop.store.documents import DocumentRepository
from desktop.store.kept_files import KeptFiles
from desktop.tools.documents.told import as_image, how_cited, how_on, notes_of, told

SHARE, LEAST, MOST = 8, 8_000, 100_000
"""What part of a model's window the text of one document takes at once; characters of it at least and at most."""
UNKNOWN_WINDOW = 32_000
SCANS, SCAN_WIDTH = 6, 1_100
"""Pages without text that go to the model as pictures with the message, and their pixels in width."""
YOUNG_S = 24 * 3600.0
"""Seconds for which an original is kept although nobody needs it yet: it is being attached."""


def room_in(window: int | None) -> int:
    """Characters of a document that a model with this window gets at once."""
    tokens = (window or UNKNOWN_WINDOW) // SHARE
    return max(LEAST, min(tokens * CHARACTERS_PER_TOKEN, MOST))


class DocumentService:
    """``opener`` reads, ``kept`` has the originals, ``documents`` knows which are needed. ``pictures`` makes the
    pictures of pages anew, for what drew them has read what a stranger wrote; None: they stay as they came."""

    def __init__(
        self,
        opener: DocumentOpener,
        kept: KeptFiles,
        documents: DocumentRepository,
        pictures: PictureOpener | None = None,
    ) -> None:
        self._opener = opener
        self._pictures = pictures
        self._kept = kept
        self._documents = documents
        self._passwords: dict[str, str] = {}
        """Of documents that a person has unlocked, by their digest, while Assent runs: nowhere else."""

    async def attach(
        self, name: str, data: bytes, room: int, asking: Asking | None = None, taken: dict[str, str] | None = None
    ) -> list[Block]:
        """What goes with a message: the document, and pictures of its first pages where these have no text. ``asking``:
        who is asked for its password, and told how far it is; nothing goes where they give none. ``taken``: the
        digests of the thread's other documents by their names (``own_name``). Raises DocumentRefused and StoreError."""
        digest = await asyncio.to_thread(self._keep, data)
        async with AsyncExitStack() as held:
            document = await self._opened_by(held, digest, name, asking)
            if document is None:
                return []
            about = document.about
            name = own_name(cite_name(name, about.kind), digest, {} if taken is None else taken)

            def progress(part: int) -> None:
                if asking is not None:
                    asking.progress(f"{about.unit} {part:,} of {about.count:,}")

            text = await document.text(1, about.count, room=room, progress=progress)
            block = DocumentBlock(
                name,
                told(name, about, text),
                digest=digest,
                size=len(data),
                what=f"{about.kind}, {about.amount()}",
                unit=about.unit,
                count=about.count,
                names="\n".join(about.names),
                notes=" ".join(part for part in (notes_of(about), how_cited(name, about)) if part),
                more=_more(name, how_on(about, text, about.count)) if text.next_part else "",
            )
            drawn: list[MediaBlock] = []
            for part in text.scans[:SCANS] if about.pictures else ():
                progress(part)
                drawn.append(as_image(await document.picture(part, SCAN_WIDTH), about.label(name, part)))
        if self._pictures is None or not drawn:
            return [block, *drawn]
        made, _ = await self._pictures.remade(drawn)
        return [block, *(one for one in made if one is not None)]

    async def _opened_by(
        self, held: AsyncExitStack, digest: str, name: str, asking: Asking | None
    ) -> OpenDocument | None:
        """A document, open; its password is asked for until one opens it. None: no password was given."""
        file = await asyncio.to_thread(self._original, digest)
        held.callback(file.close)
        password = self._passwords.get(digest, "")
        while True:
            try:
                document = await held.enter_async_context(self._opener.open(file.fileno(), name, password))
            except DocumentRefused as why:
                if asking is None or why.code not in (LOCKED, WRONG_PASSWORD):
                    raise
                said = "" if why.code == LOCKED else str(why)
            else:
                self._remember(digest, password)
                return document
            password = await asking.password(name, said)
            if not password:
                return None

    @asynccontextmanager
    async def opened(self, digest: str, name: str) -> AsyncIterator[OpenDocument]:
        """An original that is kept, open. Raises DocumentRefused and StoreError."""
        async with AsyncExitStack() as held:
            file = await asyncio.to_thread(self._original, digest)
            held.callback(file.close)
            password = self._passwords.get(digest, "")
            yield await held.enter_async_context(self._opener.open(file.fileno(), name, password))

    async def unlock(self, digest: str, name: str, password: str) -> None:
        """Try the password of a document, and keep it in memory if it opens it. Raises DocumentRefused and
        StoreError."""
        async with AsyncExitStack() as held:
            file = await asyncio.to_thread(self._original, digest)
            held.callback(file.close)
            await held.enter_async_context(self._opener.open(file.fileno(), name, password))
            self._remember(digest, password)

    def _remember(self, digest: str, password: str) -> None:
        if password:
            self._passwords[digest] = password

    async def of_thread(self, thread_id: str) -> list[DocumentBlock]:
        """The documents of a thread, the newest first."""
        return await self._documents.of_thread(thread_id=thread_id)

    async def has_any(self, thread_id: str) -> bool:
        """Whether a thread has one."""
        return await self._documents.has_any(thread_id=thread_id)

    async def find(self, thread_id: str, name: str) -> DocumentBlock | None:
        """The document of a thread by its name, the newest of several. Case does not count."""
        wanted = (name.casefold(), cite_name(name).casefold())
        return next((one for one in await self.of_thread(thread_id) if one.name.casefold() in wanted), None)

    async def copy(self, digest: str) -> bytes:
        """An original, to be saved elsewhere. Raises DocumentRefused and StoreError."""
        return await asyncio.to_thread(self._read, digest)

    async def sweep(self, now: Callable[[], float] = time.time) -> None:
        """Remove originals that nobody needs any more."""
        needed, before = await self._documents.needed(), now() - YOUNG_S
        await asyncio.to_thread(lambda: self._kept.remove(self._kept.stray(needed, before)))

    # -- in threads ---------------------------------------------------------------------------------------------------

    def _keep(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        try:
            self._kept.keep(digest, data)
        except OSError as error:
            words = f"The document cannot be kept: {error.strerror or 'the disk refuses it'}."
            raise DocumentRefused(words, code="document.not_kept", next_step="Make room on the disk.") from None
        return digest

    def _original(self, digest: str) -> BinaryIO:
        """An open file with a handle of its own: what is kept packed is unpacked into one without a name."""
        try:
            stream = self._kept.open(digest)
        except StoreError:
            raise DocumentRefused("Its original is not kept any more.", next_step="Attach it again.") from None
        try:
            os.fstat(stream.fileno())
        except OSError:
            file = nameless_file()
            with stream:
                shutil.copyfileobj(stream, file)
            file.flush()
            return file
        return stream

    def _read(self, digest: str) -> bytes:
        with self._original(digest) as stream:
            stream.seek(0)
            data = stream.read()
        if hashlib.sha256(data).hexdigest() != digest:
            raise DocumentRefused("What was kept of it is damaged.", next_step="Attach it again.")
        return data


def _more(name: str, how: str) -> str:
    return f"That is not all of it: {how}, asking the tool read_document for {name}" if how else ""
