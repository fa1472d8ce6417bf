"""The loop's way into the pipeline for one run."""

from __future__ import annotations

from desktop.agents.skill.made_calls import OVER
from desktop.domain.cancellation import STOPPED
from desktop.domain.events import EventSink
from desktop.domain.ids import new_id
from desktop.domain.judgement import Category
from desktop.domain.limits import Limit
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.run_meta import RunMeta
from desktop.pipeline.context import CallRequest, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.recovery.past import NEVER_BEGUN, Past
from desktop.services.threads.recorder import RunRecorder
from desktop.services.turns.code_mode import RunCode
from desktop.supervision.budgets import BudgetTracker


class Toolbox:
    """Makes a model's calls on behalf of ``caller`` (agents' ToolRunner), below ``root``; at most ``maximum`` of
    them (``maxSteps``, C-17)."""

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
        maximum: Limit | None = None,
    ) -> None:
        self.caller = caller
        self._pipeline = pipeline
        self._root = root or Invocation(meta)
        self._sink = sink
        self._recorder = recorder
        self._budget = budget
        self._code = code
        self._maximum = maximum
        self.made = 0

    @property
    def exhausted(self) -> Limit | None:
        """The limit on calls, once one more was asked for."""
        return self._maximum if self._maximum is not None and self.made > self._maximum.value else None

    async def run(self, call: ToolCallBlock, past: Past = NEVER_BEGUN) -> ToolResultBlock:
        """One call through every gate; its result is stored under the id given here. ``past``: see ``CallRequest``."""
        self.made += 1
        if self._maximum is not None and self.made > self._maximum.value:
            text = OVER.format(limit=self._maximum)
            facts = {"state": "denied", "code": "denied.limit"}
            return ToolResultBlock(call.call_id, call.tool, text, True, None, facts)
        result_id = self._recorder.result_ids[call.call_id] = new_id()
        block, caller = self._code.routed(call, self.caller) if self._code is not None else (call, self.caller)
        outcome = await self._pipeline.invoke(
            CallRequest(block, caller, self._root, self._sink, self._recorder.message_id, result_id, past=past)
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
