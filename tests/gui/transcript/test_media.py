"""What a tool gave is a stranger's: only a picture of a known kind and a bearable size is ever decoded."""

import struct
import zlib

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize
from PySide6.QtGui import QColor, QImage, QImageWriter

from desktop.ui.transcript.media_strip import decoded, fitted

ROOM = QSize(720, 480)


def picture(width: int, height: int, kind: bytes = b"png") -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, QByteArray(kind)).write(image)
    return bytes(data.data())


def bomb(side: int) -> bytes:
    """A PNG of a few kilobytes that says it is this large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    packed = zlib.compress(b"\0" * 100_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", [b"png", b"jpeg"])
def test_a_picture_is_decoded_no_larger_than_it_is_drawn(qapp: object, kind: bytes) -> None:
    found = decoded(picture(2_000, 500, kind), ROOM)
    assert found is not None
    assert (found.width(), found.height()) == (720, 180)
    small = decoded(picture(3, 2, kind), ROOM)
    assert small is not None
    assert (small.width(), small.height()) == (3, 2)
    assert fitted(QSize(10_000, 1), ROOM) == QSize(720, 1)


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", picture(3, 2)[:40],
     bomb(60_000), picture(3, 2, b"bmp")],
    ids=["nothing", "text", "svg", "half", "bomb", "bmp"],
)  # fmt: skip
def test_what_is_none_or_too_large_is_not_decoded(qapp: object, data: bytes) -> None:
    assert decoded(data, ROOM) is None
