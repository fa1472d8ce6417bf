"""Images and sounds in the result of a server: pieces put together, looked at, and taken only where they are such.

What a thing is, its first bytes say; what the server says of it counts for nothing. Blocks: use a thread.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from desktop.domain.files.documents import looks_like_document
from desktop.domain.files.pictures import HEAD, OPENED, picture_kind
from desktop.domain.messages import AudioBlock, ImageBlock, MediaBlock

MAXIMUM = 8
"""Images and sounds of one result."""
MAX_CHARACTERS = 8_000_000
"""Of base64, all of one result together."""
_SOUNDS = ((b"ID3", "audio/mpeg"), (b"OggS", "audio/ogg"), (b"fLaC", "audio/flac"))
_FILES = ((b"%PDF-", "application/pdf"), (b"PK\x03\x04", "application/zip"), (b"\x1f\x8b", "application/gzip"))
_PICTURES = {kind: f"image/{kind.lower()}" for kind in OPENED} | {"icon": "image/x-icon"}


class MediaPieces:
    """What came so far, by number; more than fits is counted and dropped."""

    def __init__(self) -> None:
        self._pieces: dict[int, list[str]] = {}
        self._size = 0

    def add(self, item: Mapping[str, Any]) -> bool:
        """Take in a piece of a picture or a sound; False for anything else."""
        number, data = item.get("media"), item.get("data")
        if not isinstance(number, int) or not isinstance(data, str):
            return False
        self._size += len(data)
        if self._size <= MAX_CHARACTERS and (number in self._pieces or len(self._pieces) < MAXIMUM):
            self._pieces.setdefault(number, []).append(data)
        else:
            self._pieces.pop(number, None)
        return True

    def blocks(self, tool: str) -> tuple[tuple[MediaBlock, ...], list[str]]:
        """The media whose data is what it should be, and half a sentence for each that is not, but for documents."""
        numbered = self.numbered(tool)
        none = [n for n, (block, head) in numbered.items() if block is None and not looks_like_document(head)]
        wrong = [f"[{n} is no image or sound in a format that can be shown]" for n in none]
        return tuple(block for block, _ in numbered.values() if block is not None), wrong

    def documents(self) -> dict[int, bytes]:
        """What begins like a document, by number."""
        found = {}
        for number, pieces in sorted(self._pieces.items()):
            try:
                data = base64.b64decode("".join(pieces), validate=True)
            except (binascii.Error, ValueError):
                continue
            if looks_like_document(data[:1_024]):
                found[number] = data
        return found

    def numbered(self, name: str) -> dict[int, tuple[MediaBlock | None, bytes]]:
        """(image or sound, its first bytes) by number; None for what is neither."""
        return {number: _block("".join(pieces), f"{name} {number}") for number, pieces in sorted(self._pieces.items())}


def _block(data: str, name: str) -> tuple[MediaBlock | None, bytes]:
    try:
        whole = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None, b""
    head = whole[: max(HEAD, 1_024)]
    kind = media_type(head)
    if not kind.startswith(("image/", "audio/")):
        return None, head
    plain = base64.b64encode(whole).decode("ascii")
    return (ImageBlock(kind, plain, name) if kind.startswith("image/") else AudioBlock(kind, plain, name)), head


def media_type(head: bytes) -> str:
    """The type of a file by its first bytes, or ""."""
    if kind := _PICTURES.get(picture_kind(head)):
        return kind
    if head[:4] == b"RIFF":
        return "audio/wav" if head[8:12] == b"WAVE" else ""
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2:  # MPEG audio, layer 3
        return "audio/mpeg"
    return next((kind for magic, kind in (*_SOUNDS, *_FILES) if head.startswith(magic)), "")
