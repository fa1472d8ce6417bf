"""A hosted agent's tool port: each call through every gate; a person who is asked costs no deadline (R-SUP-10)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from desktop.domain.events import Event, EventSink, ToolCallAnswered, ToolCallWaiting
from desktop.domain.ids import new_id
from desktop.domain.messages import ToolCallBlock
from desktop.domain.run_meta import RunMeta
from desktop.domain.tools import ToolResult
from desktop.pipeline.context import CallRequest, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.supervision.run_context import Waits


@dataclass(frozen=True, slots=True)
class PipelineTools:
    """``EffectPorts.tool`` over a pipeline, in the name of ``caller``; ``sink`` hears what happens in the calls."""

    pipeline: Pipeline
    caller: Caller
    sink: EventSink

    async def __call__(self, name: str, arguments: Mapping[str, Any], meta: RunMeta, waits: Waits) -> ToolResult:
        """The result; a tool's failure is one, too."""
        questions = _Questions(waits)

        def heard(event: Event) -> None:
            questions.hear(event)
            self.sink(event)

        try:
            block = ToolCallBlock(new_id(), name, dict(arguments))
            outcome = await self.pipeline.invoke(CallRequest(block, self.caller, Invocation(meta), heard))
        finally:
            questions.close()
        return replace(outcome.result, facts=outcome.facts)


class _Questions:
    """Those that are open in one call; calls within it may ask too, several at once."""

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._open: dict[str, ExitStack] = {}

    def hear(self, event: Event) -> None:
        if isinstance(event, ToolCallWaiting) and event.request.request_id not in self._open:
            held = self._open[event.request.request_id] = ExitStack()
            held.enter_context(self._waits(event.request.tool))
        elif isinstance(event, ToolCallAnswered) and event.request_id in self._open:
            self._open.pop(event.request_id).close()

    def close(self) -> None:
        """The call is over; a question that nobody answered waits no more."""
        while self._open:
            self._open.popitem()[1].close()
