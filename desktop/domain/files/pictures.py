"""Pictures: which kinds are opened, by what is in them; how large one may be for whom; who opens them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ImageBlock, MediaBlock

HEAD = 4096
"""Bytes of a file that tell its kind."""
OPENED = ("PNG", "JPEG", "GIF", "WebP", "AVIF", "TIFF", "BMP", "icon")
"""Kinds that are opened, as a person calls them."""
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"II+\x00", "TIFF"),
    (b"MM\x00+", "TIFF"),
    (b"\x00\x00\x01\x00", "icon"),
    (b"\x00\x00\x02\x00", "icon"),
    (b"8BPS", "Photoshop"),
    (b"\x00\x00\x00\x0cjP  ", "JPEG 2000"),
    (b"\xff\x4f\xff\x51", "JPEG 2000"),
    (b"\x00\x00\x00\x0cJXL ", "JPEG XL"),
    (b"\xff\x0a", "JPEG XL"),
    (b"gimp xcf", "GIMP"),
    (b"qoif", "QOI"),
)
_BRANDS = {
    **dict.fromkeys((b"avif", b"avis"), "AVIF"),
    **dict.fromkeys((b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"), "HEIC"),
}
NO_ROOM = "picture.no_room"
"""The code of a picture that could not be opened just now: nothing is wrong with it."""
_BITMAP_HEADERS = (12, 40, 52, 56, 64, 108, 124)


class PictureRefused(KnownError):
    """A picture cannot be opened; the text says why."""

    code = "picture.refused"


@dataclass(frozen=True, slots=True)
class PictureFit:
    """How large a picture may be: points of its longest side, and bytes."""

    side: int = 2000
    size: int = 3_500_000


KEPT = PictureFit()
"""As large as pictures are kept: what the makers of models look at, and none refuses, also of many in one request."""


class PictureOpener(Protocol):
    """Opens what is called a picture, in a process of its own."""

    async def picture(self, data: bytes, name: str, fit: PictureFit = KEPT) -> ImageBlock:
        """A picture made anew from these bytes: upright, in the colours of screens, no larger than it may be, and with
        nothing beside its points. Raises PictureRefused."""
        ...

    async def remade(self, media: Sequence[MediaBlock]) -> tuple[list[MediaBlock | None], list[str]]:
        """The pictures among them made anew, None for each that cannot be opened; and what a model has to know of
        that, a line each. Sounds, and pictures that were made anew already, stay as they are."""
        ...


def picture_kind(head: bytes) -> str:
    """What kind of picture a file is that begins so, as a person calls it; "" for what is none."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head[:4] == b"RIFF":
        return "WebP" if head[8:12] == b"WEBP" else ""
    if head[4:8] == b"ftyp":
        return _of_brands(head)
    if head[:2] == b"BM":
        return "BMP" if int.from_bytes(head[14:18], "little") in _BITMAP_HEADERS else ""
    return "SVG" if _is_drawing(head) else ""


def _of_brands(head: bytes) -> str:
    end = min(len(head), int.from_bytes(head[:4]))
    brands = [head[8:12], *(head[at : at + 4] for at in range(16, end, 4))]
    kinds = [_BRANDS[brand] for brand in brands if brand in _BRANDS]
    return "AVIF" if "AVIF" in kinds else kinds[0] if kinds else ""


def _is_drawing(head: bytes) -> bool:
    """Whether its first element is that of a drawing: what may stand before it is passed over, each in one step."""
    rest = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    for begin, end in ((b"<?", b"?>"), (b"<!", b">")) * 8:
        while rest.startswith(begin):
            end_here = b"-->" if rest.startswith(b"<!--") else b"]>" if b"[" in rest.partition(b">")[0] else end
            rest = rest.partition(end_here)[2].lstrip()
    return rest[:4] == b"<svg" and rest[4:5] in b" \t\r\n>/"
