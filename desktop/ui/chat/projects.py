"""The folder of the open chat: its chip in the head, and the dialog that chooses another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from desktop.domain.files.projects import InstructionFile
from desktop.domain.loading.lazy import lazy_module
from desktop.presenter.common.folders import name_of
from desktop.ui.chat.folder_card import LookDialog
from desktop.ui.chat.models import ChatModels
from desktop.ui.chat.thread_pane import ThreadPane
from desktop.ui.widgets.shown import shown_line

if TYPE_CHECKING:
    from desktop.ui.chat import project_dialog
else:
    project_dialog = lazy_module("desktop.ui.chat.project_dialog")


class ProjectChip(QObject):
    """Opens the dialogs in the window of ``page``."""

    def __init__(self, page: QWidget, models: ChatModels, pane: ThreadPane) -> None:
        super().__init__(page)
        self._page, self._models = page, models
        self._header, self._text, card = pane.header, pane.foot.composer.text, pane.folder_card
        models.projects.files_changed.connect(lambda: card.show_files(models.projects.files))
        card.look_wanted.connect(self._look)
        models.chat.project_changed.connect(lambda _path: self._show())
        models.threads.rearranged.connect(self._show)
        pane.header.project.clicked.connect(self.choose)

    def _show(self) -> None:
        path = self._models.chat.project
        self._header.show_project(path, self._models.threads.closed.get(path, ""))
        self._text.show_project(shown_line(name_of(path)) if path else "")

    def _look(self, file: InstructionFile) -> None:
        """Show a file of the folder beside what it was."""
        LookDialog(self._page.window(), file, self._models.projects.seen(file)).open()

    def choose(self) -> None:
        """Let the person choose another folder, or none."""
        dialog = project_dialog.ProjectDialog(self._page.window(), self._models.projects)
        dialog.chosen.connect(self._models.projects.use)
        dialog.look_wanted.connect(lambda path: self._models.shell.run_command(f"project-offers:{path}"))
        dialog.open()
