"""Pages and drawings as pictures: cleaned, drawn whole, handed out piece by piece."""

from __future__ import annotations

import base64
import itertools
import re
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import blitz_py

from desktop.workers.inside import CallError
from desktop.workers.result_host import limits
from desktop.workers.result_host.cleaning import Cleaner
from desktop.workers.result_host.drawings import Drawings, size_of

BASE = "https://page.invalid/"
"""What addresses in a page are relative to: there is no such place, and no network to look for it."""
_TOO_TALL = re.compile(r"auto height (\d+)px")
_ELEMENT = re.compile(r"<[a-z]", re.IGNORECASE)
_ROOT = re.compile(r"<svg(?=[\s>])(?P<head>[^>]*+)>", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*+>([^<]{0,400})", re.IGNORECASE)
_FIRST = (
    "<style>:has(svg,img,table,pre){min-width:0}img,svg{max-width:100%}"
    'pre,code,kbd,samp,tt,textarea{font-family:"JetBrains Mono"}'
    "template,dialog:not([open]){display:none}</style>"
)
LEVEL = 1


class Drawn:
    """A page or a drawing. ``left`` is what was left out of it."""

    def __init__(self, text: str, *, is_svg: bool, fonts: Sequence[Path], readable: bool) -> None:
        cleaner = Cleaner()
        self._svg = is_svg
        self._drawings = Drawings(fonts, readable=readable)
        self.title = _title(text)
        self._page = cleaner.drawing(text) if is_svg else cleaner.page(text)
        self.left, self.more = cleaner.left, cleaner.more
        self._cut = ""
        if not is_svg:
            self._page = _FIRST + self._drawings.inside(self._shortened(self._page))
        self._pixels = b""
        self.width = self.height = 0
        self.note = ""

    def draw(self, width: int, scale: float) -> None:
        """Draw it so wide, at 100 %, with so many pixels for each. Raises CallError."""
        width, scale = max(80, min(width, limits.WIDTH)), max(0.5, min(scale, 4.0))
        try:
            self._draw(width, scale)
        except (ValueError, TypeError) as error:
            raise CallError("result.not_drawn", f"It cannot be drawn ({' '.join(str(error).split())[:200]}).") from None
        except MemoryError:
            raise
        except BaseException as error:  # what it raises for a fault of its own is no Exception
            if type(error).__name__ != "PanicException":
                raise
            raise CallError("result.not_drawn", "What draws pages broke down over it.") from None

    def tile(self, number: int) -> bytes:
        """One piece of what was drawn, as PNG. Raises CallError."""
        top = number * limits.TILE
        if not self._pixels or not 0 <= top < self.height:
            raise CallError("result.no_piece", "There is no such piece of it.")
        high, stride = min(limits.TILE, self.height - top), 4 * self.width
        return _png(memoryview(self._pixels)[top * stride : (top + high) * stride], self.width, high)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _shortened(self, page: str) -> str:
        """The beginning of a page that would take minutes to lay out."""
        starts = [found.start() for found in itertools.islice(_ELEMENT.finditer(page), limits.ELEMENTS + 1)]
        if len(starts) <= limits.ELEMENTS:
            return page
        self._cut = f"Only its first {limits.ELEMENTS:,} elements are drawn."
        return page[: starts[-1]]

    def _draw(self, width: int, scale: float) -> None:
        page = self._framed(width, scale) if self._svg else self._page
        self.note = self._cut
        scale = min(scale, max(0.5, (limits.PIXELS / (width * limits.TALL)) ** 0.5) if self._svg else scale)
        try:
            self._take(page, width, None, scale)
        except ValueError as error:
            found = _TOO_TALL.search(str(error))
            if found is None:
                raise
            self._first_part(page, width, scale, int(found[1]))

    def _take(self, page: str, width: int, height: int | None, scale: float) -> None:
        self.width, self.height, self._pixels = blitz_py.render_rgba(
            page, width=width, height=height, scale=scale, base_url=BASE, background="#ffffff"
        )
        if height is None and self.height < 8 * scale:  # all of it lies over the page: then it is as a window shows it
            self._take(page, width, max(400, round(width * 0.75)), scale)

    def _first_part(self, page: str, width: int, scale: float, tall: int) -> None:
        """A page beyond all measure: its beginning."""
        high = min(limits.TALL, tall, int(limits.PIXELS / (width * scale * scale)))
        self.note = self._cut or f"Only the first {high:,} of {tall:,} points are drawn."
        self._take(page, width, high, scale)

    def _framed(self, width: int, scale: float) -> str:
        """A drawing as a page: as large as it is, or as there is room."""
        found = _ROOT.search(self._page)
        size = size_of(found["head"]) if found is not None else None
        if found is None or size is None:
            raise ValueError("it says no size, or is no SVG")
        wide = min(size[0], width - 2.0)
        picture = self._drawings.picture(self._page[found.start() :], min(4.0, max(0.05, wide * scale / size[0])))
        return _page_of(picture, "png", wide, wide * size[1] / size[0])


def _page_of(data: bytes, kind: str, width: float, height: float) -> str:
    source = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
    size = f"display:block;margin:0 auto;width:{width}px;height:{height}px"
    return f'<body style="margin:0"><img src="{source}" style="{size}"></body>'


def _title(text: str) -> str:
    found = _TITLE.search(text[:200_000])
    return " ".join(found[1].split())[:200] if found is not None else ""


def _png(pixels: memoryview, width: int, height: int) -> bytes:
    """Rows of four bytes a pixel, none of which can be seen through."""
    packer, stride = zlib.compressobj(LEVEL), 4 * width
    body = bytearray()
    for row in range(height):
        body += packer.compress(b"\x00" + pixels[row * stride : (row + 1) * stride])
    body += packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", bytes(body)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
