"""Saving an image or a sound from the card of its call: a person says where, and the bytes go there as they came."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from desktop.presenter.transcript.items import CallsPart, MediaPart, ToolPart, TranscriptItem
from desktop.ui.transcript.pieces.media_strip import SAVE
from desktop.ui.widgets.dialogs.files import FileDialog

Save = Callable[[str, Callable[[], bytes]], None]
"""Where to, and what gives the bytes: base64 of megabytes is not undone in the window's thread."""


def media_of(item: TranscriptItem | None, action: str) -> MediaPart | None:
    """What an action of a card means, if it is to save something."""
    if item is None or not action.startswith(SAVE):
        return None
    calls = [call for part in item.parts if isinstance(part, CallsPart) for call in part.calls]
    cards = [part for part in (*item.parts, *calls) if isinstance(part, ToolPart)]
    wanted = action.removeprefix(SAVE)
    return next((media for card in cards for media in card.media if media.part_id == wanted), None)


def ask_where(parent: QWidget, media: MediaPart, save: Save) -> FileDialog:
    """A dialog, already open, that saves where it is told to."""
    dialog = FileDialog(parent, f"Save this {'image' if media.is_image else 'sound'}")
    dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(media.name.rpartition(".")[2])
    dialog.selectFile(media.name)
    dialog.fileSelected.connect(lambda path: save(path, lambda: media.whole))
    dialog.open()
    return dialog
