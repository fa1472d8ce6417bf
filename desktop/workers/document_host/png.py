"""A picture as PNG: three bytes a pixel."""

from __future__ import annotations

import struct
import zlib

LEVEL = 4


def png(pixels: bytes, width: int, height: int, stride: int) -> bytes:
    """``pixels``: rows of RGB, ``stride`` bytes from one to the next."""
    packer = zlib.compressobj(LEVEL)
    body = bytearray()
    view = memoryview(pixels)
    for row in range(height):
        at = row * stride
        body += packer.compress(b"\x00" + view[at : at + 3 * width])
    body += packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", bytes(body)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
