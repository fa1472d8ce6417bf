"""The document or the result beside the open chat: shown when one is opened, put away with its chat, saved where a
person says."""

from __future__ import annotations

from PySide6.QtCore import QObject

from desktop.ui.chat.cards import open_link
from desktop.ui.chat.models import ChatModels
from desktop.ui.chat.side import DOCUMENT, RESULT, SidePanels
from desktop.ui.widgets.dialogs.toast import Toast


class DocumentBeside(QObject):
    """Ties the view-models of documents and of results to the panels beside the chat."""

    def __init__(self, models: ChatModels, side: SidePanels, toast: Toast) -> None:
        super().__init__(side)
        self._chat, self._side = models.chat, side
        side.document_model = models.document
        self._wanted = ""
        models.document.opened.connect(lambda: self._show(DOCUMENT))
        models.document.said.connect(toast.say)
        side.result_model, side.fences = models.results.shown, models.fences
        models.results.shown.opened.connect(lambda: self._show(RESULT))
        models.results.shown.said.connect(toast.say)
        models.chat.opened.connect(self._leave)
        models.chat.opened.connect(models.results.cards.open_thread)
        side.save_wanted.connect(self._save)
        side.link_wanted.connect(open_link)

    def _show(self, name: str) -> None:
        self._wanted = name
        self._side.bring(name, lambda: self._wanted == name)

    def _leave(self, _thread: str) -> None:
        """Documents and results are a chat's own."""
        self._wanted = ""
        if self._side.shown in (DOCUMENT, RESULT):
            self._side.show("")

    def _save(self, path: str, data: bytes) -> None:
        self._chat.save_file(path, lambda: data)
