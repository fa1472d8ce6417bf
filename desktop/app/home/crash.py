"""What nobody caught: a report in the logs without secrets, and a signal for a person. Imported before the first paint.

A report holds versions, the traceback and the message, redacted; never the environment, never values of variables.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler, qVersion

from desktop import __version__
from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy import lazy_module
from desktop.files.own_files import OwnFiles
from desktop.systems import current

if TYPE_CHECKING:
    from desktop.safety.secrets import redaction as secrets_redaction
else:
    secrets_redaction = lazy_module("desktop.safety.secrets.redaction")

MAX_REPORTS = 20
"""Reports kept in the folder, and the most that one process writes."""

LONGEST_REPORT = 200_000
"""Characters."""

MAX_EARLY = 1_000
"""Log records kept until there is a log."""

BIG_FAULT_LOG = 1_000_000
"""Bytes after which the log of the interpreter's own crashes starts anew."""

logger = logging.getLogger(__name__)
qt_logger = logging.getLogger("qt")
_LEVELS = {
    "QtDebugMsg": logging.DEBUG,
    "QtInfoMsg": logging.INFO,
    "QtWarningMsg": logging.WARNING,
    "QtCriticalMsg": logging.ERROR,
    "QtFatalMsg": logging.CRITICAL,
}


class CrashReport:
    """``title`` is one line, ``text`` all of it (a person may copy it), ``path`` its file or None."""

    __slots__ = ("path", "text", "title")

    def __init__(self, title: str, text: str, path: Path | None) -> None:
        self.title, self.text, self.path = title, text, path


def plain_redaction() -> Callable[[str], str]:
    """The redaction of the safety room, without the values of any keyring; loaded only when something is written."""
    return secrets_redaction.SecretRedactor().redact_text


class EarlyLog(logging.Handler):
    """Keeps what is logged before there is a log, so that it ends up there and not on the terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._records) < MAX_EARLY:
            self._records.append(record)

    def hand_over(self) -> list[logging.LogRecord]:
        """What came so far; no more is kept from now on."""
        logging.getLogger().removeHandler(self)
        records, self._records = self._records, []
        return records


class CrashReporter(QObject):
    """The last resort of this process. ``redact`` is replaced by one that knows the keyring once there is one."""

    reported = Signal(object)
    """CrashReport: we are at fault."""
    known = Signal(object)
    """KnownError that reached the last resort: the world is at fault."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._seen: dict[str, CrashReport] = {}
        self._lock = threading.Lock()
        self._telling = threading.local()
        self._fault_log: IO[bytes] | None = None
        self.early = EarlyLog()
        self.redact: Callable[[str], str] | None = None
        self.own_files = OwnFiles()
        """Those that this process was started from."""
        self.excuse: Callable[[], KnownError | None] = self.own_files.exchanged
        """Why a failure is not our fault now, whatever it is."""

    # -- hooks ------------------------------------------------------------------------------------------------------

    def install(self) -> None:
        """Take over Python's, the threads' and Qt's last resorts."""
        fault_log = self._folder / "fault.log"
        mode = "wb" if fault_log.exists() and fault_log.stat().st_size > BIG_FAULT_LOG else "ab"
        self._fault_log = open(fault_log, mode, opener=_private, buffering=0)  # noqa: SIM115 - open to the end
        faulthandler.enable(self._fault_log)
        logging.getLogger().addHandler(self.early)
        sys.excepthook = self._from_python
        threading.excepthook = self._from_thread
        sys.unraisablehook = self._from_nowhere
        qInstallMessageHandler(self._from_qt)

    def uninstall(self) -> None:
        """Put Python's own hooks back, at the end."""
        qInstallMessageHandler(None)
        self.early.hand_over()
        sys.excepthook, threading.excepthook = sys.__excepthook__, threading.__excepthook__
        sys.unraisablehook = sys.__unraisablehook__
        faulthandler.disable()
        faulthandler.cancel_dump_traceback_later()
        if self._fault_log is not None:
            self._fault_log.close()
            self._fault_log = None

    def end_without_fail(self, seconds: float) -> None:
        """If this process still lives in so many seconds, write down where it hangs, and end it."""
        if self._fault_log is not None:
            faulthandler.dump_traceback_later(seconds, exit=True, file=self._fault_log)

    def loop_handler(self, loop: Any, context: dict[str, Any]) -> None:
        """Report what the event loop could not handle. For ``loop.set_exception_handler``."""
        error = context.get("exception")
        where = str(context.get("message") or "event loop")
        if isinstance(error, BaseException):
            self.take(error, where)
        else:
            logger.error("%s", where)

    def _from_python(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self.take(error.with_traceback(trace), f"main thread, {kind.__name__}")

    def _from_thread(self, failed: threading.ExceptHookArgs) -> None:
        name = failed.thread.name if failed.thread else "?"
        if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
            self.take(failed.exc_value, f"thread {name}")

    def _from_nowhere(self, failed: Any) -> None:
        if isinstance(failed.exc_value, BaseException):
            self.take(failed.exc_value, f"unraisable: {failed.err_msg or 'in a finalizer'}")

    def _from_qt(self, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        category = context.category or "default"
        qt_logger.log(_LEVELS.get(kind.name, logging.WARNING), "%s: %s", category, message)
        if kind == QtMsgType.QtFatalMsg and sys.__stderr__ is not None:
            sys.__stderr__.write(f"Qt: {self.redacted(message)}\n")

    # -- reports ----------------------------------------------------------------------------------------------------

    def take(self, error: BaseException, where: str) -> CrashReport | None:
        """Report an error, from any thread; never raises. What was reported before is
        not written again; None for what is not our fault, or too much."""
        try:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                return None
            if isinstance(error, KnownError):
                logger.warning("%s: %s: %s", where, error.code, error)
                self._tell(error)
                return None
            excuse = self.excuse()
            if excuse is not None:
                logger.error("%s, after %s: %s", where, excuse.code, "".join(traceback.format_exception(error)))
                self._tell(excuse)
                return None
            return self._report(error, where)
        except Exception:  # noqa: BLE001 - the last resort has nobody to tell but the terminal
            if sys.__stderr__ is not None:  # names of types only: texts may hold what could not be redacted
                names = [type(error).__name__, getattr(sys.exc_info()[0], "__name__", "?")]
                sys.__stderr__.write(f"assent: {names[0]}, and reporting it failed with {names[1]}\n")
            return None

    def _tell(self, error: KnownError) -> None:
        """What fails while it is shown (its code may be gone, too) is only logged: told again, it would never end."""
        if getattr(self._telling, "now", False):
            return
        self._telling.now = True
        try:
            self.known.emit(error)
        finally:
            self._telling.now = False

    def _report(self, error: BaseException, where: str) -> CrashReport | None:
        trace = "".join(traceback.format_exception(error))
        logger.error("%s: %s", where, trace)
        place = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[-2:]]
        signature = f"{type(error).__name__} {place}"
        with self._lock:
            if signature in self._seen or len(self._seen) >= MAX_REPORTS:
                return self._seen.get(signature)
            title = self.redacted(f"{type(error).__name__}: {error}").partition("\n")[0][:300]
            trace = self.redacted(trace[-2 * LONGEST_REPORT :])[-LONGEST_REPORT:]  # cut last: no half of a secret
            text = f"{self.redacted(_heading(where))}\n{trace}"
            report = CrashReport(title, text, self._write(text, len(self._seen) + 1))
            self._seen[signature] = report
        self.reported.emit(report)
        return report

    def redacted(self, text: str) -> str:
        """Without secrets, as well as is known at this moment; for the log, too."""
        if self.redact is None:
            self.redact = plain_redaction()
        return self.redact(text)

    def _write(self, text: str, number: int) -> Path | None:
        path = self._folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{number}.txt"
        try:
            with open(path, "w", encoding="utf-8", errors="backslashreplace", opener=_private) as file:
                file.write(text)
            for old in sorted(self._folder.glob("crash-*.txt"))[:-MAX_REPORTS]:
                old.unlink()
        except OSError as problem:
            logger.error("the crash report could not be written: %s", problem)
            return None
        return path


def _heading(where: str) -> str:
    return (
        f"Assent {__version__} crash report\n"
        f"at {time.strftime('%Y-%m-%d %H:%M:%S %z')}, in {where}\n"
        f"Python {sys.version.split()[0]}, Qt {qVersion()}, {current.system_words()}\n"
    )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
