"""The app's one loop: asyncio on the Qt thread, fair to painting, precise, and cheap.

Stock qasync makes a Qt timer for every callback. Here callbacks wait in one deque that one zero timer drains for at
most ``BUDGET`` seconds a time, and deadlines wait in one heap behind one precise timer. What qasync leaves out of
asyncio's contract (hooks of async generators, context of callbacks, handlers of exceptions, threads by name) is
asyncio's own again. It is a ``qasync.QEventLoop``.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable
from contextvars import Context
from typing import Any

from PySide6.QtCore import QCoreApplication, QTimer

from desktop.app.loop.deadlines import Deadlines
from desktop.app.loop.descriptors import Descriptors

BUDGET = 0.004
"""Seconds that one drain may keep Qt from painting. A single callback that takes longer is not cut short. With 8 ms the
window was 3 ms late on the average while another app made 10,000 calls; with 4 ms it is not, and as many are made."""

logger = logging.getLogger("asyncio")
_Base = asyncio.BaseEventLoop


class AssentEventLoop(Deadlines, Descriptors):
    """asyncio's contract on Qt's loop. ``run_forever`` is ``QApplication.exec``; closing a window does not end it."""

    _current_handle: asyncio.Handle | None

    # qasync has versions of its own of these, and each leaves something out.
    is_running = _Base.is_running
    get_debug = _Base.get_debug
    set_debug = _Base.set_debug
    run_until_complete = _Base.run_until_complete
    run_in_executor = _Base.run_in_executor
    set_default_executor = _Base.set_default_executor
    set_exception_handler = _Base.set_exception_handler
    get_exception_handler = _Base.get_exception_handler
    default_exception_handler = _Base.default_exception_handler
    call_exception_handler = _Base.call_exception_handler

    def __init__(self, app: QCoreApplication | None = None) -> None:
        application = app or QCoreApplication.instance()
        if application is None:
            raise RuntimeError("the loop needs a QApplication")
        self._application = application
        self._armed = False  # a drain is due or under way
        self._draining = False
        self._woken = False  # another thread has written to the self-pipe since the last drain
        self._raised: BaseException | None = None
        self._make_watch_tables()
        self._make_deadline_timer()
        self._zero = QTimer()
        self._zero.setObjectName("loop.zero")
        self._zero.setSingleShot(True)
        self._zero.timeout.connect(self._drain)
        super().__init__(application)

    # -- running ----------------------------------------------------------------------------------------------------

    def run_forever(self) -> None:
        """Run Qt and asyncio until ``stop()`` (or until someone quits the QApplication)."""
        self._check_closed()
        self._check_running()
        self._set_coroutine_origin_tracking(self._debug)
        hooks = sys.get_asyncgen_hooks()
        try:
            self._thread_id = threading.get_ident()
            sys.set_asyncgen_hooks(firstiter=self._asyncgen_firstiter_hook, finalizer=self._asyncgen_finalizer_hook)
            asyncio._set_running_loop(self)
            self._before_run_forever()  # qasync's: on Windows its thread begins to wait
            self._set_deadline()
            if self._ready or self._stopping:
                self._arm()
            self._application.exec()
        finally:
            self._after_run_forever()
            self._halt()
            sys.set_asyncgen_hooks(*hooks)
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised

    def _halt(self) -> None:
        """Outside of ``run_forever`` nothing of asyncio runs, whatever nested Qt loop a caller opens."""
        self._stopping = False
        self._thread_id = None
        asyncio._set_running_loop(None)
        self._set_coroutine_origin_tracking(False)
        self._zero.stop()
        self._deadline.stop()
        self._armed = False

    def stop(self) -> None:
        """End ``run_forever`` after the callbacks that wait now; before it runs, let it run those once."""
        self._stopping = True
        if self._draining:
            self._application.exit()
        elif not self._armed:
            self._arm()

    def close(self) -> None:
        """Release everything. Raises RuntimeError while the loop runs; closing twice does nothing."""
        if self.is_closed() or self.is_running():
            super().close()
            return
        super().close()
        self._clear_watch_tables()
        self._zero.stop()
        self._deadline.stop()

    # -- callbacks --------------------------------------------------------------------------------------------------

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Run ``callback`` after everything that waits already."""
        self._check(callback, "call_soon")
        handle = self._handle(callback, args, context)
        self._ready.append(handle)
        if not self._armed:
            self._arm()
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedule a callback from any thread, like ``call_soon``. Raises RuntimeError once the loop is closed."""
        if self._closed:
            self._check_closed()
        handle = self._handle(callback, args, context)
        self._ready.append(handle)
        # A drain clears its flags first and looks at the deque last, so this thread's handle is seen either way.
        if not (self._armed or self._woken):
            self._woken = True
            self._write_to_self()
        return handle

    def enqueue(self, callback: Callable[[], None]) -> None:
        """``call_soon`` without its checks, for the loop's own parts."""
        self._add_callback(asyncio.Handle(callback, (), self, None))

    def _add_callback(self, handle: asyncio.Handle, delay: float = 0) -> None:  # noqa: ARG002 - qasync's signature
        self._ready.append(handle)
        if not self._armed:
            self._arm()

    def _check(self, callback: Callable[..., Any], method: str) -> None:
        if self._closed:
            self._check_closed()
        if self._debug:
            self._check_thread()
            self._check_callback(callback, method)

    def _handle(self, callback: Callable[..., Any], args: tuple[Any, ...], context: Context | None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        if self._debug and handle._source_traceback:  # type: ignore[attr-defined]
            del handle._source_traceback[-2:]  # type: ignore[attr-defined]
        return handle

    def _arm(self) -> None:
        if self._thread_id is not None:
            self._armed = True
            self._zero.start()

    # -- draining ---------------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        if self._draining or self._thread_id is None:
            return
        self._draining = self._armed = True
        self._woken = False
        try:
            self._run_ready()
        except BaseException as stopper:  # noqa: BLE001 - SystemExit, KeyboardInterrupt: run_forever raises it again
            self._raised = stopper
            self._stopping = True
        self._draining = self._armed = False
        if self._stopping:
            self._application.exit()
        elif self._ready:
            self._arm()

    def _run_ready(self) -> None:
        """Run what waits, in order, for one budget. When stopping, only what waits now."""
        ready = self._ready
        run = self._run_watched if self._debug else asyncio.Handle._run
        clock = time.monotonic
        end = clock() + BUDGET
        while ready:
            for _ in range(len(ready)):
                handle = ready.popleft()
                if handle._cancelled:
                    continue
                run(handle)
                now = clock()
                if now >= self._due_at:
                    self._collect_due()
                if now >= end and not self._stopping:
                    return
            if self._stopping:
                return

    def _run_watched(self, handle: asyncio.Handle) -> None:
        """Run a callback in debug mode and log it when it holds up the window."""
        started = time.monotonic()
        self._current_handle = handle
        try:
            handle._run()
        finally:
            self._current_handle = None
        elapsed = time.monotonic() - started
        if elapsed >= self.slow_callback_duration:
            logger.warning("Executing %r took %.3f seconds", handle, elapsed)
