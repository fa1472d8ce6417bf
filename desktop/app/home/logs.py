"""The log of a home: redacted, private, rotated, and written by a thread of its own."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

LOG_BYTES = 2_000_000
LOG_FILES = 4
LONGEST_ENTRY = 8_000
"""Characters; what a tool or model said may be megabytes, and a log is no place for it."""

_REDACTED_BEFORE_CUT = 64_000  # a secret across this border would lie far beyond the cut


class RedactingFormatter(logging.Formatter):
    """One entry, without secrets; further lines are indented, so that no text can pose as an entry of its own. The
    line of the code is in it: by that a report of a problem says what was logged, without what was put into it."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s:%(lineno)d: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        text = self._redact(super().format(record)[:_REDACTED_BEFORE_CUT])
        if len(text) > LONGEST_ENTRY:
            text = text[:LONGEST_ENTRY] + " … cut"
        return "\n    ".join(text.splitlines())


class PrivateRotatingFile(RotatingFileHandler):
    """For its owner alone, also after a rotation; a full disk costs entries and nothing else."""

    def _open(self) -> IO[Any]:  # type: ignore[override]
        return open(
            self.baseFilename,
            self.mode,
            encoding="utf-8",
            errors="backslashreplace",
            opener=lambda path, flags: os.open(path, flags, 0o600),
        )

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002 - logging's signature
        """Drop a record that cannot be written: there is nowhere to say it."""


class Logs:
    """Everything that goes through ``logging``, from INFO on, to ``logs/assent.log``; first the ``early`` records.
    ``stop()`` writes the rest."""

    def __init__(self, folder: Path, redact: Callable[[str], str], *, early: Iterable[logging.LogRecord] = ()) -> None:
        queue: SimpleQueue[logging.LogRecord] = SimpleQueue()
        file = PrivateRotatingFile(folder / "assent.log", maxBytes=LOG_BYTES, backupCount=LOG_FILES - 1, delay=True)
        file.setFormatter(RedactingFormatter(redact))
        self._file = file
        self._handler = QueueHandler(queue)
        self._listener = QueueListener(queue, file)
        self._level_before = logging.getLogger().level
        logging.getLogger().addHandler(self._handler)
        logging.getLogger().setLevel(logging.INFO)
        self._listener.start()
        for record in early:
            self._handler.handle(record)

    def stop(self) -> None:
        """Write what waits and let go. Safe to call twice."""
        root = logging.getLogger()
        if self._handler in root.handlers:
            root.removeHandler(self._handler)
            root.setLevel(self._level_before)
            self._listener.stop()
            self._file.close()
