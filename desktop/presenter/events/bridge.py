"""Between the runtime and the widgets: the one owner of tasks, the way up for events, the way back for answers.

Runtime events go to ``sink`` and come out of the signal ``events`` in batches; questions go to ``ask`` and come out of
``asked``, their answers through ``answer``. Everything but ``sink`` belongs to the thread of the loop.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

from PySide6.QtCore import QMetaMethod, QObject, QTimer, Signal

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.errors import AssentError, BugError, CancellationError, KnownError
from desktop.domain.runs.events import Event
from desktop.presenter.events.backlog import EventBacklog
from desktop.presenter.events.questions import Questions

DELTA_INTERVAL = 1 / 30
"""Seconds between two batches that hold nothing but deltas."""

SLICE = 0.004
"""Seconds of handing out batches after which the window gets its turn."""

T = TypeVar("T")
logger = logging.getLogger(__name__)


def single_shot(owner: QObject, call: Callable[[], object], after_ms: int) -> QTimer:
    """A timer that is not started yet."""
    timer = QTimer(owner, singleShot=True, interval=after_ms)
    timer.timeout.connect(call)
    return timer


class Bridge(QObject):
    """Implements ``desktop.domain.approval.permission.Asker``; ``sink`` is an ``EventSink``.

    A listener on ``asked`` is what makes a window: without one, questions wait for it (and are denied when the app
    closes, R-PRM-6).
    """

    events = Signal(object)
    """tuple[Event, ...]: a batch, in causal order."""
    failed = Signal(object)
    """KnownError | BugError: what ended a task that had no handler of its own."""
    asked = Signal(object)
    """PermissionRequest."""
    closed = Signal(str, object)
    """request id, Decision: a question is over, whoever ended it."""
    _ending = Signal()

    def __init__(self, *, loop: asyncio.AbstractEventLoop | None = None) -> None:
        super().__init__()
        self._loop = loop or asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._backlog = EventBacklog()
        self._flush_at: asyncio.Handle | None = None
        self._flush_now = False
        self._last_flush = 0.0
        self._nudged = False
        self._questions = Questions(self._closed)
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.timeout.connect(self._flush)

    # -- tasks ------------------------------------------------------------------------------------------------------

    def spawn(
        self, work: Coroutine[Any, Any, T], *, name: str, on_error: Callable[[AssentError], None] | None = None
    ) -> asyncio.Future[T]:
        """Run ``work`` as a task that is kept, named, and never fails in silence.

        What it raises goes to ``on_error``, or else to ``failed``; a bug always goes to ``failed`` too. Once the
        bridge is closing nothing begins: ``work`` is closed, and what is returned is cancelled. Safe to call from a
        slot, also when the loop will not run again.
        """
        if self._closing:
            work.close()
            never: asyncio.Future[T] = self._loop.create_future()
            never.cancel()
            return never
        task = self._loop.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._task_done(done, on_error))
        return task

    @property
    def task_names(self) -> tuple[str, ...]:
        """Names of the tasks that are not over yet."""
        return tuple(sorted(task.get_name() for task in self._tasks))

    async def in_thread(self, function: Callable[..., T], *args: Any) -> T:
        """Call something that blocks, in a thread. Cancelling stops the waiting, not the thread."""
        return await asyncio.to_thread(function, *args)

    def _task_done(self, task: asyncio.Task[Any], on_error: Callable[[AssentError], None] | None) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is None or isinstance(error, CancellationError):
            return
        told = as_assent_error(error, task.get_name())
        if on_error is not None:
            on_error(told)
        if on_error is None or isinstance(told, BugError):
            if not self.isSignalConnected(QMetaMethod.fromSignal(self.failed)):
                logger.error("%s failed and nobody listens", task.get_name(), exc_info=error)
            self.failed.emit(told)

    async def shutdown(self, timeout_s: float = 3.0) -> tuple[str, ...]:
        """Deny all questions, cancel all tasks, wait at most ``timeout_s`` seconds; returns the names of those left."""
        self.deny_all()
        self._closing = True
        self._ending.emit()
        end = time.monotonic() + timeout_s
        while (others := self._tasks - {asyncio.current_task()}) and time.monotonic() < end:
            for task in others:
                task.cancel()
            await asyncio.wait(others, timeout=min(0.5, max(0.0, end - time.monotonic())))
        self._flush_everything()
        return tuple(sorted(task.get_name() for task in self._tasks - {asyncio.current_task()}))

    def later(self, owner: QObject, call: Callable[[], object], after_ms: int) -> QTimer:
        """A single-shot timer of ``owner`` that is not started yet and that ends with the bridge."""
        timer = single_shot(owner, call, after_ms)
        self._ending.connect(timer.stop)
        return timer

    # -- events -----------------------------------------------------------------------------------------------------

    def sink(self, event: Event) -> None:
        """Take an event from any thread; never waits and never raises (R-LOOP-16, R-TRC-7)."""
        urgent = self._backlog.put(event)
        if threading.get_ident() == self._thread:
            self._plan(urgent)
        elif not self._nudged:
            self._nudged = True
            try:
                self._loop.call_soon_threadsafe(self._nudge)
            except RuntimeError:  # the loop is closed: there is no window any more to tell
                logger.info("an event came after the end")

    def _nudge(self) -> None:
        self._nudged = False
        self._plan(self._backlog.urgent)

    def _plan(self, urgent: bool) -> None:
        if self._flush_now or (self._flush_at is not None and not urgent):
            return
        if self._loop.is_closed():
            return
        delay = 0.0 if urgent else self._last_flush + DELTA_INTERVAL - time.monotonic()
        if self._flush_at is not None:
            self._flush_at.cancel()
        self._flush_now = delay <= 0
        self._flush_at = self._loop.call_soon(self._flush) if delay <= 0 else self._loop.call_later(delay, self._flush)

    def _flush(self) -> None:
        """Hand out batches; after ``SLICE`` seconds let Qt paint and take input before going on."""
        self._flush_at = None
        end = time.monotonic() + SLICE
        while batch := self._backlog.take():
            self.events.emit(batch)
            if time.monotonic() >= end and len(self._backlog):
                self._flush_now = True
                self._again.start(0)
                return
        self._flush_now = False
        self._last_flush = time.monotonic()

    def _flush_everything(self) -> None:
        self._again.stop()
        if self._flush_at is not None:
            self._flush_at.cancel()
            self._flush_at = None
        self._flush_now = False
        while batch := self._backlog.take():
            self.events.emit(batch)

    # -- questions --------------------------------------------------------------------------------------------------

    async def ask(self, request: PermissionRequest) -> Decision:
        """Bring a request to a person and wait, without a deadline, for the answer (R-PRM-7).

        Denied by ``closed`` when the app closes. When the asking task is cancelled, the question closes as denied by
        ``cancelled`` and the cancellation goes on (R-PRM-9).
        """
        return await self._questions.ask(request, self._announce)

    @property
    def waiting(self) -> tuple[PermissionRequest, ...]:
        """Requests without an answer, in the order in which they were asked."""
        return self._questions.waiting

    def answer(self, request_id: str, decision: Decision) -> bool:
        """False, harmlessly, when there is no such question any more or the answer does not fit it (R-PRM-5)."""
        return self._questions.answer(request_id, decision)

    def deny_run(self, run_id: str) -> int:
        """Deny everything that one run has asked (R-PRM-8); returns how many requests that were."""
        return self._questions.deny_run(run_id)

    def deny_all(self) -> int:
        """Deny all open questions, and every later one, because the app closes (R-PRM-9)."""
        return self._questions.refuse_all()

    def _closed(self, request_id: str, decision: Decision) -> None:
        self.closed.emit(request_id, decision)

    def _announce(self) -> None:
        if self.isSignalConnected(QMetaMethod.fromSignal(self.asked)):
            for request in self._questions.unannounced():
                self.asked.emit(request)

    def connectNotify(self, signal: QMetaMethod) -> None:
        """A window has come: tell it what waits (R-PRM-6)."""
        super().connectNotify(signal)
        if signal.name() == b"asked" and self._questions.waiting:
            self._loop.call_soon(self._announce)


def as_assent_error(error: BaseException, where: str) -> AssentError:
    """An error of the world as it is (the first one of a group of them); anything else as our bug, with its cause."""
    leaves = list(_leaves(error))
    if all(isinstance(leaf, KnownError) for leaf in leaves) and isinstance(leaves[0], KnownError):
        return leaves[0]
    if isinstance(error, BugError):
        return error
    bug = BugError(f"{where}: {type(error).__name__}: {error}")
    bug.__cause__ = error
    return bug


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
