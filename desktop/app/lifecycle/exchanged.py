"""The app's own files are exchanged while it runs, by a package manager or an installer. The person is told, with a way
to start the version that is there now, and what fails from then on is not taken for a bug; runs and calls are refused
(`desktop/files/own_files.py`). A self-contained folder keeps its versions side by side and never comes to this."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from desktop.domain.errors import KnownError
from desktop.files.own_files import OwnFiles

logger = logging.getLogger(__name__)

REST_MS = 1_000
"""Milliseconds without another change after which one looks: an installer changes much at once."""


class Exchange(QObject):
    """Watches the folders of the app's own files. ``happened`` comes once, with what to tell."""

    happened = Signal(object)
    """KnownError."""

    def __init__(self, own_files: OwnFiles, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._own_files = own_files
        self._told = False
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._look)
        folder = Path(own_files.file).parent
        self._watcher = QFileSystemWatcher([os.fspath(folder), os.fspath(folder.parent)], self)
        self._watcher.directoryChanged.connect(lambda _: self._rest.start())
        self._rest.start()  # it may have happened before anybody watched

    def error(self) -> KnownError | None:
        """What to tell where the files are no longer those that this process was started from."""
        return self._own_files.exchanged()

    def _look(self) -> None:
        error = self.error()
        if error is not None and not self._told:
            self._told = True
            logger.warning("the files of the app were exchanged while it ran")
            self.happened.emit(error)
