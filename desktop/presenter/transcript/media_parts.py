"""Images and sounds of a tool's result, as its card shows and saves them. No Qt, and nothing is decoded here."""

from __future__ import annotations

from collections.abc import Sequence

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


def _part(part_id: str, block: MediaBlock) -> MediaPart:
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in block.name).strip("-")
    ending = _ENDINGS.get(block.media_type, "bin")
    facts = f"{block.media_type}, {size_words(len(block.data) * 3 // 4)}"
    return MediaPart(part_id, f"{name[:60] or 'result'}.{ending}", facts, isinstance(block, ImageBlock), block.data)
