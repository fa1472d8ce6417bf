"""What the pipeline does about calls that an earlier process may have made: what is known of one is looked up before
anything else, a refusal that would read as if nothing had been done becomes a question, and what was not made again is
told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.approval.permission import with_message, without_message
from desktop.domain.errors import AssentError, CancellationError, Denied
from desktop.domain.runs.call_keys import inside_key, is_inside, likeness
from desktop.domain.runs.effects import call_key
from desktop.domain.runs.middleware import CallNext
from desktop.domain.tools import ToolResult, ToolSpec
from desktop.pipeline.context import CallAttempt, CallContext, CallRequest, changed
from desktop.pipeline.edits import changed_note
from desktop.pipeline.gates import TrustGate
from desktop.pipeline.recovery.unknown_outcome import ask_at_least, may_have_been_done, missing_tool_spec, still_unknown
from desktop.recovery.history import MAX_TOLD, CallHistories
from desktop.recovery.past import (
    OUTCOME_UNKNOWN,
    VALUE_UNKNOWN,
    Done,
    NeverBegun,
    Unknown,
    edited_of,
    inside_of,
    unrepeatable_of,
)
from desktop.recovery.words import MADE_BEFORE


class PastCalls:
    """Some steps of the pipeline, and a layer around its gates. ``histories`` knows of the calls that earlier runs left
    open."""

    def __init__(self, histories: CallHistories | None, trusting: TrustGate) -> None:
        self._histories = histories
        self._trusting = trusting

    async def recognise(self, attempt: CallAttempt) -> None:
        """The past of the call, and its name in the run's log if it is made inside another. One that is done has its
        result."""
        request, histories, tool = attempt.request, self._histories, attempt.tool
        assert tool is not None
        spec, run_id = tool.spec, request.parent.meta.run_id
        if request.parent.meta.call:
            request = self._recognised_inside(request, spec)
        elif isinstance(request.past, Unknown) and histories is not None:
            # Nobody is asked about a call as a whole that can go on: what it had made is known one by one.
            edited = request.past.edited
            asked = edited.asked if edited is not None else request.block.arguments
            past = histories.past(run_id, key_of(request), asked, spec)
            request = request if isinstance(past, NeverBegun) else replace(request, past=past)
        attempt.request = request
        if isinstance(request.past, Done):
            attempt.result, attempt.given = _stored(request, request.past), True

    def _recognised_inside(self, request: CallRequest, spec: ToolSpec) -> CallRequest:
        """A call made inside another, with its name in the run's log and its past."""
        histories, above = self._histories, request.parent.meta
        works_for_it = request.serves is not None or not request.counted  # middleware, an agent, its provider
        like = likeness(spec.name, None if works_for_it else request.block.arguments or {}, request.said)
        number = request.parent.count(f"{request.branch}\0{like}" if request.branch else like)
        request = replace(request, key=inside_key(above.call, like, number, request.branch))
        asked = with_message(request.block.arguments or {}, request.said)
        past = histories.past(above.run_id, request.key, asked, spec) if histories else None
        return request if past is None or works_for_it else _with_arguments(replace(request, past=past))

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        """Around the gates: what cannot be made again is not, and a question that nobody answered stays open."""
        unrepeatable = unrepeatable_of(context.request.past)
        if unrepeatable:
            raise Denied(unrepeatable, code="denied.permission")
        await call_next()
        self._leave_open(context)

    async def refused(self, attempt: CallAttempt, error: AssentError) -> ToolResult | None:
        """Where a gate refuses what may have been done already, that must not read as if it had not been: a person is
        asked, who may know. None: there is nothing to ask about. Raises what comes of asking."""
        request = attempt.request
        if attempt.tool is None and request.parent.meta.call and request.block.arguments is not None:
            request = attempt.request = self._recognised_inside(request, missing_tool_spec(request))
            if isinstance(request.past, Done):
                attempt.given = True
                return _stored(request, request.past)
        if not may_have_been_done(attempt.request, attempt.call, error):
            return still_unknown(attempt.request, error)
        call, result = await ask_at_least(self._trusting, attempt.request, attempt.call, error)
        self._leave_open(call)
        attempt.call = call
        return result

    async def conclude(self, attempt: CallAttempt) -> None:
        """What a person said of the call counts for all that this run still makes; and a call that was to be gone on
        with tells what was done in it and did not come up again: a model that hears of neither would take it for
        undone."""
        result = attempt.result
        assert result is not None
        if attempt.call is not None:
            _answered(attempt.call, result)
        left = self._not_repeated(attempt.request, result)
        if left:
            attempt.result = replace(result, text=f"[{MADE_BEFORE} {'; '.join(left[:MAX_TOLD])}.]\n{result.text}")

    def _not_repeated(self, request: CallRequest, result: ToolResult) -> tuple[str, ...]:
        histories, run_id = self._histories, request.parent.meta.run_id
        if histories is None or is_inside(request.key) or not histories.knows(run_id):
            return ()
        refused = result.is_error and result.code.startswith(("denied", "tool.unknown", "not_found"))
        return inside_of(request.past) if refused else histories.not_repeated(run_id, key_of(request))

    def _leave_open(self, call: CallContext) -> None:
        """End the whole run when a person does that instead of saying what became of a call. Raise CancellationError
        then, or when it ended while they were asked, of a call inside another: that stays open, as one of a thread
        does."""
        decision = call.decision
        if self._histories is None or decision is None or not call.question:
            return
        if decision.choice == "stop":
            self._histories.stop(call.meta.run_id)
        if is_inside(call.request.key) and (decision.choice == "stop" or not decision.answered):
            raise CancellationError("the question was closed without an answer")


def key_of(request: CallRequest) -> str:
    """What names the call in the run's log."""
    return request.key or call_key(request.message_id, request.block.call_id)


def _with_arguments(request: CallRequest) -> CallRequest:
    """What had begun is what a person had made of the call; about that they are asked, and that is made."""
    edited = edited_of(request.past)
    if edited is None or isinstance(request.past, Done):
        return request
    made, said = without_message(edited.made, request.block.arguments or {}, request.said)
    return replace(request, block=replace(request.block, arguments=made, raw="", problem=""), said=said)


def _stored(request: CallRequest, past: Done) -> ToolResult:
    """The result from the journal, as whoever calls gets it. Code takes a text for the value, and an error for
    undone."""
    result, edited = past.result, past.edited
    of_code = result.code == VALUE_UNKNOWN and request.caller.origin in ("code", "skill")
    note = changed_note(edited.asked, edited.made) if edited is not None else ""
    facts: Mapping[str, Any] = result.facts
    if edited is not None:
        facts = {**facts, "edited": changed(edited.asked, edited.made)}
    return replace(result, text="" if of_code else note + result.text, facts=facts)


def _answered(call: CallContext, result: ToolResult) -> None:
    """What came of a call that a person was asked about."""
    uncertain, unknown = call.meta.uncertain, result.code == OUTCOME_UNKNOWN
    if uncertain is None or not call.question or call.target.spec.nests or (result.is_error and not unknown):
        return
    for arguments in (call.frozen or call.arguments or {}, call.original):
        if arguments is not None:
            uncertain.answered(call.target.spec.name, arguments, unknown=unknown)
