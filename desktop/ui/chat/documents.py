"""The document beside the open chat: shown when one is opened, put away with its chat, saved where a person says."""

from __future__ import annotations

from PySide6.QtCore import QObject

from desktop.ui.chat.models import ChatModels
from desktop.ui.chat.side import DOCUMENT, SidePanels
from desktop.ui.widgets.dialogs.toast import Toast


class DocumentBeside(QObject):
    """Ties the view-model of documents to the panel beside the chat."""

    def __init__(self, models: ChatModels, side: SidePanels, toast: Toast) -> None:
        super().__init__(side)
        self._chat, self._side = models.chat, side
        side.document_model = models.document
        self._wanted = False
        models.document.opened.connect(self._show)
        models.document.said.connect(toast.say)
        models.chat.opened.connect(self._leave)
        side.save_wanted.connect(self._save)

    def _show(self) -> None:
        self._wanted = True
        self._side.bring(DOCUMENT, lambda: self._wanted)

    def _leave(self, _thread: str) -> None:
        """Documents are a chat's own."""
        self._wanted = False
        if self._side.shown == DOCUMENT:
            self._side.show("")

    def _save(self, path: str, data: bytes) -> None:
        self._chat.save_file(path, lambda: data)
