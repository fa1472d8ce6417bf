"""Bytes of strangers: only a picture of a known kind and a bearable size is ever decoded, and never in the window."""

from __future__ import annotations

import re
import resource
import struct
import zlib
from pathlib import Path

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QSize
from PySide6.QtGui import QColor, QImage, QImageWriter

from desktop.ui.chat.composer.pasted_image import bytes_of
from desktop.ui.theme import raster_images
from desktop.ui.theme.raster_images import MAX_CHUNKS, MAX_PIXELS, MAX_SCANS, fitted, raster_format, raster_image
from desktop.ui.widgets.dialogs.held_image import held_image

ROOM = QSize(720, 480)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"


def picture(width: int, height: int, kind: bytes = b"png") -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    image.setPixelColor(0, 0, QColor("red"))
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, QByteArray(kind)).write(image)
    return bytes(data.data())


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few kilobytes that says it is this large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    packed = zlib.compress(b"\0" * 100_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def gif(screen: tuple[int, int], frame: tuple[int, int], frames: int = 1) -> bytes:
    """Frames of one colour, in a GIF that says how large it is, and how large they are."""
    one = b"\x21\xf9\x04\x00\x0a\x00\x00\x00\x2c" + struct.pack("<HHHHB", 0, 0, *frame, 0) + b"\x02\x02\x44\x01\x00"
    return b"GIF89a" + struct.pack("<HHBBB", *screen, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff" + one * frames + b"\x3b"


def turned(jpeg: bytes, orientation: int) -> bytes:
    """With EXIF that says which way up it is."""
    tag = struct.pack("<HHIHH", 0x0112, 3, 1, orientation, 0)
    exif = b"Exif\0\0" + b"II*\0\x08\0\0\0" + struct.pack("<H", 1) + tag + b"\0\0\0\0"
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


@pytest.mark.parametrize("kind", [b"png", b"jpeg", b"webp"])
def test_a_picture_is_decoded_no_larger_than_it_is_drawn(qapp: object, kind: bytes) -> None:
    found = raster_image(picture(2_000, 500, kind), ROOM)
    assert found is not None
    assert (found.width(), found.height()) == (720, 180)
    small = raster_image(picture(3, 2, kind), ROOM)
    assert small is not None
    assert (small.width(), small.height()) == (3, 2)
    assert fitted(QSize(10_000, 1), ROOM) == QSize(720, 1)


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_a_picture_stands_upright_and_fits_its_room_as_it_stands(qapp: object, orientation: int) -> None:
    found = raster_image(turned(picture(2_000, 500, b"jpeg"), orientation), ROOM)
    assert found is not None
    assert (found.width(), found.height()) == ((120, 480) if orientation > 4 else (720, 180))


@pytest.mark.parametrize(("width", "height"), [(2_000, 500), (500, 2_000), (3, 2), (20_000, 1)])
def test_a_picture_that_covers_its_room_is_exactly_as_large(qapp: object, width: int, height: int) -> None:
    found = raster_image(picture(width, height), QSize(40, 40), cover=True)
    assert found is not None
    assert found.size() == QSize(40, 40)


HOSTILE = {
    "nothing": b"",
    "text": b"hello",
    "svg": SVG,
    "svg that begins like a png": b"\x89PNG\r\n\x1a\n" + SVG,
    "half of a png": picture(300, 200)[:60],
    "half of a jpeg": picture(300, 200, b"jpeg")[:30],
    "png of 60,000 by 60,000": bomb(60_000, 60_000),
    "png of 2,147,483,647 by 1": bomb(2**31 - 1, 1),
    "png of 0 by 0": bomb(0, 0),
    "gif of 60,000 by 60,000": gif((60_000, 60_000), (1, 1)),
    "gif that ends before its frame": gif((9, 9), (9, 9))[:15],
    "bmp": picture(3, 2, b"bmp"),
    "ico": picture(3, 2, b"ico"),
    "ppm": picture(3, 2, b"ppm"),
    "xbm": picture(3, 2, b"xbm"),
    "tiff": b"II*\0\x08\0\0\0\0\0",
    "pdf": b"%PDF-1.4\n1 0 obj <<>> endobj",
    "wav": b"RIFF\x24\0\0\0WAVEfmt ",
    "webp without a picture": b"RIFF\x0c\0\0\0WEBPVP8 ",
}


@pytest.mark.qt_log_ignore("JPEG", "Huffman", "SOS")
@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("cover", [False, True])
def test_what_is_no_picture_or_too_large_a_one_is_not_decoded(qapp: object, data: bytes, cover: bool) -> None:
    assert raster_image(data, ROOM, cover=cover) is None


def test_caps_of_bytes_and_pixels_hold(qapp: object) -> None:
    data = picture(20, 10)
    assert raster_image(data, ROOM, max_bytes=len(data) - 1) is None
    assert raster_image(data, ROOM, max_pixels=199) is None
    assert raster_image(data, QSize()) is None
    assert raster_image(data, ROOM, max_bytes=len(data), max_pixels=200) is not None
    assert raster_image(bomb(MAX_PIXELS + 1, 1), ROOM) is None


def test_of_an_animation_there_is_the_first_frame_within_what_the_file_said_of_its_size(qapp: object) -> None:
    found = raster_image(gif((8, 8), (60_000, 60_000), frames=500), ROOM)
    assert found is not None
    assert found.size() == QSize(8, 8)
    many = raster_image(gif((8, 8), (8, 8), frames=5_000), ROOM)
    assert many is not None
    assert many.size() == QSize(8, 8)


def scanned(scans: int) -> bytes:
    """A progressive JPEG of 64 by 64 with this many scans that change nothing, one after another."""

    def segment(marker: int, data: bytes) -> bytes:
        return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data

    head = segment(0xDB, b"\0" + b"\1" * 64) + segment(0xC2, struct.pack(">BHHB", 8, 64, 64, 1) + b"\1\x11\0")
    tables = segment(0xC4, b"\x00" + bytes([1] + [0] * 15) + b"\0")
    tables += segment(0xC4, b"\x10" + bytes([0, 2] + [0] * 14) + b"\xe0\x00")
    first = segment(0xDA, b"\1\1\x00\0\0\0") + b"\0" * 8
    more = segment(0xDA, b"\1\1\x00\1\x3f\0") + b"\0" * 4
    return b"\xff\xd8" + head + tables + first + more * (scans - 1) + b"\xff\xd9"


@pytest.mark.qt_log_ignore("JPEG", "Huffman", "SOS")
def test_a_jpeg_of_too_many_scans_is_not_decoded_and_what_else_is_in_it_counts_for_none(qapp: object) -> None:
    assert raster_image(scanned(MAX_SCANS), ROOM) is not None
    assert raster_image(scanned(MAX_SCANS + 1), ROOM) is None
    usual = picture(300, 200, b"jpeg")
    said = b"\xff\xda" * 30_000
    assert raster_image(usual[:2] + b"\xff\xfe" + struct.pack(">H", len(said) + 2) + said + usual[2:], ROOM) is not None
    empty = b"\xff\xfe\0\2" * 10_000
    assert raster_image(usual[:2] + empty + usual[2:], ROOM) is None


def test_a_name_says_nothing_about_what_bytes_are(qapp: object) -> None:
    kinds = [raster_format(picture(3, 2, kind)) for kind in (b"png", b"jpeg", b"webp", b"bmp")]
    assert [*kinds, raster_format(gif((1, 1), (1, 1)))] == ["png", "jpeg", "webp", "", "gif"]


def test_a_picture_on_the_clipboard_is_not_decoded_before_it_is_known_what_it_is(qapp: object) -> None:
    held = QMimeData()
    held.setData("image/heic", b"\0\0\0\x18ftypheic")
    assert held_image(held) is None
    assert bytes_of(held_image(held)) == b""
    held.setData("image/png", b"anything at all")
    assert bytes_of(held_image(held)) == b"anything at all"


def test_a_picture_that_the_system_holds_without_a_format_becomes_one_that_is_not_too_large(qapp: object) -> None:
    image = QImage(9_000, 30, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    made = QImage.fromData(bytes_of(image))
    assert (made.size(), made.pixelColor(9, 9)) == (QSize(4096, 13), QColor("teal"))


def test_nothing_else_reads_pictures_out_of_bytes() -> None:
    readers = re.compile(r"QImageReader\(|QMovie\(|romData\(|imageData\(|Q(?:Image|Pixmap)\([^)]*(?:path|file|data)")
    root = Path(raster_images.__file__).parents[2]
    found = {path.name for path in root.rglob("*.py") if readers.search(path.read_text("utf-8"))}
    assert found == {"raster_images.py", "held_image.py"}


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def with_chunks(png: bytes, *more: bytes) -> bytes:
    """After the head, which is 33 bytes."""
    return png[:33] + b"".join(more) + png[33:]


def test_packed_words_of_a_picture_are_never_unpacked(qapp: object) -> None:
    """300 texts of 7 MB each in a file of 2 MB: Qt would unpack and keep them all."""
    packed = zlib.compress(b"a" * 7_000_000, 9)
    texts = [chunk(b"zTXt", b"key %d\0\0" % number + packed) for number in range(300)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = raster_image(with_chunks(picture(30, 20), *texts, chunk(b"iCCP", b"x\0\0" + packed)), ROOM)
    assert found is not None
    assert (found.width(), found.height()) == (30, 20)
    assert not found.textKeys()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "kilobytes"


def test_what_a_png_needs_to_look_as_it_should_is_kept(qapp: object) -> None:
    see_through = QImage(4, 4, QImage.Format.Format_Indexed8)
    see_through.setColorTable([QColor(255, 0, 0, 0).rgba(), QColor("teal").rgba()])
    see_through.fill(0)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, b"png").write(see_through)
    found = raster_image(bytes(data.data()), ROOM)
    assert found is not None
    assert found.pixelColor(1, 1).alpha() == 0


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(picture(30, 20)[:40], id="cut off"),
        pytest.param(picture(30, 20)[:33] + b"\xff\xff\xff\xffzTXt", id="a chunk longer than the file"),
        pytest.param(with_chunks(picture(30, 20), *[chunk(b"tEXt", b"")] * (MAX_CHUNKS + 1)), id="too many chunks"),
    ],
)
def test_a_png_in_pieces_that_do_not_fit_is_no_picture(qapp: object, data: bytes) -> None:
    assert raster_image(data, ROOM) is None
