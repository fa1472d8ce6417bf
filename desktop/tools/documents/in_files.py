"""Documents in folders that agents read: the file is opened behind the boundary, and its handle handed over."""

from __future__ import annotations

import asyncio
import os
from typing import BinaryIO

from desktop.domain.errors import ToolFailure
from desktop.domain.files.documents import (
    DocumentAbout,
    DocumentOpener,
    DocumentRefused,
    OpenDocument,
    looks_like_document,
)
from desktop.domain.safety import GuardedFiles
from desktop.domain.tools import ToolResult
from desktop.tools.documents.told import how_cited, how_on, notes_of, told

HEAD = 1024
DOCUMENT = 60_000
"""Characters of a document that one call gives."""
PAGES_SCHEMA = {
    "type": "string",
    "maxLength": 200,
    "description": "Of a document: its pages, slides or chapters to read, as 3, 3-7 or 3-, or the name of a sheet. All "
    "when left out.",
}


async def read_in_file(
    opener: DocumentOpener, files: GuardedFiles, path: str, pages: str, line: int, room: int
) -> ToolResult | None:
    """A part of a document, or None where the file is none. Raises ToolFailure and what opening the file raises."""
    stream = await asyncio.to_thread(_document, files, path)
    if stream is None:
        return None
    name = os.path.basename(path.replace("\\", "/"))
    try:
        async with opener.open(stream.fileno(), name) as document:
            result, _ = await a_part(document, name, pages, line, room, opens=False)
            return result
    except DocumentRefused as why:
        raise ToolFailure(f"{path} was not read. {why.advice}", code=why.code) from None
    finally:
        stream.close()


async def a_part(
    document: OpenDocument, name: str, pages: str, line: int, room: int, *, opens: bool = True
) -> tuple[ToolResult, tuple[int, ...]]:
    """What a tool gives of an open document, and which of the parts are pictures without text. ``opens``: whether a
    place in it that an answer names opens for the person, as those of attached ones do. Raises ToolFailure and
    DocumentRefused."""
    about = document.about
    span = about.span(pages)
    if span is None:
        raise ToolFailure(_no_such(name, about, pages), code="document.no_part")
    text = await document.text(*span, line=line, room=room)
    cited = how_cited(name, about) if opens else ""
    notes = [note for note in (notes_of(about), how_on(about, text, span[1]), cited) if note]
    shown = [part for part, _ in text.parts]
    facts = {
        "document": name,
        "unit": about.unit,
        "count": about.count,
        "first": shown[0] if shown else span[0],
        "last": shown[-1] if shown else span[0],
    }
    said = f"\n\n[{'; '.join(notes)}]" if notes else ""
    return ToolResult(f"{told(name, about, text, line)}{said}", facts=facts), text.scans


def _no_such(name: str, about: DocumentAbout, pages: str) -> str:
    there = f"It has {about.amount()}"
    if about.unit == "sheet" and any(about.names):
        there = f"{there}: {', '.join(about.names[:50])}"
    return f"{name} has no {about.unit} {pages.strip()[:60]!r}. {there}; write 3, 3-7 or 3- for a part of them."


def _document(files: GuardedFiles, path: str) -> BinaryIO | None:
    """The file, open, if it begins like a document. Blocks."""
    with files.open_read(path) as stream:
        head = stream.read(HEAD)
        if not looks_like_document(head):
            return None
        return os.fdopen(os.dup(stream.fileno()), "rb")
