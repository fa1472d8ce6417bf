"""The one place where bytes of strangers become pictures: attached files, what tools and servers give, the clipboard,
icons of agents.

Qt finds out by itself what bytes are, and tries every plugin of this computer for it: TIFF, ICO, PDF, SVG, camera
files. Here only PNG, JPEG, GIF and WebP are read, each by its own decoder, told by the first bytes and not by a name.
What claims too many pixels is left before any of them is decoded; of an animation there is the first frame.
"""

from __future__ import annotations

import re
import threading

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader

MAX_BYTES = 40_000_000
MAX_PIXELS = 50_000_000
"""The largest pictures of telephones; four bytes each while they are decoded."""
FORMATS = ("png", "jpeg", "gif", "webp")
_MAGIC = {"png": (b"\x89PNG\r\n\x1a\n",), "jpeg": (b"\xff\xd8\xff",), "gif": (b"GIF87a", b"GIF89a"), "webp": (b"RIFF",)}
MAX_CHUNKS = 50_000
"""Of a PNG; a usual one has some for each megabyte."""
_NEEDED_CHUNKS = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"eXIf"})
"""What a PNG needs to look as it should. Qt would unpack and keep all texts and profiles, which may be packed a
thousandfold: gigabytes out of a few megabytes."""
MAX_SCANS = 100
"""Of a JPEG, each of which walks over the whole picture; a usual progressive one has about ten."""
MAX_SEGMENTS = 5_000
_MARKER = re.compile(rb"\xff([\x01-\xcf\xd9-\xfe])")
"""What is no data, and no restart within it."""
_ONE = threading.Lock()
"""One at a time: many large ones at once would take all memory."""


def raster_format(data: bytes) -> str:
    """One of ``FORMATS`` by the first bytes, or ""."""
    found = next((kind for kind, magic in _MAGIC.items() if data.startswith(magic)), "")
    return "" if found == "webp" and data[8:12] != b"WEBP" else found


def raster_image(
    data: bytes, room: QSize, *, cover: bool = False, max_bytes: int = MAX_BYTES, max_pixels: int = MAX_PIXELS
) -> QImage | None:
    """The picture upright, within ``room`` and never enlarged; ``cover``: its middle, filling the room. None for what
    is no picture, is broken, or is too much. Blocks: call it in a thread."""
    kind = raster_format(data) if len(data) <= max_bytes and not room.isEmpty() else ""
    if not kind or (kind == "jpeg" and not _bearable(data)):
        return None
    if kind == "png" and not (data := _without_words(data)):
        return None
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(kind.encode()))
    reader.setAutoDetectImageFormat(False)
    reader.setAutoTransform(True)
    size = reader.size()
    if not size.isValid() or not 0 < size.width() * size.height() <= max_pixels:
        return None
    turned = bool(reader.transformation() & QImageIOHandler.Transformation.TransformationRotate90)
    target = room.transposed() if turned else room
    reader.setScaledSize(_filling(size, target) if cover else fitted(size, target))
    with _ONE:
        image = reader.read()
    if image.isNull():
        return None
    return image.copy(_middle(image.size(), room)) if cover else image


def _without_words(png: bytes) -> bytes:
    """The PNG with the chunks in ``_NEEDED_CHUNKS`` alone; empty where it does not consist of chunks, or of too
    many."""
    kept, at = [png[:8]], 8
    for _ in range(MAX_CHUNKS):
        kind, end = png[at + 4 : at + 8], at + 12 + int.from_bytes(png[at : at + 4])
        if end > len(png):
            return b""
        if kind in _NEEDED_CHUNKS:
            kept.append(png[at:end])
        if kind == b"IEND":
            return b"".join(kept)
        at = end
    return b""


def _bearable(jpeg: bytes) -> bool:
    """Whether it has few enough scans: looks at its markers only, in time that its length bounds."""
    scans, at = 0, 2
    for _ in range(MAX_SEGMENTS):
        found = _MARKER.search(jpeg, at)
        if found is None or found[1] == b"\xd9":
            return True
        scans += found[1] == b"\xda"
        if scans > MAX_SCANS:
            return False
        at = found.end() + (0 if found[1] == b"\x01" else int.from_bytes(jpeg[found.end() : found.end() + 2]))
    return False


def fitted(size: QSize, room: QSize) -> QSize:
    """The size as it is, or smaller in the same proportions to fit; at least one pixel."""
    if size.width() > room.width() or size.height() > room.height():
        size = size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
    return size.expandedTo(QSize(1, 1))


def _filling(size: QSize, room: QSize) -> QSize:
    """Large enough for the room. A thin strip is not made longer than it takes to be cut: it is stretched instead."""
    filling = size.scaled(room, Qt.AspectRatioMode.KeepAspectRatioByExpanding)
    return filling.boundedTo(QSize(room.width() * 20, room.height() * 20)).expandedTo(room)


def _middle(size: QSize, room: QSize) -> QRect:
    return QRect((size.width() - room.width()) // 2, (size.height() - room.height()) // 2, room.width(), room.height())
