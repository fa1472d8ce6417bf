"""Opens pictures, each in a process of its own, which is gone as soon as the picture is made anew."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

from desktop.domain.errors import ChildDied, ProtocolViolation
from desktop.domain.files.pictures import HEAD, KEPT, NO_ROOM, OPENED, PictureFit, PictureRefused, picture_kind
from desktop.domain.messages import ImageBlock, MediaBlock
from desktop.domain.processes import Child, ChildRefused, ChildStream
from desktop.files.nameless import nameless_file
from desktop.systems import current

MAX_BYTES = 100_000_000
"""Of a picture as it comes."""
DEADLINE_S = 60.0
"""Seconds for one picture; the process has a limit of its own, which is shorter as long as the machine is not busy."""
AT_ONCE = 2
"""Pictures that are opened at the same time; more wait."""
MADE_SMALLER = "made smaller from"
"""How the note begins of a picture that was made smaller."""
_SIDE, _NOTES, _WORDS = 10_000, 6, 120
_SEGMENTS, _FRAMES = 50, (0xC0, 0xC1, 0xC2)
_MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_ENDS = {
    "signal 27": "It takes too much of the processor to open; it was given up.",
    "signal 9": "It takes more memory to open than there is.",
}
SAVE_ANEW = "Open it in its own program and save it anew, as PNG or JPEG."
_ADVICE: Mapping[str, str] = {
    "picture.unknown": "Save it as PNG, JPEG, GIF, WebP, AVIF, TIFF or BMP.",
    "picture.broken": "Get it again from where it came from, or open it in its own program and save it anew.",
    "picture.too_large": "Make it smaller in its own program.",
    "picture.bomb": SAVE_ANEW,
    "picture.died": SAVE_ANEW,
    NO_ROOM: "Make room on the disk, then try again.",
}


class PictureReader:
    """Implements ``domain.files.pictures.PictureOpener``. ``child`` makes the process for a handle."""

    def __init__(self, child: Callable[[int], Child]) -> None:
        self._child = child
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def picture(self, data: bytes, name: str, fit: PictureFit = KEPT) -> ImageBlock:
        """See ``PictureOpener``."""
        kind = picture_kind(data[:HEAD])
        if kind not in OPENED:  # as the process itself would say
            what = f"It is {kind}, which is not opened here." if kind else "It is no picture of a known kind."
            raise _refused("picture.unknown", what)
        if len(data) > MAX_BYTES:
            words = f"It has {len(data) / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB are opened."
            raise _refused("picture.too_large", words)
        if current.WINDOWS:  # pragma: no cover - Windows hands no open files over
            raise PictureRefused("Pictures cannot be opened on this system yet.")
        async with self._turns:
            with await _handed_over(data) as file:
                child = self._child(file.fileno())
                try:
                    return await _made(child, name, fit)
                finally:
                    await child.stop()

    async def remade(self, media: Sequence[MediaBlock]) -> tuple[list[MediaBlock | None], list[str]]:
        """See ``PictureOpener``."""
        found = await asyncio.gather(*(self._remade(one) for one in media))
        return [made for made, _ in found], [line for _, line in found if line]

    async def _remade(self, block: MediaBlock) -> tuple[MediaBlock | None, str]:
        if not isinstance(block, ImageBlock) or block.width:
            return block, ""
        named = f" “{block.name[:80]}”" if block.name else ""
        try:
            made = await self.picture(await asyncio.to_thread(_decoded, block.data), block.name)
        except PictureRefused as why:
            return None, f"[The picture{named} is left out. {why}]"
        return made, f"[The picture{named} is shown {how}]" if (how := smaller(made)) else ""


def smaller(block: ImageBlock) -> str:
    """How large a picture is shown that was made smaller, for whoever speaks of places in it; "" for any other."""
    was = next((note for note in block.notes.split("; ") if note.startswith(MADE_SMALLER)), "")
    return f"at {block.width} × {block.height}, {was}." if was else ""


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        return b""


async def _handed_over(data: bytes) -> BinaryIO:
    """Raises PictureRefused where the disk takes no more."""
    try:
        return await asyncio.to_thread(_spooled, data)
    except OSError as error:
        raise _refused(NO_ROOM, f"It cannot be opened now: {error.strerror or 'the disk refuses it'}.") from None


def _spooled(data: bytes) -> BinaryIO:
    """A file without a name that holds it. Blocks."""
    file = nameless_file()
    file.write(data)
    file.flush()
    return file


async def _made(child: Child, name: str, fit: PictureFit) -> ImageBlock:
    """What the process says, checked. Raises PictureRefused."""
    stream = child.stream("picture", {"side": fit.side, "size": fit.size}, deadline_s=DEADLINE_S)
    try:
        data = await _data(stream, fit.size * 4 // 3 + 4)
        return await asyncio.to_thread(_block, data, stream.value, name, fit)
    except ChildRefused as error:
        raise _refused(error.code, str(error)) from None
    except ChildDied:
        how = child.health.last_end
        words = _ENDS.get(how, f"The program that opens it broke down over it ({how or 'no reason given'}).")
        raise _refused("picture.died", words) from None
    except ProtocolViolation:
        words = "The program that opens it said what it may not say; nothing of it was taken."
        raise _refused("picture.died", words) from None
    except TimeoutError:
        raise _refused("picture.died", "It takes too long to open; it was given up.") from None
    finally:
        stream.cancel()


async def _data(stream: ChildStream, most: int) -> str:
    pieces: list[str] = []
    size = 0
    async for item in stream:
        piece = item.get("data") if isinstance(item, Mapping) else None
        if not isinstance(piece, str) or size + len(piece) > most:
            raise ProtocolViolation("a picture is none, or larger than was asked for")
        size += len(piece)
        pieces.append(piece)
    return "".join(pieces)


def _block(data: str, said: Any, name: str, fit: PictureFit) -> ImageBlock:
    """The picture, if it is what the process says. Raises ProtocolViolation. Blocks."""
    told = said if isinstance(said, Mapping) else {}
    media_type, notes = str(told.get("media_type")), told.get("notes")
    width, height = _points(told.get("width"), fit), _points(told.get("height"), fit)
    try:
        whole = base64.b64decode(data, validate=True)
    except ValueError:
        raise ProtocolViolation("a picture is no base64") from None
    if not whole.startswith(_MAGIC.get(media_type, b"none of both")):
        raise ProtocolViolation("a picture is not of the kind that it is said to be")
    if (_png_size if media_type == "image/png" else _jpeg_size)(whole) != (width, height):
        raise ProtocolViolation("a picture is not as large as it is said to be")
    words = [str(note)[:_WORDS] for note in notes[:_NOTES]] if isinstance(notes, list) else []
    return ImageBlock(media_type, data, name, width, height, "; ".join(words))


def _png_size(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """What the frame of a JPEG says; (0, 0) where there is none."""
    at = 2
    for _ in range(_SEGMENTS):
        if data[at : at + 1] != b"\xff":
            break
        if data[at + 1] in _FRAMES:
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return 0, 0


def _points(value: Any, fit: PictureFit) -> int:
    if type(value) is not int or not 0 < value <= min(fit.side, _SIDE):
        raise ProtocolViolation("a picture has no size, or more than was asked for")
    return value


def _refused(code: str, words: str) -> PictureRefused:
    return PictureRefused(words, code=code, next_step=_ADVICE.get(code, ""))
