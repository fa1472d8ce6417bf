"""A run's calls in its log (R-JRN-2): what names them there, and a line for those that were never made."""

from __future__ import annotations

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ToolAborted
from desktop.domain.runs.call_keys import is_inside
from desktop.domain.runs.middleware import FunctionContext
from desktop.domain.tools import ToolResult
from desktop.pipeline.context import CallContext, CallRequest, CallResult, Journal
from desktop.pipeline.recovery.past_calls import key_of
from desktop.recovery.history import tool_digest
from desktop.recovery.journal import JOURNALED, CallJournal


def call_journal() -> CallJournal:
    """The layer for the app's pipeline, which knows whether the gates raised a call to more than a read."""
    return CallJournal(
        _call_id,
        repeatable=lambda call: isinstance(call, CallContext) and call.category is Category.READ,
        edited=lambda call: call.shown if isinstance(call, CallContext) and call.edited else None,
        tool=_tool,
    )


def _tool(context: FunctionContext) -> str:
    """A digest of the tool, for a call with calls inside, which can be gone on with; else ""."""
    if not isinstance(context, CallContext) or not context.target.spec.nests:
        return ""
    return tool_digest(context.target.spec, context.category)


def _call_id(context: FunctionContext) -> str:
    """The id that the pipeline gave the call (domain/runs/call_keys.py), or "" for another kind of request."""
    return key_of(context.request) if isinstance(context, CallContext) else ""


def logged(journal: CallJournal, also: Journal | None = None) -> Journal:
    """The pipeline's journal: calls that the gates refused, or that a person settled, join the run's log."""

    def write(request: CallRequest, call: CallContext | None, outcome: CallResult) -> None:
        if also is not None:
            also(request, call, outcome)
        if call is None or JOURNALED not in call.metadata:
            block, run_id = request.block, request.parent.meta.run_id
            journal.settled(
                run_id,
                key_of(request),
                block.tool,
                block.arguments,
                outcome.state,
                outcome.result.code,
                _settled(call, outcome.result),
            )

    return write


def _settled(call: CallContext | None, result: ToolResult) -> ToolResult | None:
    """What a person said of a call inside another: no thread has it. None: they said nothing."""
    if call is None or not call.settled or not is_inside(call.request.key) or result.code == ToolAborted.code:
        return None
    return result
