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
from desktop.domain.errors import CancellationError
from desktop.domain.middleware import CallNext
from desktop.domain.recall import Memory, Recalled, inside_key, is_inside
from desktop.domain.tools import Category, ToolResult, ToolSpec
from desktop.pipeline.context import Call, CallRequest, changed
from desktop.pipeline.edits import changed_note

BARRED = "its arguments held a secret, which Assent does not keep."
_NOBODY_ANSWERED = frozenset({"cancelled", "closed"})


def named(request: CallRequest, spec: ToolSpec, memory: Memory | None) -> CallRequest:
    """The request with what names it in the run's log, and with what is known of it from before."""
    above, block = request.parent.meta.call, request.block
    if not above:
        return replace(request, key=call_key(request.message_id, block.call_id))
    works_for_it = request.serves is not None or not request.counted  # middleware, an agent, its provider
    arguments = None if works_for_it else block.arguments
    key = inside_key(above, spec.name, arguments, request.parent.count(spec.name, arguments))
    known = memory.recall(request.parent.meta.run_id, key, spec) if memory is not None else None
    if known is None or works_for_it:
        return replace(request, key=key)
    return _recalled(replace(request, key=key), known)


def _recalled(request: CallRequest, known: Recalled) -> CallRequest:
    asked = request.block.arguments
    if known.result is not None:
        note = changed_note(asked, known.arguments) if known.arguments is not None else ""
        facts: Mapping[str, Any] = known.result.facts
        if known.arguments is not None:
            facts = {**facts, "edited": changed(asked, known.arguments)}
        return replace(request, known=replace(known.result, text=note + known.result.text, facts=facts))
    if known.arguments is None:
        return replace(request, again=known.again)
    block = replace(request.block, arguments=known.arguments, raw="", problem="")
    return replace(request, block=block, again=known.again, original=asked or {}, barred=BARRED if known.masked else "")


class OtherWay:
    """Right before a person is asked: whether this call takes the place of others, which were made before."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def process(self, context: Call, call_next: CallNext) -> None:
        """A gate that refuses nothing."""
        request, spec = context.request, context.target.spec
        does_something = context.category is not Category.READ and not spec.nests and request.counted
        if does_something and is_inside(request.key) and not request.again and request.serves is None:
            question = self._memory.other_way(context.meta.run_id, request.key)
            if question:
                context.request = replace(request, again=question)
        await call_next()


def left_open(call: Call, memory: Memory | None) -> None:
    """Raise CancellationError when a person did not say what became of a call, but ends the run; or when it ended while
    they were asked."""
    decision = call.decision
    if memory is None or decision is None or not call.request.again or not is_inside(call.request.key):
        return
    if decision.choice == "stop":
        memory.stop(call.meta.run_id)
    if decision.choice == "stop" or decision.by in _NOBODY_ANSWERED:
        raise CancellationError("the question was closed without an answer")


def settled(call: Call | None, result: ToolResult) -> ToolResult | None:
    """What a person said of a call inside another: no thread has it."""
    if call is None or not call.settled or not is_inside(call.request.key):
        return None
    return result
