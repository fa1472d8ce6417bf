"""A picture of a message for the clipboard, as other programs take it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QObject, QSize
from PySide6.QtGui import QGuiApplication, QImageWriter

from desktop.presenter.transcript.items import MediaPart
from desktop.ui.theme.raster_images import raster_image
from desktop.ui.transcript.pieces.pooled import Pool

WHOLE = QSize(20_000, 20_000)
"""A picture at its full size."""


def copy_picture(owner: QObject, media: MediaPart, said: Callable[[str], None]) -> None:
    """Put it on the clipboard, and say so. What takes time is done in a thread, and ahead: whoever pastes does not make
    the window wait."""

    def arrived(found: bytes | None) -> None:
        if not found:
            said("This picture cannot be copied")
            return
        held = QMimeData()
        held.setData("image/png", QByteArray(found))
        QGuiApplication.clipboard().setMimeData(held)
        said("Picture copied")

    Pool(owner).run(lambda: _as_png(media.whole), arrived)


def _as_png(data: bytes) -> bytes:
    """The same picture as PNG, which every program takes; empty where it cannot be read."""
    if data.startswith(b"\x89PNG"):
        return data
    image = raster_image(data, WHOLE)
    if image is None:
        return b""
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(held.data())
