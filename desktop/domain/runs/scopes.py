"""A scope that ends its body when a token is cancelled or the time is up, with the person's waiting left out."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType

from desktop.domain.errors import CancellationError
from desktop.domain.runs.cancellation import CancellationToken


class Interrupt:
    """``async with Interrupt(token, seconds=120):`` runs its body in the same task, like ``asyncio.timeout``.

    Raises CancellationError (with the token's reason) when the token is cancelled or its deadline passes, and
    TimeoutError after ``seconds``. A cancellation from outside stays a CancelledError (R-CAN-11). ``pause`` and
    ``resume`` nest and stop the clock while a person is asked (R-PRM-10); the token is heeded even then.
    """

    def __init__(self, token: CancellationToken, *, seconds: float | None = None) -> None:
        self._token = token
        self._left = seconds
        self._paused = 0
        self._since = 0.0
        self._cause: Exception | None = None
        self._open = False
        self._timer: asyncio.TimerHandle | None = None
        self._end: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Interrupt:
        self._token.check()
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("Interrupt needs a task")
        self._task: asyncio.Task[object] = task
        self._cancelling = task.cancelling()
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._detach = self._token.on_cancel(self._cancelled)
        if self._token.deadline is not None:
            wait = max(0.0, self._token.deadline - time.monotonic())
            self._end = self._loop.call_later(wait, self._fire, CancellationError("deadline"))
        self._arm()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._detach()
        for timer in (self._timer, self._end):
            if timer is not None:
                timer.cancel()
        if self._cause is None:
            return
        if self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise self._cause from error

    @property
    def counts(self) -> bool:
        """Whether there is a time limit, and its clock runs."""
        return self._left is not None and not self._paused

    def pause(self) -> None:
        """Stop the clock; nests."""
        self._paused += 1
        if self._paused == 1 and self._timer is not None and self._left is not None:
            self._timer.cancel()
            self._timer = None
            self._left = max(0.0, self._left - (self._loop.time() - self._since))

    def resume(self) -> None:
        """Let the clock run on."""
        self._paused -= 1
        if self._paused == 0 and self._open:
            self._arm()

    def _arm(self) -> None:
        if self._left is not None and self._timer is None:
            self._since = self._loop.time()
            self._timer = self._loop.call_later(self._left, self._fire, TimeoutError())

    def _cancelled(self, reason: str) -> None:
        """On the cancelling thread, which may be any (R-CAN-12)."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._fire, CancellationError(reason))

    def _fire(self, cause: Exception) -> None:
        if self._open and self._cause is None:
            self._cause = cause
            self._task.cancel()
