"""The methods of the document host: ``about``, ``text`` and ``picture`` of the one document whose handle it was given.

It reads the file, loads its libraries, and then shuts itself in: from there on it can compute, read and write its
pipes, and end. A document that makes a library run code of its own finds nothing that it could open or reach.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

from desktop.domain.text.passages import occurrences
from desktop.systems.polling import polling_loop
from desktop.workers.document_host import limits
from desktop.workers.document_host.opening import load_for, opened
from desktop.workers.document_host.reading import DocumentFile
from desktop.workers.hardening import bound_memory, bound_time, harden
from desktop.workers.inside import CallError, WorkerCall, run
from desktop.workers.serving import Idle, load_codecs, read_whole, serve_shut_in

SERVICE = "document-host"
VERSION = "1"
IDLE = 120.0
"""Seconds without a call after which the process ends."""


class DocumentHost:
    """``idle`` is told of each call."""

    def __init__(self, data: bytes) -> None:
        self.idle = Idle()
        self._data = data
        self._document: DocumentFile | None = None
        self._turn = asyncio.Lock()
        self._calls = 0

    def methods(self) -> dict[str, Any]:
        """By name."""
        return {"about": self.about, "text": self.text, "picture": self.picture, "marks": self.marks, "find": self.find}

    async def about(self, call: WorkerCall) -> Mapping[str, Any]:
        """Opens the document; what kind it is and what it has."""
        async with self._working():
            self._document = None
            name, password = str(call.params.get("name", "")), str(call.params.get("password", ""))
            document = self._document = opened(self._data, name, password)
        return {
            "kind": document.kind,
            "unit": document.unit,
            "count": document.count,
            "title": document.title,
            "names": document.names[: limits.NAMES],
            "pictures": document.pictures,
            "notes": document.notes,
        }

    async def text(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams parts ``first`` to ``last``, from line ``line`` of the first, until ``room`` characters are full; the
        value says where it stopped."""
        first, last = int(call.params["first"]), int(call.params["last"])
        line, room = max(1, int(call.params.get("line", 1))), min(int(call.params["room"]), limits.ROOM)
        async with self._working():
            document = self._opened()
            parts = range(max(1, first), min(last, document.count) + 1)
            return await _text(call, document, parts, line, room)

    async def picture(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams a part as a picture (PNG, in base64)."""
        async with self._working():
            document, part = self._opened(), int(call.params["part"])
            if not 1 <= part <= document.count:
                raise CallError("document.no_part", f"There is no {document.unit} {part}.")
            data = document.picture(part, int(call.params["width"]))
        if len(data) > limits.PICTURE:
            raise CallError("document.no_picture", "The picture of this page is too large.")
        encoded = base64.b64encode(data).decode("ascii")
        for at in range(0, len(encoded), limits.PIECE):
            await call.emit({"data": encoded[at : at + limits.PIECE]})
        return {"media_type": "image/png", "size": len(data)}

    async def marks(self, call: WorkerCall) -> Mapping[str, Any]:
        """Where on a part's picture some words stand, or with ``cited`` the passage that says what they say."""
        async with self._working():
            document, part = self._opened(), int(call.params["part"])
            words, cited = str(call.params["words"])[: limits.WORDS], call.params.get("cited") is True
            found = document.marks(part, words, cited=cited) if 1 <= part <= document.count else []
        return {"marks": found}

    async def find(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams the parts in which some words stand, with how often and in which of their lines; between them, how
        far it is. Other calls come in between."""
        words, found = str(call.params["words"])[: limits.WORDS], 0
        document = self._opened()
        for part in range(1, document.count + 1):
            async with self._working():
                count, lines = _occur(document, part, words)
            found += count > 0
            if count or part % limits.TOLD_EACH == 0:
                await call.emit({"part": part, "count": count, "lines": lines})
            if found >= limits.FOUND:
                return {"more": True}
            await asyncio.sleep(0)
        return {"more": False}

    def _opened(self) -> DocumentFile:
        if self._document is None:
            raise CallError("document.closed", "The document is not open.")
        return self._document

    @contextlib.asynccontextmanager
    async def _working(self) -> AsyncIterator[None]:
        """One call after the other, each with the whole of its time: who waits for its turn ends no other's bound."""
        self._calls += 1
        self.idle.working(True)
        try:
            async with self._turn:
                with bound_time(limits.CALL_S):
                    yield
        except (MemoryError, RecursionError):
            self._document = None
            raise CallError("document.too_large", "It takes more memory to read than a document may.") from None
        finally:
            self._calls -= 1
            self.idle.working(self._calls > 0)


def _occur(document: DocumentFile, part: int, words: str) -> tuple[int, list[int]]:
    """How often words stand in a part, and in which of its lines. They may go on in the next line, as they do on a
    page; a part of many lines is looked through in pieces."""
    count, lines = 0, list[int]()
    held: list[tuple[int, str]] = []
    size = 0

    def look() -> int:
        text = "\n".join(line for _, line in held)
        found = occurrences(text, words)
        lines.extend(held[text.count("\n", 0, start)][0] for start, _ in found[: limits.MARKS - len(lines)])
        held.clear()
        return len(found)

    for number, line in document.from_line(part, 1):
        held.append((number, line))
        size += len(line) + 1
        if size > limits.PIECE:
            count, size = count + look(), 0
    return count + look(), lines


async def _text(call: WorkerCall, document: DocumentFile, parts: range, begin: int, room: int) -> Mapping[str, Any]:
    scans: list[int] = []
    given, first = 0, None
    for part in parts:
        held: list[str] = []
        size = 0
        for number, line in document.from_line(part, begin):
            first = first or (part, number)
            left = room - given
            if len(line) >= left and first != (part, number):
                if held:
                    await _emit(call, part, held)
                return {"part": part, "line": number, "scans": scans, "more": True}
            if len(line) > left:  # what was asked for begins with it, so it is never reached otherwise
                line = f"{line[: max(0, left)]} [{len(line) - max(0, left):,} characters of this line left out]"
            held.append(line)
            size += len(line) + 1
            given += len(line) + 1
            if size > limits.PIECE:
                await _emit(call, part, held)
                held, size = [], 0
                await asyncio.sleep(0)
        await _emit(call, part, held)
        if document.is_scan(part):
            scans.append(part)
        begin = 1
        if given >= room and part + 1 in parts:
            return {"part": part + 1, "line": 1, "scans": scans, "more": True}
        await asyncio.sleep(0)
    return {"part": 0, "line": 0, "scans": scans, "more": False}


async def _emit(call: WorkerCall, part: int, lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    for at in range(0, max(1, len(text)), limits.PIECE):
        await call.emit({"part": part, "text": text[at : at + limits.PIECE]})


def main(handle: int, launcher: str = "", program: str = "", idle: float = IDLE) -> None:
    """Run the process until it is idle or its parent is gone."""
    harden()
    bound_memory(limits.MEMORY)
    load_codecs()
    data = read_whole(handle, limits.FILE)
    load_for(data)
    host = DocumentHost(data)
    sys.setrecursionlimit(4 * limits.DEPTH + 1_000)
    served = (SERVICE, VERSION), host.methods(), host.idle, (launcher, program), idle
    run(lambda: serve_shut_in(*served), SERVICE, loop=polling_loop)
