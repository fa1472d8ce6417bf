"""A test fails on threads, running timers and top-level widgets that it leaves behind."""

import gc
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.loops import GRACE, needs_qt


def threads_since(before: set[int], grace: float = GRACE) -> list[str]:
    """Names of threads that are not in `before` (by id of the object) and still run after the grace time."""
    deadline = time.monotonic() + grace
    while True:
        new = [thread for thread in threading.enumerate() if id(thread) not in before and _is_ours(thread)]
        if not new or time.monotonic() > deadline:
            return sorted(thread.name for thread in new)
        time.sleep(0.005)


def _is_ours(thread: threading.Thread) -> bool:
    """Python's stand-ins for threads that C or C++ started are not ours to join."""
    return not isinstance(thread, threading._DummyThread) and thread is not threading.current_thread()  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _thread_guard(request: pytest.FixtureRequest) -> Iterator[None]:
    before = {id(thread) for thread in threading.enumerate()}
    yield
    left = [] if request.node.get_closest_marker("expects_threads") else threads_since(before)
    if left:
        pytest.fail("threads left running: " + ", ".join(left), pytrace=False)


class TimerWatch:
    """Remembers every QTimer started from Python, to find those still active. Timers of the C++ side are not seen."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self._original = core.QTimer.start
        self._started: list[weakref.ref[Any]] = []

    def __enter__(self) -> "TimerWatch":
        original, started = self._original, self._started

        def start(timer: Any, *arguments: Any) -> None:
            started.append(weakref.ref(timer))
            original(timer, *arguments)

        self._core.QTimer.start = start
        return self

    def __exit__(self, *_: object) -> None:
        self._core.QTimer.start = self._original

    def active(self) -> list[str]:
        """A line for each started timer that still exists and runs."""
        is_valid = sys.modules["shiboken6"].isValid
        alive = [timer for reference in self._started if (timer := reference()) is not None and is_valid(timer)]
        return sorted({f"{t.objectName() or repr(t)} every {t.interval()} ms" for t in alive if t.isActive()})


def _settle(application: Any) -> None:
    """Lets deferred deletions happen, and cycles of Python objects go."""
    core = sys.modules["PySide6.QtCore"]
    gc.collect()
    application.sendPostedEvents(None, core.QEvent.Type.DeferredDelete.value)
    application.processEvents()


def widgets_since(application: Any, before: set[int]) -> list[str]:
    """A line for each top-level widget whose C++ object is not in `before`, after deferred deletions."""

    def new() -> list[Any]:
        return [widget for widget in application.topLevelWidgets() if _pointer(widget) not in before]

    if new():
        _settle(application)
    return sorted(f"{widget.objectName() or repr(widget)}" for widget in new())


def _pointer(widget: Any) -> int:
    return int(sys.modules["shiboken6"].getCppPointer(widget)[0])


def _empty_clipboard() -> None:
    """What a test copied goes with it. The offscreen clipboard is a static of Qt's that outlives Python: a QMimeData
    still in it at the process's exit is deleted through an interpreter that is gone, and the process dies (SIGSEGV)."""
    sys.modules["PySide6.QtGui"].QGuiApplication.clipboard().clear()


@pytest.fixture(autouse=True)
def _qt_guard(request: pytest.FixtureRequest) -> Iterator[None]:
    """A Qt test has the QApplication from its start. Elsewhere Qt is watched only where it is loaded already."""
    if needs_qt(request.node):
        request.getfixturevalue("qapp").setQuitOnLastWindowClosed(False)
    widgets = sys.modules.get("PySide6.QtWidgets")
    application = widgets.QApplication.instance() if widgets else None
    if application is None:
        yield
        return
    before = {_pointer(widget) for widget in application.topLevelWidgets()}
    with TimerWatch(sys.modules["PySide6.QtCore"]) as timers:
        yield
        _empty_clipboard()
        if timers.active():
            _settle(application)
        running = timers.active()
    windows = widgets_since(application, before)
    found = [f"timer left running: {line}" for line in running] + [f"window left open: {line}" for line in windows]
    if found:
        pytest.fail("\n".join(found), pytrace=False)
