"""Opens documents, each in a process of its own, which is gone when nobody reads in it any more."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from desktop.domain.errors import ChildDied, ProtocolViolation
from desktop.domain.files.documents import (
    MAX_FOUND,
    MAX_MARKS,
    Box,
    DocumentAbout,
    DocumentRefused,
    DocumentText,
    FoundPart,
    Progress,
    about_from,
    boxes_from,
)
from desktop.domain.processes import Child, ChildRefused, ChildStream
from desktop.systems import current

DEADLINE_S = 120.0
"""Seconds for one answer; the process has limits of its own, which are shorter as long as the machine is not busy."""
PICTURE = 12_000_000
"""Characters of a page's picture in base64."""
SLACK = 40_000
"""Characters beyond what was asked for that are taken: lines are not cut."""
_ENDS = {
    "signal 27": "It takes more than a minute of the processor to read; it was given up.",
    "signal 9": "It takes more memory to read than there is.",
}
ADVICE: Mapping[str, str] = {
    "document.password": "Attach it, or open it in the chat: its password is asked for there.",
    "document.wrong_password": "Try again: capitals count.",
    "document.unknown": "Save it as PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, HTML or CSV.",
    "document.broken": "Get it again from where it came from, or open it in its own program and save it anew.",
    "document.died": "Open it in its own program and save it anew, or as PDF.",
}


class DocumentReader:
    """Implements ``domain.files.documents.DocumentOpener``. ``child`` makes the process for a handle."""

    def __init__(self, child: Callable[[int], Child]) -> None:
        self._child = child

    @asynccontextmanager
    async def open(self, handle: int, name: str, password: str = "") -> AsyncIterator[OpenedDocument]:
        """See ``DocumentOpener``."""
        if current.WINDOWS:  # pragma: no cover - Windows hands no open files over
            raise DocumentRefused("Documents cannot be read on this system yet.")
        child = self._child(handle)
        try:
            document = OpenedDocument(child)
            await document.look(name, password)
            yield document
        finally:
            await child.stop()


class OpenedDocument:
    """Implements ``domain.files.documents.OpenDocument``. What the process says is checked and capped."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._about = DocumentAbout("", "part", 1)

    @property
    def about(self) -> DocumentAbout:
        return self._about

    async def look(self, name: str, password: str) -> None:
        """Find out what it is. Raises DocumentRefused."""
        stream = self._child.stream("about", {"name": name, "password": password}, deadline_s=DEADLINE_S)
        told = await self._all(stream, lambda _: None)
        try:
            self._about = about_from(told)
        except ValueError:
            raise DocumentRefused("The program that reads it said nothing that makes sense.") from None

    async def text(
        self, first: int, last: int, *, line: int = 1, room: int, progress: Progress | None = None
    ) -> DocumentText:
        asked = {"first": first, "last": last, "line": line, "room": room}
        parts: dict[int, list[str]] = {}
        size = 0

        def take(item: Any) -> None:
            nonlocal size
            part, text = item.get("part"), item.get("text")
            if type(part) is not int or not first <= part <= last or not isinstance(text, str):
                raise ProtocolViolation("a part of a document is none that was asked for")
            size += len(text)
            if size > room + SLACK:
                raise ProtocolViolation("more of a document than was asked for")
            parts.setdefault(part, []).append(text)
            if progress is not None:
                progress(part)

        told = await self._all(self._child.stream("text", asked, deadline_s=DEADLINE_S), take)
        more = told.get("more") is True and type(told.get("part")) is int and type(told.get("line")) is int
        more = more and first <= told["part"] <= last
        scans = told.get("scans")
        return DocumentText(
            tuple((part, "".join(texts).strip("\n")) for part, texts in sorted(parts.items())),
            told["part"] if more else 0,
            told["line"] if more else 1,
            tuple(part for part in scans if type(part) is int) if isinstance(scans, list) else (),
        )

    async def marks(self, part: int, words: str, *, cited: bool) -> tuple[tuple[Box, ...], ...]:
        asked = {"part": part, "words": words, "cited": cited}
        told = await self._all(self._child.stream("marks", asked, deadline_s=DEADLINE_S), lambda _: None)
        return boxes_from(told.get("marks"))

    async def find(self, words: str, progress: Progress) -> tuple[FoundPart, ...]:
        found: list[FoundPart] = []

        def take(item: Any) -> None:
            part, count, lines = item.get("part"), item.get("count"), item.get("lines")
            known = type(part) is int and type(count) is int and isinstance(lines, list)
            if not known or not 1 <= part <= self._about.count:
                raise ProtocolViolation("what was found in a document is in none of its parts")
            if count > 0 and len(found) < MAX_FOUND:
                found.append(FoundPart(part, count, tuple(one for one in lines[:MAX_MARKS] if type(one) is int)))
            progress(part)

        await self._all(self._child.stream("find", {"words": words}, idle_s=DEADLINE_S), take)
        return tuple(found)

    async def picture(self, part: int, width: int) -> bytes:
        pieces: list[str] = []
        size = 0

        def take(item: Any) -> None:
            nonlocal size
            data = item.get("data")
            if not isinstance(data, str) or size + len(data) > PICTURE:
                raise ProtocolViolation("a picture of a page is none, or too large")
            size += len(data)
            pieces.append(data)

        asked = {"part": part, "width": width}
        await self._all(self._child.stream("picture", asked, deadline_s=DEADLINE_S), take)
        try:
            return base64.b64decode("".join(pieces), validate=True)
        except ValueError:
            raise DocumentRefused("The picture of the page cannot be read.") from None

    async def _all(self, stream: ChildStream, take: Callable[[Any], None]) -> Mapping[str, Any]:
        """Read a stream to its end; its value. Raises DocumentRefused."""
        try:
            async for item in stream:
                take(item if isinstance(item, Mapping) else {})
        except ChildRefused as error:
            raise DocumentRefused(str(error), code=error.code, next_step=ADVICE.get(error.code, "")) from None
        except ChildDied:
            how = self._child.health.last_end
            words = _ENDS.get(how, f"The program that reads it broke down over it ({how or 'no reason given'}).")
            raise DocumentRefused(words, code="document.died", next_step=ADVICE["document.died"]) from None
        except ProtocolViolation:
            words = "The program that reads it said what it may not say; nothing of it was taken."
            raise DocumentRefused(words, code="document.died", next_step=ADVICE["document.died"]) from None
        except TimeoutError:
            raise DocumentRefused("It takes too long to read; it was given up.", code="document.died") from None
        finally:
            stream.cancel()
        return stream.value if isinstance(stream.value, Mapping) else {}
