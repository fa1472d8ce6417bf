"""The folder of the open chat: its chip in the head, and the dialog that chooses another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from desktop.domain.lazy import lazy_module
from desktop.ui.chat.header import ThreadHeader
from desktop.ui.chat.models import ChatModels

if TYPE_CHECKING:
    from desktop.ui.chat import project_dialog
else:
    project_dialog = lazy_module("desktop.ui.chat.project_dialog")


class ProjectChip(QObject):
    """Opens the dialog in the window of ``page``."""

    def __init__(self, page: QWidget, models: ChatModels, header: ThreadHeader) -> None:
        super().__init__(page)
        self._page, self._models, self._header = page, models, header
        models.chat.project_changed.connect(lambda _path: self._show())
        models.threads.rearranged.connect(self._show)
        header.project.clicked.connect(self.choose)

    def _show(self) -> None:
        path = self._models.chat.project
        self._header.show_project(path, self._models.threads.closed.get(path, ""))

    def choose(self) -> None:
        """Let the person choose another folder, or none."""
        dialog = project_dialog.ProjectDialog(self._page.window(), self._models.projects)
        dialog.chosen.connect(self._models.projects.use)
        dialog.open()
