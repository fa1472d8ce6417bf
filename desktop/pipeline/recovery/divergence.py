"""Calls made inside one that is gone on with after a crash (domain/recall.py): what is known of them from before.

One whose outcome is known is not made again. One that may have been done is made when a person says so. One that is
new, while others that were made in its place before are left over, is asked about, too: code may go another way the
second time, and do the same in other words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.effects import call_key
from desktop.domain.errors import CancellationError, ToolAborted
from desktop.domain.judgement import Category
from desktop.domain.middleware import CallNext
from desktop.domain.recall import VALUE_UNKNOWN, Memory, RecalledCall, inside_key, is_inside, likeness
from desktop.domain.tools import ToolResult, ToolSpec
from desktop.pipeline.context import CallContext, CallRequest, changed
from desktop.pipeline.edits import changed_note

MADE_BEFORE = "Before Assent ended, this call had made these, and it did not come to them again:"
MAX_TOLD = 20
BARRED = "its arguments held a secret, which Assent does not keep."


def named(request: CallRequest, spec: ToolSpec, memory: Memory | None) -> CallRequest:
    """The request with what is known of the call from before, and, if it is made inside another, with its name in the
    run's log."""
    above, block = request.parent.meta.call, request.block
    if not above:
        return _asked_less(request, spec, memory) if request.again and memory is not None else request
    works_for_it = request.serves is not None or not request.counted  # middleware, an agent, its provider
    like = likeness(spec.name, None if works_for_it else block.arguments or {})
    key = inside_key(above, like, request.parent.count(like))
    known = memory.recall(request.parent.meta.run_id, key, spec) if memory is not None else None
    if known is None or works_for_it:
        return replace(request, key=key)
    return _recalled(replace(request, key=key), known)


def key_of(request: CallRequest) -> str:
    """What names the call in the run's log."""
    return request.key or call_key(request.message_id, request.block.call_id)


def _asked_less(request: CallRequest, spec: ToolSpec, memory: Memory) -> CallRequest:
    """Nobody is asked about a call as a whole that can be gone on with: what it had made is known one by one. An agent
    with a thread of its own has there what it was told."""
    run_id, key = request.parent.meta.run_id, key_of(request)
    asked = memory.question(run_id, key, spec)
    if asked is None:
        return request
    barred = request.barred if asked or spec.nests != "thread" else ""
    goes_on = not asked and spec.nests != "" and memory.same_tool(run_id, key, spec)
    return replace(request, again=asked, barred=barred, goes_on=goes_on)


def told_of(request: CallRequest, result: ToolResult, memory: Memory | None) -> ToolResult:
    """The result of a call that was to be gone on with, with what was done in it and did not come up again: a model
    that hears of neither would take it for undone."""
    run_id = request.parent.meta.run_id
    if memory is None or is_inside(request.key) or not memory.knows(run_id):
        return result
    key = key_of(request)
    refused = result.is_error and result.code.startswith(("denied", "tool.unknown", "not_found"))
    left = memory.refused(run_id, key) if refused else memory.left(run_id, key)
    if not left:
        return result
    return replace(result, text=f"[{MADE_BEFORE} {'; '.join(left[:MAX_TOLD])}.]\n{result.text}")


def _recalled(request: CallRequest, known: RecalledCall) -> CallRequest:
    asked = request.block.arguments
    if known.result is not None:
        of_code = known.result.code == VALUE_UNKNOWN and request.caller.origin in ("code", "skill")
        note = changed_note(asked, known.arguments) if known.arguments is not None else ""
        facts: Mapping[str, Any] = known.result.facts
        if known.arguments is not None:
            facts = {**facts, "edited": changed(asked, known.arguments)}
        text = "" if of_code else note + known.result.text  # code takes a text for the value, and an error for undone
        return replace(request, known=replace(known.result, text=text, facts=facts))
    if known.arguments is None:
        return replace(request, again=known.again, goes_on=known.goes_on)
    block = replace(request.block, arguments=known.arguments, raw="", problem="")
    return replace(
        request,
        block=block,
        again=known.again,
        goes_on=known.goes_on,
        original=asked or {},
        barred=BARRED if known.masked else "",
    )


class DivergenceGate:
    """Right before a person is asked: whether this call takes the place of others, which were made before."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        """A gate that refuses nothing. An agent does in its own thread what nobody would ask about there."""
        request, nests = context.request, context.target.spec.nests
        does_something = nests == "thread" or (context.category is not Category.READ and not nests)
        by_itself = request.counted and request.serves is None and not request.again
        if does_something and by_itself and is_inside(request.key):
            question = self._memory.other_way(context.meta.run_id, request.key)
            if question:
                context.request = replace(request, again=question)
        await call_next()


def left_open(call: CallContext, memory: Memory | None) -> None:
    """End the whole run when a person does that instead of saying what became of a call. Raise CancellationError then,
    or when it ended while they were asked, of a call inside another: that stays open, as one of a thread does."""
    decision = call.decision
    if memory is None or decision is None or not call.request.again:
        return
    if decision.choice == "stop":
        memory.stop(call.meta.run_id)
    if not is_inside(call.request.key):
        return
    if decision.choice == "stop" or not decision.answered:
        raise CancellationError("the question was closed without an answer")


def settled(call: CallContext | None, result: ToolResult) -> ToolResult | None:
    """What a person said of a call inside another: no thread has it. None: they said nothing."""
    if call is None or not call.settled or not is_inside(call.request.key) or result.code == ToolAborted.code:
        return None
    return result
