"""What Qt says while it begins, until there is a log for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy import lazy_module

if TYPE_CHECKING:
    from desktop.app.desktop import no_window
else:
    no_window = lazy_module("desktop.app.desktop.no_window")

Refuse = Callable[[KnownError], int]
"""Says why there is no window, where no window of ours can say it; the exit code."""


class Beginning:
    """Made before the ``QApplication``. Where Qt gives up it would end the process by a signal, with a text for
    programmers; instead of that it ends in order, with the reason and what to do about it."""

    def __init__(self, refuse: Refuse) -> None:
        self._refuse = refuse
        self.said: list[str] = []
        qInstallMessageHandler(self._heard)

    def _heard(self, kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
        self.said.append(message)
        if kind == QtMsgType.QtFatalMsg:
            os._exit(self._refuse(no_window.not_begun(self.said, os.environ)))
