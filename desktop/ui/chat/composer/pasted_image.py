"""A picture from the clipboard as bytes. Runs in a thread: a large one takes longer than the window may wait."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage, QImageWriter

WIDEST = 4096
"""A picture that the system itself holds is made smaller if it is wider or higher than this many pixels."""


def bytes_of(held: object) -> bytes:
    """What was held, as it came; a picture that the system holds without a format as PNG; empty for anything else.
    Nothing that another program wrote is decoded here."""
    if isinstance(held, bytes):
        return held
    if not isinstance(held, QImage) or held.isNull():
        return b""
    image = held
    if max(image.width(), image.height()) > WIDEST:
        keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        image = image.scaled(WIDEST, WIDEST, keep, smooth)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # Not QImage.save(): for its format the stubs of PySide want bytes, and 6.11.3 itself takes only str.
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(data.data())
