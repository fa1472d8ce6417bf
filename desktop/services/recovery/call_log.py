"""A run's calls in its log (R-JRN-2): what names them there, and a line for those that were never made."""

from __future__ import annotations

from desktop.domain.judgement import Category
from desktop.domain.middleware import FunctionContext
from desktop.pipeline.context import CallContext, CallRequest, CallResult
from desktop.pipeline.pipeline import Journal
from desktop.pipeline.recovery.divergence import key_of, settled
from desktop.supervision.call_journal import JOURNALED, CallJournal, tool_digest
from desktop.supervision.live_runs import LiveRuns


def call_journal() -> CallJournal:
    """The layer for the app's pipeline, which knows whether the gates raised a call to more than a read."""
    return CallJournal(
        _call_id,
        repeatable=lambda call: isinstance(call, CallContext) and call.category is Category.READ,
        edited=lambda call: isinstance(call, CallContext) and call.edited,
        tool=_tool,
    )


def _tool(context: FunctionContext) -> str:
    """Only of what can be gone on with."""
    if not isinstance(context, CallContext) or not context.target.spec.nests:
        return ""
    return tool_digest(context.target.spec, context.category)


def _call_id(context: FunctionContext) -> str:
    """As the pipeline named it (domain/recall.py)."""
    return key_of(context.request) if isinstance(context, CallContext) else ""


def logged(live: LiveRuns, also: Journal | None = None) -> Journal:
    """The pipeline's journal: calls that the gates refused, or that a person settled, join the run's log."""

    def write(request: CallRequest, call: CallContext | None, outcome: CallResult) -> None:
        if also is not None:
            also(request, call, outcome)
        if call is None or JOURNALED not in call.metadata:
            block, run_id = request.block, request.parent.meta.run_id
            live.journaled.settled(
                run_id,
                key_of(request),
                block.tool,
                block.arguments,
                outcome.state,
                outcome.result.code,
                settled(call, outcome.result),
            )

    return write
