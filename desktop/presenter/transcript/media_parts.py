"""Images and sounds of a tool's result, as its card shows and saves them. No Qt, and nothing is decoded here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from desktop.domain.messages import ImageBlock, MediaBlock
from desktop.domain.text.words import size_words
from desktop.presenter.transcript.items import MediaPart

_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
}


def media_parts(part_id: str, media: Sequence[MediaBlock]) -> tuple[MediaPart, ...]:
    """The media parts of the card ``part_id``, in their order."""
    return tuple(_part(f"{part_id}:{number}", block) for number, block in enumerate(media))


def image_part(part_id: str, block: ImageBlock) -> MediaPart:
    """An image that a person attached, under the name that its file had."""
    stem, dot, ending = block.name.rpartition(".")
    return _part(part_id, replace(block, name=stem if dot and len(ending) <= 5 else block.name))


def _part(part_id: str, block: MediaBlock) -> MediaPart:
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in block.name).strip("-")
    ending = _ENDINGS.get(block.media_type, "bin")
    image = isinstance(block, ImageBlock)
    size = size_words(len(block.data) * 3 // 4)
    facts = f"{block.width} × {block.height}" if isinstance(block, ImageBlock) and block.width else block.media_type
    notes = block.notes if isinstance(block, ImageBlock) else ""
    return MediaPart(part_id, f"{name[:60] or 'result'}.{ending}", f"{facts}, {size}", image, block.data, notes)
