"""One rule while it is written: checked at each key, tried on recorded calls and on tricks shortly after the last one.

The same for a rule of one's own and for *Always allow…*, which is bound to one request: saving then answers exactly
that request, by the digest that was on screen (R-PRM-5). When the request is answered or changes meanwhile, nothing is
answered, and what was written stays as the draft of a new rule.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.approval.rules import RuleDecision, RuleDraft, RuleProblem, RuleView, Simulation
from desktop.domain.errors import AssentError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.approvals.rules import RulesViewModel, sentence_of

if TYPE_CHECKING:
    from desktop.presenter.approvals.inbox import ApprovalsViewModel
    from desktop.presenter.events.bridge import Bridge

TRY_AFTER = 250
"""Milliseconds after the last key before a draft is tried."""
PATTERN_LIMIT = 8_000
"""Characters of a pattern."""
LOST = "The request was answered or has changed meanwhile. Saving now only saves the rule, and answers no request."
ALLOWED = "The call is allowed, and the rule is saved under Approvals, Rules."
ANSWERED = "The rule is saved. Its request was answered meanwhile."


class RuleEditor(QObject):
    """``opened`` after another draft is here or none any more, ``changed`` when the draft or what can be done with it
    changed, ``tried`` when a simulation began or ended, ``saved`` (RuleView) once it counts, ``lost`` when the request
    is gone, ``failed`` with a sentence when nothing was saved."""

    opened = Signal()
    changed = Signal()
    tried = Signal()
    saved = Signal(object)
    lost = Signal()
    failed = Signal(str)

    def __init__(self, rules: RulesViewModel, approvals: ApprovalsViewModel, bridge: Bridge) -> None:
        super().__init__()
        self._rules, self._service, self._approvals, self._bridge = rules, rules.service, approvals, bridge
        self.draft: RuleDraft | None = None
        self._begun: RuleDraft | None = None
        self.request: PermissionRequest | None = None
        self.request_lost = False
        self.problem: RuleProblem | None = None
        self.simulation: Simulation | None = None
        self.trouble = ""
        self.saving = False
        self.tried_draft: RuleDraft | None = None
        self._task: asyncio.Future[None] | None = None
        self._later = bridge.later(self, self._try, TRY_AFTER)
        approvals.changed.connect(self._look_at_request)
        rules.rules_changed.connect(self._again)

    # -- opening ------------------------------------------------------------------------------------------------------

    def new(self, thread_id: str = "") -> None:
        """Begin an empty rule."""
        self._open(RuleDraft("", "allow", thread_id))

    def edit(self, rule: RuleView, decision: RuleDecision | None = None) -> None:
        """Change a rule; saving puts another in its place. ``decision``: the one to begin with."""
        origin = "request" if rule.origin == "request" else "you"
        saved = RuleDraft(rule.pattern, rule.decision, rule.thread_id, rule.rule_id, origin)  # type: ignore[arg-type]
        self._open(replace(saved, decision=decision or rule.decision), begun=saved)

    def duplicate(self, rule: RuleView) -> None:
        """A rule of one's own that begins as a copy."""
        self._open(RuleDraft(rule.pattern, rule.decision, rule.thread_id))

    def always(self, request: PermissionRequest) -> bool:
        """The rule that would have answered this request. False where none can: admin is asked every time (R-PRM-3)."""
        if not may_always(request):
            return False
        self._open(replace(self._service.propose(request), decision="allow"), request=request)
        self._look_at_request()
        return True

    def close(self) -> None:
        """Drop the draft."""
        self._open(None)

    def _open(
        self, draft: RuleDraft | None, *, begun: RuleDraft | None = None, request: PermissionRequest | None = None
    ) -> None:
        self._cancel()
        self.draft, self._begun, self.request = draft, begun or draft, request
        self.request_lost, self.saving, self.trouble = False, False, ""
        self.simulation = self.tried_draft = None
        self._check()
        self.opened.emit()
        self._plan(at_once=True)

    # -- writing ------------------------------------------------------------------------------------------------------

    @property
    def dirty(self) -> bool:
        """Whether closing would lose something that was typed or chosen."""
        return self.draft != self._begun

    def write(self, **changes: Any) -> None:
        """Change the draft's ``pattern``, ``decision`` or ``thread_id``."""
        if self.draft is None or self.saving:
            return
        if "pattern" in changes:
            changes["pattern"] = changes["pattern"][:PATTERN_LIMIT]
        if self.answers:
            changes.pop("decision", None)
        wanted = replace(self.draft, **changes)
        if wanted == self.draft:
            return
        self.draft = wanted
        self._cancel()
        self._check()
        self.changed.emit()
        self._plan()

    def use_suggestion(self) -> None:
        """Take the narrower pattern over."""
        if self.simulation is not None and self.simulation.suggestion and self.current:
            self.write(pattern=self.simulation.suggestion)

    def _check(self) -> None:
        blank = self.draft is None or not self.draft.pattern.strip()
        self.problem = None if blank or self.draft is None else self._service.check(self.draft)

    # -- trying -------------------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether there is something that could be a rule."""
        return self.draft is not None and bool(self.draft.pattern.strip()) and self.problem is None

    @property
    def trying(self) -> bool:
        """Whether the result of trying the draft is still to come."""
        return self._later.isActive() or self._task is not None

    @property
    def current(self) -> bool:
        """Whether ``simulation`` is about the draft as it is now."""
        return self.simulation is not None and self.tried_draft == self.draft

    def _plan(self, *, at_once: bool = False) -> None:
        if self.ready:
            self._later.start(0 if at_once else TRY_AFTER)
        self.tried.emit()

    def _cancel(self) -> None:
        self._later.stop()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()

    def _try(self) -> None:
        draft = self.draft
        if draft is None:
            return
        self._cancel()

        def broke(error: AssentError) -> None:
            if self.draft == draft:
                self._task, self.trouble = None, sentence_of(error)
                self.simulation = self.tried_draft = None
                self._settled()

        self._task = self._bridge.spawn(self._simulate(draft), name="try a rule", on_error=broke)

    async def _simulate(self, draft: RuleDraft) -> None:
        found = await self._service.simulate(draft)
        if self.draft == draft:
            self._task, self.trouble = None, ""
            self.simulation, self.tried_draft = found, draft
            self._settled()

    def _settled(self) -> None:
        self.tried.emit()
        self.changed.emit()

    def _again(self) -> None:
        """Check and try the draft again, because other rules are in force."""
        if self.draft is None or self.saving:
            return
        self._cancel()
        self.tried_draft = None
        self._check()
        self.changed.emit()
        self._plan()

    # -- saving -------------------------------------------------------------------------------------------------------

    @property
    def can_save(self) -> bool:
        """Only what was tried can be saved, or what could not be tried for a reason that is shown."""
        return self.ready and not self.saving and (self.current or bool(self.trouble and not self.trying))

    @property
    def through(self) -> int:
        """How many tricks would get through."""
        return self.simulation.through_count if self.simulation is not None and self.current else 0

    @property
    def risky(self) -> bool:
        """Whether saving wants a second look: a trick gets through, or nobody could try."""
        return self.through > 0 or not self.current

    @property
    def answers(self) -> bool:
        """Whether saving also answers a request."""
        return self.request is not None and not self.request_lost

    def save(self) -> None:
        """Keep it, and answer its request if it has one that still waits."""
        if not self.can_save or self.draft is None:
            return
        answering = self.answers
        self._look_at_request()
        if answering and not self.answers:
            return
        self.saving = True
        self.changed.emit()

        def broke(error: AssentError) -> None:
            self.saving = False
            self.changed.emit()
            self.failed.emit(sentence_of(error))

        self._bridge.spawn(self._save(self.draft), name="save a rule", on_error=broke)

    async def _save(self, draft: RuleDraft) -> None:
        request = self.request if self.answers else None
        made = await self._service.save(draft)
        if request is not None:
            self._answer(request, made)
        self.saving = False
        if self.draft == draft:
            self.close()
        self.saved.emit(made)

    def _answer(self, request: PermissionRequest, made: RuleView) -> None:
        """Allow the request that was shown, with the new rule as the reason, if it still waits."""
        if not self._waits(request):
            self._rules.told.emit(ANSWERED)
            return
        rule = {"pattern": made.pattern, "policy": made.decision, "rule_id": made.rule_id}
        self._approvals.answer(request.request_id, "allow_once", digest=request.digest, rule=rule)
        self._rules.told.emit(ALLOWED)

    def _waits(self, request: PermissionRequest) -> bool:
        now = self._approvals.request(request.request_id)
        return now is not None and now.digest == request.digest

    def _look_at_request(self) -> None:
        """Answered elsewhere, its run stopped, or the file changed: the draft is then that of a new rule."""
        if self.request is None or self.request_lost or self.saving or self._waits(self.request):
            return
        self.request_lost = True
        self.lost.emit()
        self.changed.emit()


def may_always(request: PermissionRequest) -> bool:
    """Only what writes, or asks although it reads, can be allowed from now on (R-PRM-3, R-PRM-11)."""
    return (request.category is Category.WRITE or bool(request.asks)) and "allow_always" in request.choices


@dataclass(frozen=True, slots=True)
class RulesModels:
    """What the widgets of the rules are given. ``editor`` makes one for each place that writes a rule; ``here`` are
    the open chat's project and thread, as far as there are any."""

    rules: RulesViewModel
    editor: Callable[[], RuleEditor]
    here: Callable[[], tuple[str, ...]]
