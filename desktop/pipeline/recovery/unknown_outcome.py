"""Calls that had begun when Assent ended and that cannot be made again: the tool is gone, a boundary is narrower now.

A plain refusal would tell the model that nothing was done. So a person is asked all the same, who may know; what they
cannot say is "do it again".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import AssentError, CancellationError, Denied
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.pipeline.context import CallContext, CallRequest
from desktop.pipeline.gates import TrustGate
from desktop.pipeline.validation import frozen_copy
from desktop.recovery.past import OUTCOME_UNKNOWN, edited_of, question_of
from desktop.recovery.words import SKIPPED

_GONE = "There is no such tool now."


@dataclass(frozen=True, slots=True)
class MissingTool:
    """Stands for a tool that is not found any more, or that these arguments do not fit. It did more than read, or
    nobody would be asked."""

    spec: ToolSpec

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Judge a call of a tool that is not there: what it would do is not known."""
        return PreCheck(self.spec.category)

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Always raises Denied: the tool is no longer there."""
        raise Denied(_GONE, code="denied.permission")


def may_have_been_done(request: CallRequest, call: CallContext | None, error: AssentError) -> bool:
    """Whether a call that nobody knows the end of was refused before a person was asked about it."""
    begun = question_of(request.past) != "" and not isinstance(error, CancellationError)
    return begun and (call is None or call.decision is None)


async def ask_at_least(
    trusting: TrustGate, request: CallRequest, call: CallContext | None, error: AssentError
) -> tuple[CallContext, ToolResult]:
    """The call and what the model reads of it, by what a person says. Raises what the gate raises."""
    call = call or _gone(request)
    call.unrepeatable = _sentence(error)
    call.frozen = call.frozen or frozen_copy(call.arguments or {})
    call.check = call.check or PreCheck(call.target.spec.category)
    await trusting.approve(call)
    assert call.result is not None  # what cannot be made again is settled by any answer
    return call, call.result


def still_unknown(request: CallRequest, error: AssentError) -> ToolResult | None:
    """A call that a person wanted made again, and that was refused after that: the first one may have been done."""
    if not question_of(request.past) or not isinstance(error, Denied):
        return None
    return ToolResult(f"{SKIPPED} {_sentence(error)}", is_error=True, code=OUTCOME_UNKNOWN)


def missing_tool_spec(request: CallRequest) -> ToolSpec:
    """What is known of a tool that is not found any more: its name."""
    return ToolSpec(request.block.tool[:64].replace("_", "-"), "", {}, Category.WRITE)


def _gone(request: CallRequest) -> CallContext:
    block, spec = request.block, missing_tool_spec(request)
    invocation = request.parent.child(spec.name, block.arguments or {})
    edited = edited_of(request.past)
    return CallContext(
        meta=invocation.meta,
        tool=spec.name,
        arguments=block.arguments,
        definition=spec,
        request=request,
        target=MissingTool(spec),
        invocation=invocation,
        original=edited.asked if edited is not None else None,
    )


def _sentence(error: AssentError) -> str:
    return f"It cannot be made again: {error.advice}"
