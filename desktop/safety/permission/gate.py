"""Who agrees to a call: rules, then what was decided before, then a person.

The gate fails closed: no asker, a closed app, a cancelled run, an answer to another question are all "no". Right before
execution the pipeline judges the call again and comes back here with ``stale`` set when anything changed (R-PRM-5).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.approval.bounded_grants import BoundedGrant, CallGrants, NoCallGrants
from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.consents import ClosedPlaces
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Asker, AuditSink, DecidedBy, Decision, PermissionRequest, with_message
from desktop.domain.approval.rule_book import RuleBook, RuleMatch
from desktop.domain.approval.thread_modes import AlwaysAsks, EdgeModes
from desktop.domain.ids import new_id
from desktop.domain.jobs import Unattended
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import Redactor, SettingsProvider
from desktop.domain.tools import PreCheck, StandsFor
from desktop.safety.permission.decide import AutoDecision, answer, call_facts, facts_of_other, passes_by_setting
from desktop.safety.permission.digest import RunMemory, digest_of, signature_of, size_of
from desktop.safety.permission.edge import past_the_edge
from desktop.safety.permission.gated import GatedCall
from desktop.safety.permission.granting import Granting, JudgedCall
from desktop.safety.permission.log_entry import entry_of
from desktop.safety.permission.outside import ReadTexts
from desktop.safety.permission.recovery import still_allowed, unless_unknown
from desktop.safety.permission.refusals import deny, deny_by, unconsented
from desktop.safety.permission.trust_rules import escape_glob
from desktop.safety.permission.unattended import answer_of_job, forbids, looks_first

MAX_VOID_ANSWERS = 3
_BY: Mapping[str, DecidedBy] = {
    "rule": "rule",
    "remembered": "remembered",
    "setting": "setting",
    "category": "setting",
    "edge": "edge",
}


class PermissionGate:
    """Implements the pipeline's ``Trust``. One per app; calls of all runs pass here and stay apart.

    ``audit`` is awaited before an answer is returned: what cannot be written down does not happen. ``outside`` hears
    from the pipeline which texts from outside the agents of a run read.
    """

    def __init__(
        self,
        asker: Asker | None,
        rules: RuleBook,
        audit: AuditSink,
        settings: SettingsProvider,
        *,
        redactor: Redactor | None = None,
        clock: Callable[[], float] = time.time,
        consents: ClosedPlaces | None = None,
        instead: Callable[[PermissionRequest], Asker | None] = lambda _request: None,
        grants: CallGrants | None = None,
        modes: EdgeModes | None = None,
    ) -> None:
        self._asker = asker
        self._instead = instead
        self._rules = rules
        self._audit = audit
        self._settings = settings
        self._redactor = redactor
        self._clock = clock
        self._consents = consents
        self._granting = Granting(NoCallGrants() if grants is None else grants)
        self._modes = AlwaysAsks() if modes is None else modes
        self._memory = RunMemory()
        self.outside = ReadTexts()
        self._waiting: dict[str, tuple[str, Callable[[DecidedBy, str], None]]] = {}
        self._closed = False

    async def decide(self, call: GatedCall, asking: Callable[[PermissionRequest], None]) -> Decision:
        """The decision about a judged call, written to the audit log. Read calls run unless a rule says otherwise.

        Raises what the audit log raises.
        """
        check = call.check or PreCheck(call.category)
        judged = await self._judged(call, check)
        request, facts = judged.request, judged.facts
        if call.meta.unattended is not None:
            decision: Decision | None = await self._of_job(judged, call.meta.unattended)
        else:
            decision = await self._without_asking(judged, facts_of_other(check, call.meta))
        rule = self._rules.match(facts) if call.allowed_before else None
        before = call.allowed_before and still_allowed(call.category, call.target.spec.category, rule)
        decision = unless_unknown(decision, request, call.meta.unattended, allowed_before=before)
        unasked_read = decision is not None and decision.allowed and call.category is Category.READ and not check.asks
        if decision is None:
            rule = self._rules.match(facts)
            request = replace(request, rule=rule.pattern if rule is not None and rule.policy == "ask" else "")
            tokens = [token for token in (call.meta.cancellation, check.until) if token is not None]
            decision = await self._ask(request, tokens, asking)
            rule = self._rules.match(facts) if decision.allowed else None
            if rule is not None and rule.policy == "deny":  # it was written while the request waited
                decision = replace(deny_by(rule, request), waited_s=decision.waited_s)
            decision = await self._keep(decision, judged)
            self._pledge(decision, request, check.stands_for)
        if not unasked_read:
            number = await self._audit(entry_of(request, decision, self._redactor, self._clock()))
            call.logged.extend([] if number is None else [number])
        return decision

    async def would_ask(self, call: GatedCall) -> bool:
        """Whether ``decide`` would ask a person now, or refuse a job for want of knowing what the call does; nothing is
        written down, counted or used up."""
        judged = await self._judged(call, call.check or PreCheck(call.category))
        request, job = judged.request, call.meta.unattended
        if self._closed or self._memory.denied(request.run_id) or request.refused:
            return False
        if job is not None:
            return not forbids(self._rules.match(judged.facts)) and looks_first(judged, job)
        if self._nobody(request) is not None:
            return False
        found = self._before(judged, self._rules.match(judged.facts), granted=self._covering(judged) is not None)
        return found.what == "asks" and not self._memory.pledged(request.run_id, request.digest)

    def forget_run(self, run_id: str) -> None:
        """The run is over: what was decided for it is forgotten."""
        self._memory.forget(run_id)
        self.outside.forget(run_id)

    def close(self) -> None:
        """Deny every open question, and every later one: the app closes (R-PRM-9)."""
        self._closed = True
        for _, end in list(self._waiting.values()):
            end("closed", "Assent is closing")

    def deny_run(self, run_id: str, reason: str = "") -> None:
        """Deny what this run asks now and later (R-PRM-8)."""
        self._memory.deny(run_id)
        for run, end in list(self._waiting.values()):
            if run == run_id:
                end("remembered", reason or "everything from this run is denied")

    # -- before anybody is asked ---------------------------------------------------------------------------------

    async def _judged(self, call: GatedCall, check: PreCheck) -> JudgedCall:
        """The call with all that decides about it. In which mode its thread works is looked up now, not when its run
        began: a person may have switched. A job has its own, whatever its thread is switched to."""
        facts, request = facts_of(call, check), _request_of(call, check, self._clock())
        if follows := self.outside.follows(request.run_id):
            request = replace(request, follows=follows, outside=self.outside.read_in(request.run_id))
        job = call.meta.unattended
        works_at_edge = job.at_edge if job is not None else self._modes.mode(request.seen_in) == "edge"
        edge = works_at_edge and request.category is not Category.READ
        if edge:
            past = await asyncio.to_thread(past_the_edge, request, check, self._modes)
            request = replace(request, past_edge=past)
        signature = signature_of(facts, check, call.target.spec.version)
        return JudgedCall(request, facts, signature, size_of(check), within_edge=edge and not request.past_edge)

    def _before(self, call: JudgedCall, rule: RuleMatch | None, *, granted: bool) -> AutoDecision:
        """What rules, memory, settings and grants say of a call before anybody is asked."""
        request, settings = call.request, self._settings()
        return answer(
            request.category,
            rule,
            edited=request.original is not None,
            stale=request.stale,
            remembered=self._memory.allows(request.run_id, call.signature),
            setting=passes_by_setting(settings, request.paths, request.preview, request.judgements),
            edge=call.within_edge and not self._closed,
            granted=granted,
            asks=bool(request.asks),
        )

    def _covering(self, call: JudgedCall) -> BoundedGrant | None:
        return None if self._closed else self._granting.covering(call)

    async def _without_asking(self, call: JudgedCall, instead: CallFacts | None) -> Decision | None:
        """An answer that needs no person, or None. ``instead``: what the question is really about."""
        request, facts = call.request, call.facts
        if self._memory.denied(request.run_id):
            return deny(request, "remembered", "everything from this run is denied")
        if request.refused:
            return self._nobody(request)
        rule = self._rules.match(facts)
        about = self._rules.match(instead) if instead is not None else None
        if about is not None and about.policy == "deny":  # nobody is asked about what would be denied afterwards
            self._rules.decided(facts, about)
            return deny_by(about, request)
        grant = self._covering(call)
        found = self._before(call, rule, granted=grant is not None)
        self._rules.decided(facts, rule if found.because == "rule" else None)
        if found.because == "grant" and grant is not None:
            return await self._granting.use(call, grant) or self._nobody(request)
        if found.what == "asks":
            return self._pledged(request) or self._nobody(request)
        shown = {"pattern": rule.pattern} if rule is not None else None
        if found.what == "denied":
            return replace(deny(request, "rule", rule.reason if rule is not None else ""), rule=shown)
        by = _BY[found.because] if request.category is not Category.READ or request.asks else "setting"
        network = by == "remembered" and self._memory.with_network(request.run_id, call.signature)
        return Decision("allow_once", request.digest, by=by, rule=shown if by == "rule" else None, with_network=network)

    def _pledged(self, request: PermissionRequest) -> Decision | None:
        """What a person allowed ahead of exactly this call: the digest has to be the same, with all that it holds."""
        if self._closed or request.stale or request.original is not None:
            return None
        network = self._memory.redeem(request.run_id, request.digest)
        if network is None:
            return None
        return Decision("allow_once", request.digest, by="pledge", with_network=network)

    def _pledge(self, decision: Decision, request: PermissionRequest, stands_for: StandsFor | None) -> None:
        """A person's yes to a question that stands for another call is a yes to that call, once."""
        if stands_for is None or not _says_yes(decision):
            return
        spec, check = stands_for.spec, stands_for.check
        arguments = with_message(stands_for.arguments, "")
        digest = digest_of(spec.name, arguments, check.category, check, spec.version)
        self._memory.pledge(request.run_id, digest, with_network=decision.with_network)

    async def _of_job(self, call: JudgedCall, job: Unattended) -> Decision:
        """The answer in a run without a person: what rules forbid, and then its own policy; nobody is asked."""
        request, rule = call.request, self._rules.match(call.facts)
        if self._closed:
            return deny(request, "closed", "Assent is closing")
        self._rules.decided(call.facts, rule if forbids(rule) else None)
        if rule is not None and forbids(rule):
            return deny_by(
                rule, request, rule.reason or ("a rule asks a person each time" if rule.policy == "ask" else "")
            )
        if self._memory.denied(request.run_id):
            return deny(request, "remembered", "everything from this run is denied")
        return await asyncio.to_thread(answer_of_job, call, job, self._settings)

    def _nobody(self, request: PermissionRequest) -> Decision | None:
        """A denial where there is nobody to ask (R-PRM-6)."""
        if self._closed:
            return deny(request, "closed", "Assent is closing")
        return deny(request, "no_handler", unconsented(request)) if self._asker_of(request) is None else None

    def _asker_of(self, request: PermissionRequest) -> Asker | None:
        return self._instead(request) or self._asker

    # -- asking ---------------------------------------------------------------------------------

    async def _ask(
        self,
        request: PermissionRequest,
        tokens: Sequence[CancellationToken],
        asking: Callable[[PermissionRequest], None],
    ) -> Decision:
        """A person's answer to exactly this request; the time it took is in ``waited_s`` (R-PRM-10)."""
        began = time.monotonic()
        nobody = self._nobody(request)
        if nobody is not None:
            return nobody
        asking(request)
        decision = deny(request, "no_handler", "the answers were for another question")
        for _ in range(MAX_VOID_ANSWERS):
            answer = await self._answer(request, tokens)
            if answer.digest == request.digest:
                decision = answer
                break
        return replace(_as_offered(decision, request), waited_s=time.monotonic() - began)

    async def _answer(self, request: PermissionRequest, tokens: Sequence[CancellationToken]) -> Decision:
        """Wait for the person, the end of the run or of the question, the end of the app or the time limit, whichever
        is first.

        A deadline of the run does not count while a person thinks (R-PRM-10); a cancellation does (R-PRM-9).
        """
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Decision] = loop.create_future()

        def end(by: DecidedBy, reason: str) -> None:
            if not ended.done():
                ended.set_result(deny(request, by, reason))

        def cancelled(reason: str) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(end, "cancelled", reason)

        detach = [token.on_cancel(cancelled) for token in tokens]
        self._waiting[request.request_id] = (request.run_id, end)
        limit = self._settings().approval_timeout_s
        try:
            async with asyncio.TaskGroup() as group:
                asked = group.create_task(self._asked(request))
                waiting: set[asyncio.Future[Any]] = {asked, ended}
                await asyncio.wait(waiting, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
                if not asked.done():
                    end("no_handler", f"nobody answered within {limit:g} seconds" if limit else "")
                    asked.cancel()
        finally:
            for end_listening in detach:
                end_listening()
            del self._waiting[request.request_id]
        if ended.done():
            return ended.result()
        answer = asked.result()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _asked(self, request: PermissionRequest) -> Decision | Exception:
        asker = self._asker_of(request)
        if asker is None:  # it has gone meanwhile
            return deny(request, "no_handler", "")
        try:
            return await asker.ask(request)
        except Exception as error:  # noqa: BLE001 - the boundary to the window; raised again outside the task group
            return error

    async def _keep(self, decision: Decision, call: JudgedCall) -> Decision:
        """Remember what the person wants remembered. Admin never is (R-PRM-3), nor what its asker
        then does by itself."""
        request = call.request
        if request.consent is not None and _says_yes(decision) and self._consents is not None:
            await self._consents.agree(request.consent)
        if decision.choice == "deny_run":
            self.deny_run(request.run_id, decision.reason)
        elif decision.choice in ("allow_run", "allow_always", "allow_bounded") and (
            request.only_once or request.category is Category.ADMIN
        ):
            return replace(decision, choice="allow_once", rule=None, bounds=None)
        elif decision.choice == "allow_bounded":
            return await self._granting.give(call, decision)
        elif decision.choice == "allow_run":
            self._memory.allow(request.run_id, call.signature, with_network=decision.with_network)
        elif decision.choice == "allow_always":
            self._memory.allow(request.run_id, call.signature)
            rule = decision.rule or _exactly(call.facts)
            await self._rules.add(rule)
            return replace(decision, rule=rule)
        return decision


def _request_of(call: GatedCall, check: PreCheck, at: float) -> PermissionRequest:
    spec, meta, arguments = call.target.spec, call.meta, with_message(call.frozen, call.request.said)
    return PermissionRequest(
        request_id=new_id(),
        run_id=meta.run_id,
        thread_id=meta.thread_id,
        above=meta.above,
        node=meta.node,
        project=meta.project,
        call_id=call.request.block.call_id,
        tool=spec.name,
        description=spec.description,
        category=call.category,
        raised_because=check.raised_because,
        chain=call.request.caller.chain,
        arguments=arguments,
        paths=check.paths,
        judgements=check.judgements,
        preview=check.preview,
        digest=digest_of(spec.name, arguments, call.category, check, spec.version),
        asked_at=at,
        stale=call.stale,
        original=call.original,
        place=call.place,
        unknown=call.question,
        unrepeatable=call.unrepeatable,
        consent=check.consent,
        refused=call.refused,
        only_once=check.until is not None,
        asks=check.asks,
        parts=check.parts,
    )


def _exactly(facts: CallFacts) -> dict[str, Any]:
    """The rule for calls of exactly this object; in a project it holds there alone."""
    bound = {"thread_id": facts.project} if facts.project else {}
    return {"tool": facts.tool, "policy": "allow", "constraint": escape_glob(facts.constraint), **bound}


def _as_offered(decision: Decision, request: PermissionRequest) -> Decision:
    """An answer without what its request did not offer."""
    again = decision.choice == "again"
    offered = request.preview.get("network_offered") is True or (again and request.is_outcome)
    network = decision.with_network and offered and (decision.allowed or again)
    return replace(decision, with_network=network, taken=decision.taken if request.is_outcome else None)


def facts_of(call: GatedCall, check: PreCheck) -> CallFacts:
    """What rules, and answers that are remembered, compare of a call."""
    arguments = with_message(call.frozen, call.request.said)
    facts = call_facts(call.target.spec, arguments, check, call.category, call.meta.thread_id)
    if call.request.said and check.constraint:  # what is called, with its arguments alone
        facts = replace(facts, constraint=f"{facts.constraint} {json.dumps(call.request.said)}")
    meta = call.meta
    return replace(facts, above=meta.above, project=meta.project) if meta.above or meta.project else facts


def _says_yes(decision: Decision) -> bool:
    """Whether a person allowed the call exactly as it was shown."""
    return decision.by == "user" and decision.choice in ("allow_once", "allow_bounded", "allow_run", "allow_always")
