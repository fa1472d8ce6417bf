"""Small pictures of every kind, and such as are made to hurt, for tests that open them."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from PIL import Image, ImageCms

RED, GREEN, BLUE = (230, 30, 30), (30, 200, 60), (40, 60, 220)
PNG = b"\x89PNG\r\n\x1a\n"


def marked(width: int = 60, height: int = 40, mode: str = "RGB") -> Any:
    """Blue, with red in its upper left quarter: it is seen which way up it is."""
    image = Image.new("RGB", (width, height), BLUE)
    image.paste(Image.new("RGB", (width // 2, height // 2), RED))
    return image.convert(mode)


def saved(image: Any, kind: str, **options: Any) -> bytes:
    """An image as a file of this kind, as Pillow calls it."""
    held = io.BytesIO()
    image.save(held, kind, **options)
    return held.getvalue()


def looked_at(data: bytes) -> Any:
    """A picture, to look at its points."""
    return Image.open(io.BytesIO(data)).convert("RGB")


def near(one: tuple[int, ...], other: tuple[int, ...], by: int = 40) -> bool:
    """Whether two colours are about the same."""
    return all(abs(a - b) <= by for a, b in zip(one, other, strict=True))


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_claiming(width: int, height: int, *chunks: bytes) -> bytes:
    """A PNG that says it is so large, and has the points of a row."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\x00" * (3 * min(width, 1_000) + 1))
    return PNG + chunk(b"IHDR", head) + b"".join(chunks) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def packed_zeros(size: int) -> bytes:
    """So many bytes, packed to a thousandth of them."""
    packer, pieces = zlib.compressobj(9), []
    for _ in range(size // 1_000_000):
        pieces.append(packer.compress(b"\x00" * 1_000_000))
    return b"".join((*pieces, packer.flush()))


def moving_gif(frames: int) -> bytes:
    """A GIF of so many pictures, of a single point each but the first."""
    first = saved(marked(), "GIF")[:-1]
    more = (
        b"\x21\xf9\x04\x00\x01\x00\x00\x00" + b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x4c\x01\x00"
    )
    return first + more * (frames - 1) + b";"


def with_place(kind: str = "JPEG") -> bytes:
    """A photograph that says where and with what it was taken, held on its side."""
    exif = Image.Exif()
    exif[0x0112], exif[0x010F], exif[0x8769] = 6, "Camera of Ida", {0x9286: b"ASCII\0\0\0at the quay"}
    exif[0x8825] = {1: "N", 2: (59.0, 54.0, 45.1), 3: "E", 4: (10.0, 44.0, 46.3)}
    return saved(marked(), kind, exif=exif.tobytes())


def red_as_green() -> bytes:
    """A colour profile in which red and green have changed places."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    tags = {bytes(profile[at : at + 4]): at for at in range(132, 132 + 12 * int.from_bytes(profile[128:132]), 12)}
    red, green = tags[b"rXYZ"], tags[b"gXYZ"]
    profile[red + 4 : red + 12], profile[green + 4 : green + 12] = (
        profile[green + 4 : green + 12],
        profile[red + 4 : red + 12],
    )
    return bytes(profile)


def svg(inside: str, head: str = "", attributes: str = "") -> bytes:
    """A drawing."""
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<?xml version="1.0"?>{head}<svg {names} width="200" height="100" {attributes}>{inside}</svg>'.encode()


def plain_png(width: int, height: int, color: bytes) -> bytes:
    """A picture of one colour."""
    return packed_png(width, height, 2, zlib.compress(b"".join(b"\x00" + color * width for _ in range(height))))


def packed_png(width: int, height: int, kind: int, packed: bytes, depth: int = 8) -> bytes:
    """A PNG of these packed points."""
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
