"""Who is asked about a call: the window, and an editor that works in the thread. The first answer counts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from desktop.domain.approval.permission import Asker, Decision, PermissionRequest

Ask = Callable[[PermissionRequest], Awaitable[Decision | None]]
"""Brings a request to a program outside. None: it is not answered there."""
logger = logging.getLogger(__name__)


class Askers:
    """Threads whose questions go to a program outside, too. The gate asks ``of`` for each request. ``window`` None:
    there is none."""

    def __init__(self, window: Asker | None = None) -> None:
        self._window = window
        self._claims: dict[str, list[Ask]] = {}

    @property
    def has_window(self) -> bool:
        """Whether a person is asked in a window."""
        return self._window is not None

    def claim(self, thread_id: str, ask: Ask) -> Callable[[], None]:
        """From now on ``ask`` is asked, too, about the runs of this thread and about agents that work for them. Returns
        how to give that up."""
        self._claims.setdefault(thread_id, []).append(ask)

        def release() -> None:
            left = [one for one in self._claims.pop(thread_id, ()) if one is not ask]
            if left:
                self._claims[thread_id] = left

        return release

    def of(self, request: PermissionRequest) -> Asker | None:
        """Who answers this request, where that is not the window alone."""
        claims = self._claims.get(request.seen_in)
        return _AtOnce(self._window, tuple(claims)) if claims else None


class _AtOnce:
    """Asks all of them at once. An answer that does not fit, or none, leaves the question to the others."""

    def __init__(self, window: Asker | None, outside: Sequence[Ask]) -> None:
        self._asks: tuple[Ask, ...] = (*((window.ask,) if window is not None else ()), *outside)

    async def ask(self, request: PermissionRequest) -> Decision:
        """The first answer to exactly this request; then it is withdrawn from the others. Denied where nobody is left
        to answer (R-PRM-6)."""
        async with asyncio.TaskGroup() as group:
            waiting = {group.create_task(_tried(ask, request)) for ask in self._asks}
            try:
                while waiting:
                    done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        if (decision := task.result()) is not None and _fits(request, decision):
                            return decision
            finally:
                for task in waiting:
                    task.cancel()
        return Decision("deny", request.digest, by="no_handler")


async def _tried(ask: Ask, request: PermissionRequest) -> Decision | None:
    try:
        return await ask(request)
    except Exception:  # one of several who are asked: that it cannot be leaves the question to the others
        logger.exception("somebody could not be asked about a call")
        return None


def _fits(request: PermissionRequest, decision: Decision) -> bool:
    return decision.digest == request.digest and decision.choice in request.choices
