"""Qt, the window, its first paint; and only then ``session`` with everything else.

This module and what it imports are all that runs before the first paint, so none of it imports asyncio or a room of
the runtime, nor names the ``Qt`` namespace: PySide makes its 115 enumerations when it is first touched, even by an
import, and that takes a tenth of a bare window's start.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from PySide6 import __version__ as pyside_version
from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, Signal, qVersion
from PySide6.QtWidgets import QApplication

from desktop import __version__
from desktop.app.desktop.identity import APP_ID
from desktop.app.home.crash import CrashReporter, qt_logger
from desktop.app.home.folder import Home
from desktop.app.lifecycle.application import Application
from desktop.app.lifecycle.beginning import Beginning, Refuse
from desktop.app.lifecycle.window_watch import WindowWatch
from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy import lazy_module, load
from desktop.systems import limits, own_process

if TYPE_CHECKING:
    from desktop.app.lifecycle import again, qt_types, session
    from desktop.domain.text import links
else:
    again = lazy_module("desktop.app.lifecycle.again")
    links = lazy_module("desktop.domain.text.links")
    qt_types = lazy_module("desktop.app.lifecycle.qt_types")
    session = lazy_module("desktop.app.lifecycle.session")

FAILED = 1


def start(home: Home, options: argparse.Namespace, wiring: str, refuse: Refuse) -> int:
    """Everything from Qt on; the exit code. Raises KnownError when the world stands in the way."""
    _no_core_files()
    begun = Beginning(refuse)
    application = Application()
    QCoreApplication.setApplicationName("Assent")
    QCoreApplication.setApplicationVersion(__version__)
    QApplication.setDesktopFileName(APP_ID)
    QApplication.setQuitOnLastWindowClosed(False)
    crashes = CrashReporter(home.logs)
    crashes.install()
    for line in begun.said:
        qt_logger.warning("while Qt began: %s", line)
    try:
        code = _live(application, home, options, crashes, importlib.import_module(wiring))
    except KnownError:
        raise
    except Exception as error:  # noqa: BLE001 - the end of the program: a report instead of a bare traceback
        excuse = crashes.excuse()
        if excuse is not None:
            raise excuse from None
        code = _failed(crashes, error)
    finally:
        crashes.uninstall()
    return code


def _no_core_files() -> None:
    """A core file of this process would hold keys. The limit can be raised again by what tools start."""
    limits.no_core_files()


def _live(
    application: Application, home: Home, options: argparse.Namespace, crashes: CrashReporter, wiring: Any
) -> int:
    window = wiring.make_window(home)
    watch = WindowWatch(window)
    window.show()
    watch.wait_for_paint()
    if options.exit_after_paint and not options.settle:
        _say(json.dumps(_painted(watch)))
        return 0 if watch.painted_at_ns else FAILED
    painted = _painted(watch) if options.exit_after_paint else {}
    in_turns(qt_types.make_types())
    in_turns(wiring.furnish(window))
    Loading(_load_session).wait()

    def report() -> None:
        _say(json.dumps({**painted, "idle_pss_kb": own_process.pss_kb()}))

    measure = session.Measure(options.settle, report) if options.exit_after_paint else None
    link = links.harmless(options.link) if options.link else ""
    code = session.run(application, home, window, crashes, wiring, measure, link)
    if code == session.AGAIN:
        code = again.start_again(home.path)
    session.end_threads(code)
    return code


def in_turns(steps: Iterator[Callable[[], None] | None]) -> None:
    """Take all steps, and let Qt go on between them: the window moves and paints, and is never held up for long."""
    for work in steps:
        if work is not None:
            Loading(work).wait()
        else:
            QCoreApplication.processEvents()


class Loading(QObject):
    """Something is imported in a thread, while Qt goes on."""

    done = Signal()

    def __init__(self, load: Callable[[], None]) -> None:
        super().__init__()
        self._load = load
        self._error: BaseException | None = None

    def wait(self) -> None:
        """Until it is there. Raises what loading raises."""
        loop = QEventLoop()
        self.done.connect(loop.quit)
        thread = threading.Thread(target=self._run, name="load")
        thread.start()
        loop.exec()
        thread.join()  # it is at its end, but may still be telling so: neither this nor the loop may go before
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._load()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._error = error
        self.done.emit()


def _load_session() -> None:
    """The session, and with it asyncio, which takes 2 MB and 5 ms less without TLS: this process talks to nobody but
    its children. Whoever imports ``ssl`` later gets it."""
    modules: dict[str, Any] = sys.modules
    there = modules.setdefault("ssl", None)  # None: importing it fails, and asyncio does without
    try:
        load(session)
    finally:
        if there is None:
            del modules["ssl"]


def _painted(watch: WindowWatch) -> dict[str, float | int]:
    """``painted_ns`` is of ``time.monotonic_ns``, for whoever started this process and measures it exactly."""
    at = watch.painted_at_ns
    return {
        "first_paint_ms": round(own_process.since_start_ms(at), 1),
        "painted_ns": at,
        "pss_kb": own_process.pss_kb(),
    }


def _failed(crashes: CrashReporter, error: Exception) -> int:
    report = crashes.take(error, "the start or the end")
    if sys.stderr is not None:
        where = f"\n  A report is in {report.path}" if report and report.path else ""
        sys.stderr.write(f"assent: {type(error).__name__} in Assent itself; it has to close.{where}\n")
    return FAILED


def probe_qt(refuse: Refuse) -> int:
    """For `--check`, in a process of its own."""
    Beginning(refuse)
    application = QApplication(["assent"])
    _say(json.dumps({"qt": qVersion(), "platform": application.platformName(), "pyside": pyside_version}))
    return 0


def _say(line: str) -> None:
    if sys.stdout is not None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
