"""The request over a thread, and a server's question over the window, built when something asks for the first time:
most starts end without a question.

The request's code is loaded in a thread when a run begins (``warm_with_first_run``), so that the window only has to
build it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from desktop.app.wiring.view_models import ViewModels
from desktop.domain.loading.lazy import lazy_module, load
from desktop.presenter.mcp.questions import ServerQuestionsViewModel
from desktop.presenter.transcript.live_threads import LiveThreads
from desktop.supervision.tasks import TaskOwner
from desktop.ui.widgets.layout.side_room import SideRoom

if TYPE_CHECKING:
    from desktop.ui.approvals.asking import dialog as asking_dialog
    from desktop.ui.approvals.asking.dialog import AskingDialog
    from desktop.ui.approvals.request import dialog as request_dialog
    from desktop.ui.approvals.request.dialog import RequestDialog
else:
    asking_dialog = lazy_module("desktop.ui.approvals.asking.dialog")
    request_dialog = lazy_module("desktop.ui.approvals.request.dialog")


def warm_with_first_run(board: LiveThreads, owner: TaskOwner) -> None:
    """A run works and may ask: what its request is shown in is loaded before."""

    def loaded(_thread_id: str) -> None:
        board.state_changed.disconnect(loaded)
        owner.spawn(asyncio.to_thread(_load_both), "requests: code")

    board.state_changed.connect(loaded)


def _load_both() -> None:
    load(request_dialog)
    load(asking_dialog)


class LazyRequest(QObject):
    """A stand-in for ``RequestDialog`` over ``host``; ``dialog`` is the real one once something has asked."""

    open_inbox = Signal(str)

    def __init__(
        self, host: QWidget, models: ViewModels, title: Callable[[str], str], composer: QWidget, beside: SideRoom
    ) -> None:
        super().__init__(host)
        self._host, self._models, self._title = host, models, title
        self._composer, self._beside = composer, beside
        self._thread_id: str | None = None
        self.dialog: RequestDialog | None = None
        models.approvals.changed.connect(self._look)
        self._look()

    def show_for(self, thread_id: str) -> None:
        """Show only the requests of this thread, which is open now."""
        self._thread_id = thread_id
        if self.dialog is not None:
            self.dialog.show_for(thread_id)

    def reopen(self, request_id: str) -> None:
        """The person asked for a request that was put aside."""
        if self.dialog is not None:
            self.dialog.reopen(request_id)

    def made(self) -> RequestDialog:
        """Build it now, unless it is there."""
        if self.dialog is None:
            m = self._models
            self.dialog = request_dialog.RequestDialog(
                self._host, m.approvals, self._title, self._composer, m.rules, self._beside
            )
            self.dialog.open_inbox.connect(self.open_inbox)
            m.board.run_ended.connect(self._run_over)
            if self._thread_id is not None:
                self.dialog.show_for(self._thread_id)
        return self.dialog

    def _run_over(self, thread_id: str, _event: object) -> None:
        if self.dialog is not None:
            self.dialog.run_over(thread_id)

    def _look(self) -> None:
        if self._models.approvals.requests:
            self.made()


class LazyAsking(QObject):
    """Shows the oldest question over ``window``, and the next one when that is over."""

    def __init__(self, window: QWidget, questions: ServerQuestionsViewModel) -> None:
        super().__init__(window)
        self._window, self._questions = window, questions
        self.dialog: AskingDialog | None = None
        self._answering = False
        questions.changed.connect(self._look)
        window.destroyed.connect(questions.close)

    def _look(self) -> None:
        question = self._questions.current
        if self.dialog is not None or question is None:
            return
        self.dialog = asking_dialog.AskingDialog(self._window, self._questions, question)
        self.dialog.opened.connect(self._open)
        self.dialog.answered.connect(self._over)
        self.dialog.follows, self._answering = self._answering, False
        QTimer.singleShot(0, self.dialog, self.dialog.begin)

    def _open(self, page: QUrl) -> None:
        QDesktopServices.openUrl(page)

    def _over(self, value: str) -> None:
        self.dialog, self._answering = None, value != "gone"
        QTimer.singleShot(0, self, self._look)
