"""``read-document``: a part of a document that a person attached to the thread."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ToolFailure
from desktop.domain.files.documents import DocumentRefused, OpenDocument
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.messages import DocumentBlock
from desktop.domain.safety import SettingsProvider
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.tools.documents.in_files import DOCUMENT, PAGES_SCHEMA, a_part
from desktop.tools.documents.told import as_image

SCANS, SCAN_WIDTH = 4, 1_100
"""Pages without text that one call gives as pictures, and their pixels in width."""
READ_DOCUMENT = ToolSpec(
    name="read-document",
    alias="read_document",
    description=(
        "Read on in a document that the person attached: some of its pages, slides, chapters or a sheet, as Markdown; "
        "of scanned pages their pictures."
    ),
    params={
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The document's name."},
            "pages": PAGES_SCHEMA,
            "offset": {
                "type": "integer",
                "minimum": 1,
                "description": "The line of the first page to begin with, as the end of a part names it.",
            },
        },
        "required": ["name"],
        "additionalProperties": False,
    },
    category=Category.READ,
    tags=("documents", "meta-internal"),
    parallel_safe=True,
    gives="local",
)


class ThreadDocuments(Protocol):
    """The documents of threads."""

    async def of_thread(self, thread_id: str) -> list[DocumentBlock]:
        """All of a thread, the newest first."""
        ...

    async def find(self, thread_id: str, name: str) -> DocumentBlock | None:
        """The one by this name."""
        ...

    def opened(self, digest: str, name: str) -> AbstractAsyncContextManager[OpenDocument]:
        """Its original, open."""
        ...


class ReadDocument:
    """The tool ``read-document``."""

    def __init__(self, documents: ThreadDocuments, settings: SettingsProvider) -> None:
        self._documents = documents
        self._settings = settings

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration."""
        return READ_DOCUMENT

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """It reads what the person gave."""
        return PreCheck(Category.READ, constraint=args["name"])

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """The pages asked for, with how to go on; pictures of those without text."""
        context.meta.cancellation.check()
        thread_id, name = context.meta.thread_id, args["name"]
        block = await self._documents.find(thread_id, name)
        if block is None:
            there = ", ".join(dict.fromkeys(one.name for one in await self._documents.of_thread(thread_id)))
            words = f"There is no document {name[:200]!r} here. Attached are: {there or 'none'}."
            raise ToolFailure(words, code="document.not_here")
        room = min(DOCUMENT, self._settings().output_limit // 2)
        try:
            async with self._documents.opened(block.digest, block.name) as document:
                result, scans = await a_part(document, block.name, args.get("pages", ""), args.get("offset", 1), room)
                pictures = []
                for part in scans[:SCANS] if document.about.pictures else ():
                    png = await document.picture(part, SCAN_WIDTH)
                    pictures.append(as_image(png, document.about.label(block.name, part)))
        except DocumentRefused as why:
            raise ToolFailure(f"{block.name} was not read. {why.advice}", code=why.code) from None
        return ToolResult(result.text, facts=result.facts, media=tuple(pictures))
