"""Unpacks what servers send packed, in pieces of a bounded size: a small answer can be packed gigabytes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

INFLATERS = {"gzip": 31, "x-gzip": 31, "deflate": zlib.MAX_WBITS}
"""What can be unpacked, by its name in ``Content-Encoding``."""
PIECE = 64 * 1024
"""Bytes that are unpacked at once."""


class BadPacking(Exception):
    """It is not packed in the way that was said."""


class Inflater:
    """Unpacks gzip or deflate."""

    def __init__(self, encoding: str) -> None:
        self._bits = INFLATERS[encoding]
        self._packed = zlib.decompressobj(self._bits)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What ``data`` unpacks to. Raises BadPacking."""
        while data:
            try:
                piece = self._packed.decompress(data, PIECE)
            except zlib.error:
                if self._bits != zlib.MAX_WBITS or self._begun:
                    raise BadPacking from None
                self._bits = -zlib.MAX_WBITS  # "deflate" is written with and without its header
                self._packed = zlib.decompressobj(self._bits)
                continue
            self._begun = True
            yield piece
            data = self._packed.unconsumed_tail
            if self._packed.eof:
                data = self._packed.unused_data
                self._packed = zlib.decompressobj(self._bits)


def unpacked(data: bytes, inflaters: list[Inflater]) -> Iterator[bytes]:
    """Through all packings, the last one applied first. Raises BadPacking."""
    if not inflaters:
        yield data
        return
    for piece in inflaters[0].feed(data):
        yield from unpacked(piece, inflaters[1:])
