"""Files and images that a person adds to a message: read off the loop, capped, and named in words when refused."""

from __future__ import annotations

import asyncio
import base64
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from desktop.domain.errors import KnownError
from desktop.domain.files.documents import looks_like_document
from desktop.domain.files.pictures import HEAD, PictureOpener, PictureRefused, picture_kind
from desktop.domain.messages import Block, FileBlock, ImageBlock
from desktop.systems import open_flags

TEXT_LIMIT = 5_000_000
"""Largest text file that travels with a message, in bytes."""

PICTURE_LIMIT = 100_000_000
"""Largest picture, in bytes; it goes with a message made smaller."""

DOCUMENT_LIMIT = 200_000_000
"""Largest document, in bytes."""

DOCUMENTS = (".html", ".htm", ".xhtml", ".csv", ".tsv", ".ipynb")
"""Endings of documents that are text: only by these are they told from other text."""

COUNT_LIMIT = 20
"""Most attachments on one message."""

PASTED = "pasted image"


class AttachmentRefused(KnownError):
    """A file cannot be attached; the text says which and why."""

    code = "attachment.refused"


def read_attachment(path: str) -> FileBlock:
    """Read one text file as a block. Runs in a thread; never opens devices or pipes. Raises AttachmentRefused."""
    name = Path(path).name or path
    with opened_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > TEXT_LIMIT:
            raise _too_large(name, size, TEXT_LIMIT)
        return _text(name, file.read(TEXT_LIMIT))


def read_picture(path: str) -> bytes | None:
    """The bytes of a picture, None: the file is none. A drawing (SVG) is text. Runs in a thread. Raises
    AttachmentRefused."""
    name = Path(path).name or path
    with opened_file(path) as file:
        head = file.read(HEAD)
        if picture_kind(head) in ("", "SVG"):
            return None
        size = os.fstat(file.fileno()).st_size
        if size > PICTURE_LIMIT:
            raise _too_large(name, size, PICTURE_LIMIT)
        return head + file.read(PICTURE_LIMIT)


def read_document(path: str) -> bytes | None:
    """The bytes of a document, None: the file is none. Runs in a thread. Raises AttachmentRefused."""
    name = Path(path).name or path
    with opened_file(path) as file:
        head = file.read(1024)
        if not looks_like_document(head) and not name.lower().endswith(DOCUMENTS):
            return None
        size = os.fstat(file.fileno()).st_size
        if size > DOCUMENT_LIMIT:
            raise _too_large(name, size, DOCUMENT_LIMIT)
        return head + file.read(DOCUMENT_LIMIT)


def opened_file(path: str) -> BinaryIO:
    """A regular file, open for reading. Raises AttachmentRefused."""
    name = Path(path).name or path
    try:
        handle = os.open(path, os.O_RDONLY | open_flags.NONBLOCK | open_flags.CLOEXEC)
    except OSError as error:
        raise AttachmentRefused(f"“{name}” cannot be read: {error.strerror}.") from error
    info = os.fstat(handle)
    if stat.S_ISDIR(info.st_mode):  # of which Python makes no file
        os.close(handle)
        raise AttachmentRefused(f"“{name}” is a folder.", next_step="Attach files one by one, or name it with @.")
    if not stat.S_ISREG(info.st_mode):
        os.close(handle)
        raise AttachmentRefused(f"“{name}” is not a file that can be read.")
    return os.fdopen(handle, "rb")


def _too_large(name: str, size: int, limit: int) -> AttachmentRefused:
    return AttachmentRefused(
        f"“{name}” is too large to attach ({size / 1e6:.1f} MB, the limit is {limit / 1e6:.0f} MB).",
        next_step="Name it with @ so that the agent reads the parts it needs.",
    )


def attached(name: str, data: bytes) -> Block:
    """Content that is here already as a block, by what it is and not by what it calls itself; a picture is still to be
    opened (``opened_pictures``). Raises AttachmentRefused."""
    is_picture = picture_kind(data[:HEAD]) not in ("", "SVG")
    limit = PICTURE_LIMIT if is_picture else TEXT_LIMIT
    if len(data) > limit:
        raise AttachmentRefused(
            f"“{name}” is too large to attach ({len(data) / 1e6:.1f} MB, the limit is {limit / 1e6:.0f} MB)."
        )
    return ImageBlock("", base64.b64encode(data).decode("ascii"), name) if is_picture else _text(name, data)


async def opened_pictures(opener: PictureOpener, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Blocks with the pictures among them opened. Raises AttachmentRefused."""
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, ImageBlock) and not block.width:
            data = await asyncio.to_thread(base64.b64decode, block.data)
            found.append(await opened_picture(opener, data, block.name))
        else:
            found.append(block)
    return tuple(found)


async def opened_picture(opener: PictureOpener, data: bytes, name: str) -> ImageBlock:
    """A picture as it goes with a message. Raises AttachmentRefused."""
    try:
        return await opener.picture(data, name)
    except PictureRefused as why:
        raise AttachmentRefused(f"“{name}” was not attached. {why}", code=why.code, next_step=why.next_step) from None


def _text(name: str, data: bytes) -> FileBlock:
    if b"\0" in data[:8192]:
        raise AttachmentRefused(f"“{name}” is not text.", next_step="Attach text, a document or a picture.")
    try:
        return FileBlock(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise AttachmentRefused(f"“{name}” is not UTF-8 text.", next_step="Save it as UTF-8 first.") from error
