"""What is done with an image or a sound of a message: opened large, copied, saved, played."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from desktop.presenter.transcript.items import MediaPart, TranscriptItem
from desktop.ui.transcript.pictures.copying import copy_picture
from desktop.ui.transcript.pictures.saving import SaveThen, ask_and_play, ask_where
from desktop.ui.transcript.pictures.viewer import PictureViewer
from desktop.ui.transcript.pieces.media_strip import COPY, LARGE, PLAY, SAVE


def act_on_media(
    parent: QWidget, item: TranscriptItem | None, action: str, save: SaveThen, said: Callable[[str], None]
) -> bool:
    """Do what an action of a message's media means; False for any other action."""
    begin = next((one for one in (SAVE, PLAY, LARGE, COPY) if action.startswith(one)), "")
    media = _found(item, action.removeprefix(begin)) if begin else None
    if item is None or media is None:
        return False
    if begin == PLAY:
        ask_and_play(parent, media, save)
    elif begin == SAVE:
        ask_where(parent, media, save)
    elif begin == COPY:
        copy_picture(parent, media, said)
    else:
        images = [one for one in item.media if one.is_image]
        PictureViewer(parent.window(), images, images.index(media), save, said).show_now()
    return True


def _found(item: TranscriptItem | None, part_id: str) -> MediaPart | None:
    return next((media for media in item.media if media.part_id == part_id), None) if item is not None else None
