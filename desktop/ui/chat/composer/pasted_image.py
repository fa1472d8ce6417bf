"""A picture from the clipboard as PNG bytes. Runs in a thread: a large one takes longer than the window may wait."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageWriter

from desktop.presenter.chat.attachments import AttachmentRefused
from desktop.ui.theme.raster_images import raster_image

WIDEST, HIGHEST = 2048, 20_000
"""A pasted image wider or higher than this many pixels is made smaller."""


def png_of(held: QImage | bytes) -> bytes:
    """The image as PNG, at most ``WIDEST`` pixels wide. Raises AttachmentRefused for one that cannot be read or
    written."""
    image = held if isinstance(held, QImage) else raster_image(held, QSize(WIDEST, HIGHEST)) or QImage()
    if image.width() > WIDEST:
        image = image.scaledToWidth(WIDEST, Qt.TransformationMode.SmoothTransformation)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # Not QImage.save(): for its format the stubs of PySide want bytes, and 6.11.3 itself takes only str.
    writer = QImageWriter(buffer, b"png")
    if not writer.write(image):
        raise AttachmentRefused(
            "This picture cannot be read: Assent reads PNG, JPEG, GIF and WebP.",
            next_step="Save it in one of these formats, and attach the file.",
        )
    return bytes(data.data())
