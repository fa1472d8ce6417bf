"""A picture on the clipboard or under the pointer, taken without decoding what another program wrote."""

from __future__ import annotations

from PySide6.QtCore import QMimeData

from desktop.ui.theme.raster_images import FORMATS


def held_image(held: QMimeData) -> object:
    """Its bytes in a format that is read here; None where there are only others. A picture that the system itself or
    this app holds comes as a QImage."""
    formats = held.formats()
    for kind in FORMATS:
        if f"image/{kind}" in formats:
            return bytes(held.data(f"image/{kind}").data())
    return None if any(name.startswith("image/") for name in formats) else held.imageData()
