"""Reading what a person attaches, in a thread, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.messages import Block, FileBlock
from desktop.presenter.chat.attachments import COUNT_LIMIT, image_block, read_attachment

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge


class AttachingViewModel(QObject):
    """Files, images and long pasted text become blocks; what is refused is said in words."""

    ready = Signal(object)
    refused = Signal(str)

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self._bridge = bridge

    def files(self, paths: tuple[str, ...]) -> None:
        """Read files; folders, devices and too large ones are refused by name."""
        if len(paths) > COUNT_LIMIT:
            self.refused.emit(f"At most {COUNT_LIMIT} files go with one message.")
        self._bridge.spawn(self._files(paths[:COUNT_LIMIT]), name="read attachments")

    async def _files(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            try:
                block: Block = await self._bridge.in_thread(read_attachment, path)
            except KnownError as error:
                self.refused.emit(error.advice)
            else:
                self.ready.emit(block)

    def image(self, encoded: Callable[[], bytes]) -> None:
        """Attach a pasted image; ``encoded`` makes its PNG bytes and is called in a thread."""
        self._bridge.spawn(self._image(encoded), name="read pasted image")

    async def _image(self, encoded: Callable[[], bytes]) -> None:
        try:
            block = await self._bridge.in_thread(lambda: image_block(encoded()))
        except KnownError as error:
            self.refused.emit(error.advice)
        else:
            self.ready.emit(block)

    def text(self, text: str) -> None:
        """Pasted text that is too long for the composer travels as a file."""
        self.ready.emit(FileBlock("pasted text.txt", text))
