"""Pictures in folders that agents look at: the file is opened behind the boundary, and the picture made anew."""

from __future__ import annotations

import asyncio
import os

from desktop.domain.errors import ToolFailure
from desktop.domain.files.pictures import HEAD, PictureOpener, PictureRefused, picture_kind
from desktop.domain.safety import GuardedFiles
from desktop.domain.text.words import size_words
from desktop.domain.tools import ToolResult
from desktop.tools.pictures.reader import MAX_BYTES


async def picture_in_file(opener: PictureOpener, files: GuardedFiles, path: str) -> ToolResult | None:
    """A picture, with how large it is; None where the file is none. Raises ToolFailure and what opening the file
    raises."""
    data = await asyncio.to_thread(_picture, files, path)
    if data is None:
        return None
    name = os.path.basename(path.replace("\\", "/"))
    try:
        block = await opener.picture(data, name)
    except PictureRefused as why:
        raise ToolFailure(f"{path} was not opened. {why.advice}", code=why.code) from None
    kind = picture_kind(data[:HEAD])
    notes = f"; {block.notes}" if block.notes else ""
    text = f"{name}: a picture ({kind}, {size_words(len(data))}), shown at {block.width} × {block.height}{notes}."
    facts = {"path": path, "size": len(data), "picture": kind, "width": block.width, "height": block.height}
    return ToolResult(text, facts=facts, media=(block,))


def _picture(files: GuardedFiles, path: str) -> bytes | None:
    """The bytes of a picture; a drawing (SVG) is text for whoever reads files. Blocks."""
    with files.open_read(path) as stream:
        head = stream.read(HEAD)
        if picture_kind(head) in ("", "SVG"):
            return None
        size = os.fstat(stream.fileno()).st_size
        if size > MAX_BYTES:
            raise ToolFailure(
                f"{path} has {size / 1e6:.0f} MB; of pictures at most {MAX_BYTES / 1e6:.0f} MB are opened.",
                code="picture.too_large",
            )
        return head + stream.read(MAX_BYTES)
