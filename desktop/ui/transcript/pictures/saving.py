"""Saving an image or a sound of a message: a person says where, and the bytes go there as they came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from desktop.presenter.transcript.items import MediaPart
from desktop.ui.widgets.dialogs.files import FileDialog


class SaveThen(Protocol):
    """Saves as ``Save`` does; ``then`` is called once it is on the disk."""

    def __call__(self, path: str, make: Callable[[], bytes], *, then: Callable[[], None] = ...) -> None: ...


Save = Callable[[str, Callable[[], bytes]], None]
"""Where to, and what gives the bytes: base64 of megabytes is not undone in the window's thread."""


def ask_where(parent: QWidget, media: MediaPart, save: Save) -> FileDialog:
    """A dialog, already open, that saves where it is told to."""
    return _asked(parent, media, lambda path: save(path, lambda: media.whole))


def ask_and_play(parent: QWidget, media: MediaPart, save: SaveThen) -> FileDialog:
    """The same of a sound, which the system's player then opens: Assent plays none itself. A file of another ending
    than the sound's own is only saved."""
    ending = media.name.rpartition(".")[2].lower()

    def play(path: str) -> None:
        if not media.is_image and path.lower().endswith(f".{ending}"):
            QDesktopServices.openUrl(QUrl.fromLocalFile(path))

    return _asked(parent, media, lambda path: save(path, lambda: media.whole, then=lambda: play(path)))


def _asked(parent: QWidget, media: MediaPart, chosen: Callable[[str], None]) -> FileDialog:
    dialog = FileDialog(parent, f"Save this {'image' if media.is_image else 'sound'}")
    dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(media.name.rpartition(".")[2])
    dialog.selectFile(media.name)
    dialog.fileSelected.connect(chosen)
    dialog.open()
    return dialog
