"""What a server answers to one call, put together from its pieces, capped in characters while it comes."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from typing import Any

from desktop.domain.files.documents import DocumentOpener
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import AudioBlock, MediaBlock
from desktop.domain.servers.mcp import McpPart
from desktop.domain.text.json_text import read_json
from desktop.domain.tools import ToolResult
from desktop.tools.documents.given import read_given
from desktop.tools.documents.in_files import DOCUMENT
from desktop.tools.mcp.offered import plain
from desktop.tools.mcp.reading.media import MediaPieces, media_type

MAX_PARTS = 200
MAX_PARTS_TEXT = 5_000_000
"""Characters of JSON."""
MAX_WORDS = 600
LEAST_ROOM = 2_000
"""Characters of a document that are read, however much else there is."""
NOTICE_ROOM = 120
"""Bytes."""
READ_WHOLE = 4_000_000
"""Characters of a text that the MCP host passes on; of a longer one it is not known how long it is."""
MAX_BESIDE = 40
MAX_BESIDE_TEXT = 4_000

CheckValue = Callable[[str, Mapping[str, Any], Any], Awaitable[str]]
"""(tool, schema of its result, a value) to why the value does not fit, or ""."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call says it is."""

    done: float
    total: float | None
    words: str

    @property
    def line(self) -> str:
        """For whoever shows lines only."""
        of = f" of {self.total:g}" if self.total is not None else ""
        counted = f"{self.done:g}{of}" if self.done or of else ""
        return " ".join(word for word in (counted, self.words) if word) + "\n"


@dataclass(slots=True)
class ServerAnswer:
    """What came so far."""

    limit: int
    """How many characters of text are kept."""
    clean: Callable[[str], str]
    """For all that a model gets of it (R-TMO-8)."""
    fits: CheckValue
    """Checks its structured result."""
    server: str = ""
    """Whose answer it is."""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """What its structured result has to be; {}: nobody said."""
    documents: DocumentOpener | None = None
    """Reads the documents that it holds; None: they are named alone."""
    texts: list[str] = field(default_factory=list)
    """Its texts."""
    structured: list[str] = field(default_factory=list)
    """Its structured result, in pieces of JSON."""
    parts: list[str] = field(default_factory=list)
    """What it links to or holds, in pieces of JSON."""
    media: MediaPieces = field(default_factory=MediaPieces)
    """Its images and sounds."""
    progress: Progress | None = None
    """The last word on its progress."""
    size: int = 0
    """How many characters came."""
    dropped: int = 0
    """How many were left out."""
    parts_size: int = 0
    """How many characters of parts came."""

    def take(self, item: Any) -> Progress | None:
        """Take one piece of the answer; what is to be shown at once is returned."""
        if not isinstance(item, Mapping) or self.media.add(item):
            return None
        if isinstance(text := item.get("text"), str):
            room = max(0, self.limit - self.size)
            self.texts.append(text[:room])
            self.size += min(room, len(text))
            self.dropped += max(0, len(text) - room)
        elif isinstance(item.get("structured"), str):
            self.structured.append(item["structured"])
        elif isinstance(piece := item.get("parts"), str):
            self.parts_size += len(piece)
            if self.parts_size <= MAX_PARTS_TEXT:
                self.parts.append(piece)
        elif "done" in item:
            self.progress = _progress(item)
            return self.progress
        return None

    @property
    def partial(self) -> str:
        """For a call that was ended: how far it said it was."""
        return f"\nThe last it reported: {self.progress.line.strip()}" if self.progress is not None else ""

    async def result(self, tool: str, *, is_error: bool) -> ToolResult:
        """The result of the call, from all pieces of the answer."""
        value, note = (None, "") if is_error else await self._value(tool)
        result = await asyncio.to_thread(self._result, tool, is_error, value, note)
        read = [f"[document {number}]\n{text}" for number, text in (await self.read_documents()).items()]
        return replace(result, text="\n\n".join((result.text, *read))) if read else result

    async def read_documents(self, pages: str = "") -> dict[int, str]:
        """The text of each document that it holds, by number; all of them together have the room of a result."""
        if self.documents is None:
            return {}
        held = await asyncio.to_thread(self.media.documents)
        names = await asyncio.to_thread(self._names) if held else {}
        made, room = dict[int, str](), max(LEAST_ROOM, self.limit - self.size)
        for number, data in held.items():
            name = names.get(number, "") or f"{self.server}-{number}"
            text = await read_given(self.documents, name, data, pages, max(LEAST_ROOM, min(room, DOCUMENT)))
            made[number] = self.clean(text)
            room -= len(text)
        return made

    def _result(self, tool: str, is_error: bool, value: Any, note: str) -> ToolResult:
        text = self.clean("".join(self.texts))
        if self.dropped:  # within the limit with its notice: what is cut once more says the wrong sizes
            text = text.encode("utf-8", "replace")[: max(0, self.limit - NOTICE_ROOM)].decode("utf-8", "ignore")
            whole = self.size + self.dropped
            more = " or more" if whole >= READ_WHOLE else ""
            text += f"\n[Output cut: {whole:,} characters{more}, the first {len(text):,} are shown]"
        media, wrong = self.media.blocks(tool)
        text = "\n".join(part for part in (text, *wrong, note) if part)
        facts: dict[str, Any] = {"characters": self.size + self.dropped, "truncated": bool(self.dropped)}
        facts |= self._beside()
        code = "mcp.tool_error" if is_error else ""
        return ToolResult(text or "[No output.]", is_error, _cleaned(value, self.clean), code, facts, media)

    async def _value(self, tool: str) -> tuple[Any, str]:
        """(the structured result, what is wrong with it): what does not fit what was declared is left out."""
        if not self.structured:
            return None, "[It declares a structured result, and gave none.]" if self.schema else ""
        found = await asyncio.to_thread(_parsed, "".join(self.structured))
        if not self.schema:
            return (found if isinstance(found, dict) else None), ""
        if wrong := await self.fits(tool, self.schema, found):
            return None, f"[Its structured result was left out. {plain(wrong, 300)}]"
        return found, ""

    def _beside(self) -> dict[str, Any]:
        """What a card shows apart from the text: links, and resources that the result holds."""
        links: list[dict[str, Any]] = []
        embedded: list[dict[str, Any]] = []
        for one in self._said()[:MAX_BESIDE]:
            part = self._part(one, {})
            about = {"server": self.server, "uri": part.uri, "media_type": part.media_type, "size": part.size}
            if part.kind == "link":
                links.append({**about, "name": part.name, "title": part.title, "description": part.description})
            else:
                embedded.append({**about, "text": part.text[:MAX_BESIDE_TEXT]})
        return {**({"links": links} if links else {}), **({"embedded": embedded} if embedded else {})}

    # -- what was read piece by piece ---------------------------------------------------------------------------------

    def _names(self) -> dict[int, str]:
        """How documents call themselves in the end of their addresses, by number."""
        said = zip(self.numbers(), self._said(), strict=True)
        return {number: self._words(one.get("uri")).rpartition("/")[2] for number, one in said if number}

    def numbers(self) -> list[int]:
        """The number of the bytes of each piece, 0 for one without. Blocks: use a thread."""
        return [one["number"] if isinstance(one.get("number"), int) else 0 for one in self._said()]

    def pieces(self, name: str) -> list[tuple[str, McpPart]]:
        """(whose it is, piece) of a resource or prompt that was read. Blocks: use a thread."""
        media = self.media.numbered(name)
        found: list[tuple[str, McpPart]] = []
        room = self.limit
        for one in self._said():
            part = self._part(one, media)
            if len(part.text) > room:
                self.dropped += len(part.text) - room
                part = McpPart(part.kind, part.text[:room], uri=part.uri, media_type=part.media_type, size=part.size)
            room -= len(part.text)
            found.append((str(one.get("role", "")), part))
        return found

    def _said(self) -> list[Mapping[str, Any]]:
        try:
            found = read_json("".join(self.parts) or "[]")
        except (ValueError, RecursionError):
            return []
        return [one for one in found if isinstance(one, Mapping)][:MAX_PARTS] if isinstance(found, list) else []

    def _part(self, said: Mapping[str, Any], media: Any) -> McpPart:
        kind, size = said.get("kind"), said.get("size")
        text = said.get("text")
        about = {key: self._words(said.get(key)) for key in ("uri", "name", "title", "description")}
        more: dict[str, Any] = {**about, "media_type": self._words(said.get("mime"))}
        more["size"] = size if isinstance(size, int) and not isinstance(size, bool) else None
        if kind == "media":
            block, head = media.get(said.get("number"), (None, b""))
            return _bytes_part(block, head, more)
        cleaned = self.clean(text) if isinstance(text, str) else ""
        return McpPart(kind if kind in ("text", "link", "resource") else "other", cleaned, **more)

    def _words(self, value: Any) -> str:
        """What something says of itself, in one line."""
        return " ".join(plain(value, 2_000).split()) if isinstance(value, str) else ""


def _bytes_part(block: MediaBlock | None, head: bytes, more: Mapping[str, Any]) -> McpPart:
    """Bytes: what they are, they say themselves."""
    if block is None:
        return McpPart("other", **{**more, "media_type": media_type(head)})
    kind: Any = "audio" if isinstance(block, AudioBlock) else "image"
    return McpPart(kind, media=block, **{**more, "media_type": block.media_type})


def _progress(item: Mapping[str, Any]) -> Progress:
    done, total = (_number(item.get(key)) for key in ("done", "total"))
    words = item.get("words")
    return Progress(done or 0.0, total, " ".join(plain(words, MAX_WORDS).split()) if isinstance(words, str) else "")


def _number(value: Any) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else None


def _parsed(text: str) -> Any:
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return None


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    """The texts within, names of fields included."""
    if isinstance(value, dict):
        return {clean(name): _cleaned(one, clean) for name, one in value.items()}
    if isinstance(value, list):
        return [_cleaned(one, clean) for one in value]
    return clean(value) if isinstance(value, str) else value
