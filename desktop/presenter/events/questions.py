"""Questions to a person as futures (R-PRM-7, R-PRM-8): asked in order, answered once, closed with their run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.errors import BugError
from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(slots=True)
class _Question:
    request: PermissionRequest
    answer: asyncio.Future[Decision]
    since: float
    announced: bool = False


class Questions:
    """What waits for a person. ``on_closed(request_id, decision)`` is called once for each question, however it ends.

    All calls belong to the loop's thread.
    """

    def __init__(self, on_closed: Callable[[str, Decision], None]) -> None:
        self._on_closed = on_closed
        self._waiting: dict[str, _Question] = {}
        self._refusing = False

    @property
    def waiting(self) -> tuple[PermissionRequest, ...]:
        """In the order in which they were asked."""
        return tuple(question.request for question in self._waiting.values())

    def unannounced(self) -> tuple[PermissionRequest, ...]:
        """What no window has been told of yet; from now on it counts as told."""
        fresh = [question for question in self._waiting.values() if not question.announced]
        for question in fresh:
            question.announced = True
        return tuple(question.request for question in fresh)

    async def ask(self, request: PermissionRequest, announce: Callable[[], None]) -> Decision:
        """Wait for the answer. A cancelled task closes its question as denied (R-PRM-9) and stays cancelled."""
        if self._refusing:
            return Decision("deny", request.digest, by="closed")
        if request.request_id in self._waiting:
            raise BugError(f"the request {request.request_id} was asked twice")
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._waiting[request.request_id] = _Question(request, answer, time.monotonic())
        announce()
        try:
            return await answer
        finally:
            # Still there only when this task was cancelled.
            self._close(request.request_id, Decision("deny", request.digest, by="cancelled"))

    def answer(self, request_id: str, decision: Decision) -> bool:
        """Pass on a person's answer. False, and nothing happens, unless it fits a waiting question (R-PRM-3,
        R-PRM-5)."""
        question = self._waiting.get(request_id)
        if question is None or not _fits(question.request, decision):
            return False
        self._close(request_id, decision)
        if decision.choice == "deny_run":
            self.deny_run(question.request.run_id, decision)
        return True

    def deny_run(self, run_id: str, decision: Decision | None = None) -> int:
        """Deny all that one run has asked (R-PRM-8); returns how many that were."""
        answer = decision or Decision("deny_run", "")
        return self._deny([q.request for q in self._waiting.values() if q.request.run_id == run_id], answer)

    def refuse_all(self) -> int:
        """Deny all open questions, and every later one, because the app closes (R-PRM-9); returns how many waited."""
        self._refusing = True
        return self._deny(self.waiting, Decision("deny", "", by="closed"))

    def _deny(self, requests: tuple[PermissionRequest, ...] | list[PermissionRequest], decision: Decision) -> int:
        for request in requests:
            self._close(request.request_id, replace(decision, digest=request.digest))
        return len(requests)

    def _close(self, request_id: str, decision: Decision) -> None:
        question = self._waiting.pop(request_id, None)
        if question is None:
            return
        decided = replace(decision, waited_s=time.monotonic() - question.since)
        if not question.answer.done():
            question.answer.set_result(decided)
        self._on_closed(request_id, decided)


def _fits(request: PermissionRequest, decision: Decision) -> bool:
    if decision.digest != request.digest or decision.choice not in request.choices:
        return False
    if decision.choice == "allow_bounded":
        return decision.bounds is not None
    return decision.choice != "allow_edited" or decision.edited_arguments is not None
