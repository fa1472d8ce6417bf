"""The loop's way into the pipeline for one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.cancellation import STOPPED
from desktop.domain.events import EventSink
from desktop.domain.ids import new_id
from desktop.domain.judgement import Category
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.run_meta import RunMeta
from desktop.pipeline.context import CallRequest, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.services.threads.recorder import RunRecorder
from desktop.services.turns.code_mode import RunCode
from desktop.supervision.budgets import BudgetTracker


class Toolbox:
    """Makes a model's calls on behalf of ``caller`` (agents' ToolRunner), below ``root``."""

    def __init__(
        self,
        pipeline: Pipeline,
        caller: Caller,
        meta: RunMeta,
        sink: EventSink,
        recorder: RunRecorder,
        budget: BudgetTracker,
        root: Invocation | None = None,
        code: RunCode | None = None,
    ) -> None:
        self.caller = caller
        self._pipeline = pipeline
        self._root = root or Invocation(meta)
        self._sink = sink
        self._recorder = recorder
        self._budget = budget
        self._code = code

    async def run(
        self, call: ToolCallBlock, again: str = "", original: Mapping[str, Any] | None = None, barred: str = ""
    ) -> ToolResultBlock:
        """One call through every gate; its result is stored under the id given here. ``again``, ``original`` and
        ``barred``: see ``CallRequest``."""
        result_id = self._recorder.result_ids[call.call_id] = new_id()
        block, caller = self._code.routed(call, self.caller) if self._code is not None else (call, self.caller)
        outcome = await self._pipeline.invoke(
            CallRequest(
                block,
                caller,
                self._root,
                self._sink,
                self._recorder.message_id,
                result_id,
                again=again,
                original=original,
                barred=barred,
            )
        )
        self._budget.called()
        waited = outcome.facts.get("waited_ms", 0)
        if waited:
            self._budget.waited(waited / 1000)
        if outcome.facts.get("decision") == "stop":
            self._root.meta.cancellation.cancel(STOPPED)
        return outcome.block(call)

    def parallel(self, call: ToolCallBlock) -> bool:
        """Category read, and declared safe beside others (R-LOOP-12)."""
        tool = self._pipeline.table.find(call.tool)
        return tool is not None and tool.spec.parallel_safe and tool.spec.category is Category.READ
