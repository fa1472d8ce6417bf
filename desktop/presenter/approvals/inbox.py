"""Requests that wait for a person, from all runs, and the record of what was decided."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.permission import Choice, Decision, PermissionRequest
from desktop.presenter.approvals.activity import ActivityViewModel
from desktop.presenter.transcript.last_answer import LastAnswer

if TYPE_CHECKING:
    from desktop.domain.approval.audit import ActivityLog
    from desktop.domain.approval.bounded_grants import GrantBounds
    from desktop.presenter.approvals.granted import CallGrantsViewModel
    from desktop.presenter.events.bridge import Bridge

REMEMBERED = 32
"""Requests that were allowed and may come back changed."""


class ApprovalsViewModel(QObject):
    """One view in three places: the dialog over the thread, the card in it, and the inbox."""

    changed = Signal()
    asked = Signal(object)
    closed = Signal(str)
    refused = Signal(str)

    def __init__(self, bridge: Bridge, log: ActivityLog, titles: Mapping[str, str] | None = None) -> None:
        """``titles`` are what a person reads of agents, by their names; they may change."""
        super().__init__()
        self.titles: Mapping[str, str] = {} if titles is None else titles
        self._bridge = bridge
        self.grants: CallGrantsViewModel | None = None
        """The grants of the open chat, where there are any to be had."""
        self.activity = ActivityViewModel(bridge, log, self, self.titles)
        self.last_answer = LastAnswer(self)
        self._waiting: dict[str, PermissionRequest] = {}
        self._allowed: dict[tuple[str, str], PermissionRequest] = {}
        bridge.asked.connect(self._asked)
        bridge.closed.connect(self._closed)

    @property
    def requests(self) -> tuple[PermissionRequest, ...]:
        """What waits, in the order in which it was asked."""
        return tuple(self._waiting.values())

    @property
    def pending_count(self) -> int:
        """How many requests wait for an answer."""
        return len(self._waiting)

    def request(self, request_id: str) -> PermissionRequest | None:
        """A waiting request by id."""
        return self._waiting.get(request_id)

    def voided(self, request: PermissionRequest) -> PermissionRequest | None:
        """What the person had allowed before the world changed and the call was asked about anew (R-PRM-5)."""
        return self._allowed.get((request.thread_id, request.call_id)) if request.stale else None

    def _asked(self, request: PermissionRequest) -> None:
        self._waiting[request.request_id] = request
        self.changed.emit()
        self.asked.emit(request)

    def _closed(self, request_id: str, decision: object = None) -> None:
        if self._waiting.pop(request_id, None) is not None:
            self.changed.emit()
            self.closed.emit(request_id)
            self.last_answer.gone(request_id)

    def answer(
        self,
        request_id: str,
        choice: Choice,
        *,
        digest: str,
        reason: str = "",
        edited_arguments: Mapping[str, Any] | None = None,
        rule: Mapping[str, Any] | None = None,
        bounds: GrantBounds | None = None,
        with_network: bool = False,
        taken: tuple[str, ...] | None = None,
    ) -> None:
        """Answer exactly the request that was shown: ``digest`` must be the one on screen (R-PRM-5). ``rule``: the one
        that was saved with this answer, for the activity log. ``with_network``: ticked in the request. ``taken``: of a
        call that was made in a copy, the paths that become real.

        A choice that the request does not offer is refused, whatever the caller (R-PRM-3).
        """
        request = self._waiting.get(request_id)
        if request is None or request.digest != digest or choice not in request.choices:
            self.refused.emit("This request has changed or is already answered. Nothing was allowed.")
            return
        if choice == "deny_run":
            self.deny_all(request.run_id)
            return
        decision = Decision(
            choice=choice,
            digest=digest,
            reason=reason[:2000],
            edited_arguments=edited_arguments,
            rule=rule,
            with_network=with_network,
            bounds=bounds,
            taken=taken,
            waited_s=max(0.0, time.time() - request.asked_at),
        )
        if not self._bridge.answer(request_id, decision):
            self.refused.emit("This request is no longer open. Nothing was allowed.")
        elif decision.allowed:
            self._remember(request)

    def _remember(self, request: PermissionRequest) -> None:
        call = (request.thread_id, request.call_id)
        self._allowed.pop(call, None)
        self._allowed[call] = request
        while len(self._allowed) > REMEMBERED:
            del self._allowed[next(iter(self._allowed))]

    def deny_all(self, run_id: str) -> None:
        """Deny everything that one run has asked."""
        self._bridge.deny_run(run_id)
