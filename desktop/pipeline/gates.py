"""Gates 6 to 10 as function middleware in their fixed order (R-MW-7).

A gate that refuses sets the result and does not go on; so nobody is asked about a call that an earlier gate rejects.
Each is also usable by itself, because edited or outdated approvals pass them a second time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.approval.permission import Decision, PermissionRequest, without_message
from desktop.domain.errors import Denied, KnownError, LimitReached, ToolAborted, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.runs.events import ToolCallAnswered, ToolCallWaiting
from desktop.domain.runs.middleware import CallNext
from desktop.domain.tools import CommandTool, HostTool, PreCheck, StandsFor, Tool, ToolResult
from desktop.pipeline.context import CallContext, Trust
from desktop.pipeline.validation import Validator, frozen_copy
from desktop.recovery.past import OUTCOME_UNKNOWN, VALUE_UNKNOWN
from desktop.recovery.words import SAID_DONE, SKIPPED

MAX_QUESTIONS = 20
DROPPED = "It had run in a copy, which is gone with all that it did there: nothing has changed."
NOT_ANSWERED = "Not answered: the run ended while a person was asked. Nothing was done, and nobody said no."


class AllowedToolsGate:
    """Gate 6: the invoking skill's list (R-INV-3)."""

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        await self.check(context)
        await call_next()

    async def check(self, call: CallContext) -> None:
        """Raise Denied ``denied.allowed_tools``. A command is taken apart first, and the host of a call is found out: a
        list may look at either."""
        spec, arguments = call.target.spec, call.arguments or {}
        parts: tuple[CommandPart, ...] = ()
        if isinstance(call.target, CommandTool):
            parts = await call.target.parts_of(arguments, call.meta.work_place)
        elif isinstance(call.target, HostTool):
            arguments = {**arguments, "host": call.target.host_of(arguments)}
        if not call.request.caller.allowed.permits(spec, arguments, parts):
            raise Denied(f"{spec.name} is not among the tools allowed here.", code="denied.allowed_tools")


class SchemaGate:
    """Gate 7: arguments against the schema; afterwards ``frozen`` is the copy that runs (R-TOOL-2, R-INV-8)."""

    def __init__(self, validator: Validator) -> None:
        self._validator = validator

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        await self.check(context)
        await call_next()

    async def check(self, call: CallContext) -> None:
        """Raise ValidationFailure naming each field. Middleware at work is called with nothing: its schema is for what
        it is told to do, which it finds in its context."""
        if call.arguments or call.request.serves is None:
            await self._validator.check(call.target.spec, call.arguments)
        call.frozen = frozen_copy(call.arguments)


class LimitsGate:
    """Gate 8: how many calls the caller may make (R-LIM-4, R-LIM-8)."""

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        limits = context.request.limits
        broken = limits.refuse_call() if limits is not None and context.request.counted else None
        if broken is not None:
            raise Denied(
                f"The limit of tool calls is reached: {broken}. Make no further calls; finish with what you have.",
                code="denied.limit",
            )
        await call_next()


class SafetyGate:
    """Gate 9: effective category, blocklist and boundaries, as the tool judges this call (R-TOOL-4)."""

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        await self.check(context)
        await call_next()

    async def check(self, call: CallContext) -> None:
        """Set ``call.check``, or raise what it refuses with."""
        check = await prechecked(call)
        call.check = check if call.request.ends is None else replace(check, until=check.until or call.request.ends)
        refused(call.check)


async def prechecked(call: CallContext) -> PreCheck:
    """How the tool judges this call, in the place where it would run."""
    return await call.target.precheck(call.frozen, call.meta.work_place)


async def judged_as(target: Tool, arguments: Mapping[str, Any], place: WorkPlace) -> StandsFor:
    """How a tool would judge a call that nobody makes yet: for a question that stands for it."""
    frozen = frozen_copy(arguments)
    return StandsFor(target.spec, frozen, await target.precheck(frozen, place))


def refused(check: PreCheck) -> None:
    """Raise the refusal of a pre-check, if it is one; anything but our own errors becomes a plain denial."""
    if check.denied is None:
        return
    if isinstance(check.denied, (ToolFailure, LimitReached)):
        raise check.denied
    raise Denied(str(check.denied) or "Refused.", code="denied.boundary") from check.denied


class Rehearsals(Protocol):
    """Makes calls in a copy before a person is asked. ``desktop/pipeline/rehearsing.py`` is one."""

    def begin(self, call: CallContext) -> Awaitable[None]:
        """Make the call in a copy, if one can be made: ``call.check`` is then what it did."""
        ...

    def repeat(self, call: CallContext, *, network: bool) -> Awaitable[None]:
        """Drop what it did, and make it in a new copy."""
        ...

    def drop(self, call: CallContext) -> Awaitable[None]:
        """Drop what it did."""
        ...


class TrustGate:
    """Gate 10: rules, remembered decisions, a person. Sets ``call.decision`` or raises Denied (R-PRM-4).

    Arguments that the person edited pass gates 6, 7 and 9 again and are asked about again, with what the edited call
    would do: nobody has seen that yet (R-PRM-2). Where one of these gates refuses them, the person hears why, and can
    only edit them again, or deny the call. No ``trust``: read runs, everything else is denied (R-PRM-6).
    """

    def __init__(
        self,
        trust: Trust | None,
        again: tuple[AllowedToolsGate, SchemaGate, SafetyGate],
        rehearsals: Rehearsals | None = None,
    ) -> None:
        self._trust = trust
        self._allowed, self._schema, self._safety = again
        self._rehearsals = rehearsals

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        await self.approve(context)
        if not context.settled:
            await call_next()

    async def approve(self, call: CallContext) -> None:
        """Ask until there is an answer that holds for exactly what would run (R-PRM-5). A call that a person says was
        done has its result then."""
        for _ in range(MAX_QUESTIONS):
            if self._rehearsals is not None and await self._would_ask(call):
                await self._rehearsals.begin(call)
            decision = await self._decide(call)
            call.decision = decision
            call.waited_s += decision.waited_s
            if call.settled:
                call.result = _not_again(
                    decision, call.unrepeatable, of_code=call.request.caller.origin in ("code", "skill")
                )
                return
            if not decision.answered:
                raise ToolAborted(NOT_ANSWERED)
            if decision.choice == "again" and self._rehearsals is not None:
                await self._rehearsals.repeat(call, network=decision.with_network)
                continue
            if not decision.allowed:
                raise Denied(_refusal(decision, call), code="denied.permission")
            if decision.edited_arguments is None:
                if call.refusal is not None:
                    raise call.refusal
                return
            await self._edit(call, decision.edited_arguments)
        raise Denied("The call kept changing while it was asked about.", code="denied.permission")

    async def _edit(self, call: CallContext, arguments: Mapping[str, Any]) -> None:
        """Take over edited arguments; what the model asked for stays beside them. They are the call's from here on: a
        refusal is about these, and the model has to hear that they are not its own."""
        call.original = call.shown if call.original is None else call.original
        given, said = without_message(arguments, call.frozen, call.request.said)
        if said != call.request.said:
            call.request = replace(call.request, said=said)
        call.arguments, call.frozen = given, frozen_copy(given)
        call.stale, call.refusal, before = False, None, call.check
        if self._rehearsals is not None:
            await self._rehearsals.drop(call)
        try:
            if call.configure is not None:
                await call.configure()
            await self._allowed.check(call)
            await self._schema.check(call)
            await self._safety.check(call)
        except ToolAborted:
            raise
        except KnownError as error:
            call.refusal = error
            if call.check is before:  # of other arguments
                call.check = PreCheck(call.target.spec.category)

    async def _would_ask(self, call: CallContext) -> bool:
        """Whether a person would be asked about a call that can be made in a copy first, and was not yet."""
        if self._trust is None or call.rehearsal is not None or call.question or call.refusal is not None:
            return False
        return call.check is not None and call.check.rehearsable and await self._trust.would_ask(call)

    async def _decide(self, call: CallContext) -> Decision:
        if self._trust is None:
            asks = call.question or (call.check is not None and call.check.asks)
            choice = "allow_once" if call.category is Category.READ and not asks else "deny"
            return Decision(choice, "", by="no_handler")  # type: ignore[arg-type]  # both are choices
        asked: list[PermissionRequest] = []
        clocks = call.invocation.clocks()

        def asking(request: PermissionRequest) -> None:
            asked.append(request)
            call.past_edge = request.past_edge
            for clock in clocks:
                clock.pause()
            call.request.sink(ToolCallWaiting(**_where(call), request=request))

        try:
            decision = await self._trust.decide(call, asking)
        except BaseException:
            if asked:
                lost = Decision("deny", asked[-1].digest, by="cancelled")
                self._answered(call, asked[-1], lost)
            raise
        finally:
            for _ in asked:
                for clock in clocks:
                    clock.resume()
        if asked:
            self._answered(call, asked[-1], decision)
        return decision

    @staticmethod
    def _answered(call: CallContext, request: PermissionRequest, decision: Decision) -> None:
        call.request.sink(ToolCallAnswered(**_where(call), request_id=request.request_id, decision=decision))


def _where(call: CallContext) -> dict[str, str]:
    meta, request = call.meta, call.request
    return {
        "thread_id": meta.thread_id,
        "run_id": meta.run_id,
        "message_id": request.message_id,
        "call_id": request.block.call_id,
    }


def _not_again(decision: Decision, unrepeatable: str, *, of_code: bool) -> ToolResult:
    """What the model reads of a call that had begun when Assent ended and is not made again. Code takes a text for the
    value: it gets an empty one, and no error, for code that tries again after errors would make the call twice."""
    reason = f" {decision.reason.rstrip('.')}." if decision.reason else ""
    if decision.choice == "done":
        return ToolResult("", code=VALUE_UNKNOWN) if of_code else ToolResult(SAID_DONE + reason)
    return ToolResult(f"{SKIPPED}{reason} {unrepeatable}".rstrip(), is_error=True, code=OUTCOME_UNKNOWN)


def _refusal(decision: Decision, call: CallContext) -> str:
    """What the model reads."""
    reason = f": {decision.reason}" if decision.reason else ""
    return (
        _refused_by(decision) + reason + (f"{'' if reason.endswith('.') else '.'} {DROPPED}" if call.rehearsal else "")
    )


def _refused_by(decision: Decision) -> str:
    """The sentence that says who refused; "by user" is the source's wording (R-PRM-4)."""
    if decision.by in ("rule", "remembered", "setting"):
        return "Permission denied by a rule"
    if decision.by == "job":
        return "Permission denied by this job's policy"
    if decision.by == "no_handler":
        return "Permission denied: nobody is here to ask"
    return "Permission denied by user"
