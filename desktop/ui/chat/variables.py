"""The variables of the open chat: their dialog is opened, and what the toast of the page says is undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from desktop.domain.loading.lazy import lazy_module
from desktop.ui.chat.models import ChatModels
from desktop.ui.widgets.dialogs.toast import Toast

if TYPE_CHECKING:
    from desktop.presenter.chat.thread_variables import ChatVariables
    from desktop.ui.chat import variables_dialog
else:
    variables_dialog = lazy_module("desktop.ui.chat.variables_dialog")


class Variables(QObject):
    """Opens the dialog of a thread's variables in the window of ``page``."""

    def __init__(self, page: QWidget, models: ChatModels, toast: Toast) -> None:
        super().__init__(page)
        self._page = page
        self._models = models
        toast.undone.connect(self._undo)
        models.variables.read.connect(self._show)
        models.variables.said.connect(toast.say)

    def _show(self, variables: ChatVariables) -> None:
        """If the chat is still the open one."""
        if variables.thread_id != self._models.chat.thread_id:
            return
        dialog = variables_dialog.VariablesDialog(self._page.window(), variables)

        def answered(answer: str) -> None:
            if answer == "yes":
                self._models.variables.save(variables.thread_id, dialog.typed, dialog.settings.toPlainText())

        dialog.answered.connect(answered)
        dialog.open(dialog.area)

    def _undo(self, token: str) -> None:
        """Undo the last change of a variable, else of the list of threads."""
        if not self._models.variables.undo(token) and not self._models.edge.undo(token):
            self._models.threads.undo(token)
