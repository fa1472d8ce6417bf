"""Runs the code of agents, which may be anything, each in a task of its own: one that will not end is left behind."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from desktop.domain.cancellation import CancellationToken
from desktop.domain.errors import BugError
from desktop.domain.scopes import Interrupt
from desktop.supervision.tasks import TaskOwner

GRACE_S = 0.8
"""Seconds that a cancelled agent has to end (the last one ends within 1 s)."""

_log = logging.getLogger(__name__)


class AgentTasks:
    """The agents' code of one run. Keeps a reference to each, also to those that were left behind."""

    def __init__(self) -> None:
        self._owner = TaskOwner()

    async def run(self, body: Callable[[], Awaitable[Any]], token: CancellationToken, name: str) -> Any:
        """What ``body`` returns or raises. Raises CancellationError when ``token`` was cancelled, whatever was made of
        that, at the latest ``GRACE_S`` after; BugError when it was cancelled by nobody but itself, or would exit."""
        task = self._owner.spawn(_contained(body), name)
        try:
            async with Interrupt(token):
                await asyncio.wait([task])
        finally:
            if not task.done():
                await _put_out(task)
        token.check()
        if task.cancelled():
            raise BugError(f"{name} cancelled itself")
        return task.result()


async def _put_out(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait([task], timeout=GRACE_S)
    if not task.done():
        _log.warning("%s did not end when it was cancelled, and is left behind", task.get_name())


async def _contained(body: Callable[[], Awaitable[Any]]) -> Any:
    """What ``body`` gives; it does not end the app."""
    try:
        return await body()
    except SystemExit as error:
        raise BugError("an agent wanted to exit") from error
