"""Files and images that a person adds to a message: read off the loop, capped, and named in words when refused."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path
from typing import BinaryIO

from desktop.domain.errors import KnownError
from desktop.domain.files.documents import looks_like_document
from desktop.domain.messages import Block, FileBlock, ImageBlock

TEXT_LIMIT = 5_000_000
"""Largest text file that travels with a message, in bytes."""

IMAGE_LIMIT = 8_000_000
"""Largest image, in bytes."""

DOCUMENT_LIMIT = 200_000_000
"""Largest document, in bytes."""

DOCUMENTS = (".html", ".htm", ".xhtml", ".csv", ".tsv", ".ipynb")
"""Endings of documents that are text: only by these are they told from other text."""

COUNT_LIMIT = 20
"""Most attachments on one message."""

_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


class AttachmentRefused(KnownError):
    """A file cannot be attached; the text says which and why."""

    code = "attachment.refused"


def read_attachment(path: str) -> Block:
    """Read one file as a block. Runs in a thread; never opens devices or pipes. Raises AttachmentRefused."""
    name = Path(path).name or path
    with opened_file(path) as file:
        info = os.fstat(file.fileno())
        head = file.read(16)
        kind = next((value for magic, value in _IMAGES.items() if head.startswith(magic)), "")
        limit = IMAGE_LIMIT if kind else TEXT_LIMIT
        if info.st_size > limit:
            raise _too_large(name, info.st_size, limit)
        data = head + file.read(limit)
    return _block(name, kind, data)


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
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
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
    """Content that is here already as a block, by what it is and not by what it calls itself. Raises
    AttachmentRefused."""
    kind = next((value for magic, value in _IMAGES.items() if data.startswith(magic)), "")
    limit = IMAGE_LIMIT if kind else TEXT_LIMIT
    if len(data) > limit:
        raise AttachmentRefused(
            f"“{name}” is too large to attach ({len(data) / 1e6:.1f} MB, the limit is {limit / 1e6:.0f} MB)."
        )
    return _block(name, kind, data)


def _block(name: str, kind: str, data: bytes) -> Block:
    if kind:
        return ImageBlock(kind, base64.b64encode(data).decode("ascii"), "pasted image")
    if b"\0" in data[:8192]:
        raise AttachmentRefused(f"“{name}” is not text.", next_step="Attach text or an image.")
    try:
        return FileBlock(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise AttachmentRefused(f"“{name}” is not UTF-8 text.", next_step="Save it as UTF-8 first.") from error


def image_block(data: bytes) -> ImageBlock:
    """A pasted image as PNG bytes. Raises AttachmentRefused over the limit."""
    if len(data) > IMAGE_LIMIT:
        raise AttachmentRefused(f"The image is too large to attach (the limit is {IMAGE_LIMIT / 1e6:.0f} MB).")
    return ImageBlock("image/png", base64.b64encode(data).decode("ascii"), "pasted image")
