"""Questions of servers over the window, built when one asks for the first time: most sessions end without any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from desktop.domain.lazy import lazy_module
from desktop.presenter.mcp.questions import ServerQuestionsViewModel

if TYPE_CHECKING:
    from desktop.ui.approvals.asking import dialog as asking_dialog
    from desktop.ui.approvals.asking.dialog import AskingDialog
else:
    asking_dialog = lazy_module("desktop.ui.approvals.asking.dialog")


class LazyAsking(QObject):
    """Shows the oldest question over ``window``, and the next one when that is over."""

    def __init__(self, window: QWidget, questions: ServerQuestionsViewModel) -> None:
        super().__init__(window)
        self._window, self._questions = window, questions
        self.dialog: AskingDialog | None = None
        questions.changed.connect(self._look)
        window.destroyed.connect(questions.close)

    def _look(self) -> None:
        question = self._questions.current
        if self.dialog is not None or question is None:
            return
        self.dialog = asking_dialog.AskingDialog(self._window, self._questions, question)
        self.dialog.opened.connect(self._open)
        self.dialog.answered.connect(self._over)
        self.dialog.appear()

    def _open(self, page: QUrl) -> None:
        QDesktopServices.openUrl(page)

    def _over(self, _value: str) -> None:
        self.dialog = None
        QTimer.singleShot(0, self, self._look)
