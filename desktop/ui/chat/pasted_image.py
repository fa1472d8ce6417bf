"""A picture from the clipboard as PNG bytes. Runs in a thread: a large one takes longer than the window may wait."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage, QImageWriter

from desktop.presenter.attachments import AttachmentRefused

WIDEST = 2048
"""A pasted image wider than this many pixels is made smaller."""


def png_of(image: QImage) -> bytes:
    """The image as PNG, at most ``WIDEST`` pixels wide. Raises AttachmentRefused for one that cannot be written."""
    if image.width() > WIDEST:
        image = image.scaledToWidth(WIDEST, Qt.TransformationMode.SmoothTransformation)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # Not QImage.save(): for its format the stubs of PySide want bytes, and 6.11.3 itself takes only str.
    writer = QImageWriter(buffer, b"png")
    if not writer.write(image):
        raise AttachmentRefused("The pasted picture cannot be read.", next_step="Save it, and attach the file.")
    return bytes(data.data())
