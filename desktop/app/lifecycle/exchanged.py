"""The app's own files are exchanged while it runs, by a package manager or an installer. What is in memory goes on, but
what would be loaded from now on is of another version: so the person is told, and what fails from then on is not taken
for a bug. A self-contained folder keeps its versions side by side and never comes to this."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from desktop import __file__ as package_file
from desktop.domain.errors import KnownError

logger = logging.getLogger(__name__)

REST_MS = 1_000
"""Milliseconds without another change after which one looks: an installer changes much at once."""


class Exchange(QObject):
    """Looks at one file of the app that every version brings anew. ``happened`` comes once, with what to tell."""

    happened = Signal(object)
    """KnownError."""

    def __init__(self, parent: QObject | None = None, file: Path = Path(package_file)) -> None:
        super().__init__(parent)
        self._file, self._was = file, _identity(file)
        self._told = False
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._look)
        self._watcher = QFileSystemWatcher([os.fspath(file.parent), os.fspath(file.parent.parent)], self)
        self._watcher.directoryChanged.connect(lambda _: self._rest.start())

    def error(self) -> KnownError | None:
        """What to tell where the files are no longer those that this process was started from."""
        if _identity(self._file) == self._was:
            return None
        return KnownError(
            "Assent's own files were exchanged while it ran, by an update perhaps; this is still the version before.",
            next_step="Quit and start it again soon. Chats and drafts are kept; until then, some things may fail.",
            code="app.exchanged",
        )

    def _look(self) -> None:
        error = self.error()
        if error is not None and not self._told:
            self._told = True
            logger.warning("the files of the app were exchanged while it ran")
            self.happened.emit(error)


def _identity(file: Path) -> tuple[int, ...]:
    """Of this very file; nothing where it is gone."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
