"""Documents that come as bytes, from servers: put into a file without a name for the process that reads them."""

from __future__ import annotations

import asyncio
from typing import BinaryIO

from desktop.domain.errors import ToolFailure
from desktop.domain.files.documents import DocumentOpener, DocumentRefused, cite_name
from desktop.files.nameless import nameless_file
from desktop.tools.documents.in_files import DOCUMENT, a_part


async def read_given(opener: DocumentOpener, name: str, data: bytes, pages: str = "", room: int = DOCUMENT) -> str:
    """What a model reads of a document, or why it cannot be read."""
    name = cite_name(name)
    try:
        file = await asyncio.to_thread(_in_file, data)
    except OSError as error:
        return f"[{name} was not read: {error.strerror or 'the disk refuses it'}.]"
    try:
        async with opener.open(file.fileno(), name) as document:
            result, _ = await a_part(document, name, pages, 1, room, opens=False)
            return result.text
    except (DocumentRefused, ToolFailure) as why:
        return f"[{name} was not read. {why.advice}]"
    finally:
        file.close()


def _in_file(data: bytes) -> BinaryIO:
    file = nameless_file()
    file.write(data)
    file.flush()
    return file
