"""A picture on the clipboard or under the pointer, taken without decoding what another program wrote."""

from __future__ import annotations

from PySide6.QtCore import QMimeData

FORMATS = ("png", "jpeg", "webp", "gif", "avif", "tiff", "bmp")
"""What is taken of a picture that is held in several; the first is taken."""


def held_image(held: QMimeData) -> object:
    """The held image: its bytes in a format that is opened here, or a QImage where the system itself or this app
    holds it; None where there are only other formats."""
    formats = held.formats()
    for kind in FORMATS:
        if f"image/{kind}" in formats:
            return bytes(held.data(f"image/{kind}").data())
    return None if any(name.startswith("image/") for name in formats) else held.imageData()
