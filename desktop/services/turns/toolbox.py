"""The loop's way into the pipeline for one run."""

from __future__ import annotations

from desktop.agents.skill.calls import CallPort
from desktop.domain.approval.judgement import Category
from desktop.domain.ids import new_id
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.runs.cancellation import STOPPED, CancellationToken
from desktop.domain.runs.events import EventSink, ToolCallFinished, ToolCallStarted
from desktop.domain.runs.limits import Limit
from desktop.pipeline.context import CallRequest, Invocation
from desktop.pipeline.names import Caller, ToolTable
from desktop.recovery.past import NEVER_BEGUN, Past
from desktop.services.threads.recorder import RunRecorder


class Toolbox:
    """Makes a model's calls through ``port`` (agents' ToolRunner), below ``root``; results are kept in the thread."""

    def __init__(
        self, port: CallPort, table: ToolTable, sink: EventSink, recorder: RunRecorder, root: Invocation
    ) -> None:
        self._port = port
        self._table = table
        self._root = root
        self._sink = sink
        self._recorder = recorder

    @property
    def made(self) -> int:
        """How many calls the model has asked for in this run."""
        return self._port.made

    @property
    def exhausted(self) -> Limit | None:
        """The limit on calls, once one more was asked for."""
        return self._port.exhausted

    async def run(
        self, call: ToolCallBlock, past: Past = NEVER_BEGUN, *, ends: CancellationToken | None = None
    ) -> ToolResultBlock:
        """One call through every gate; its result is stored under the id given here. ``past``, ``ends``: see
        ``CallRequest``."""
        refusal = self._port.count()
        if refusal:
            facts = {"state": "denied", "code": "denied.limit"}
            return ToolResultBlock(call.call_id, call.tool, refusal, True, None, facts)
        result_id = self._recorder.result_ids[call.call_id] = new_id()

        def request(block: ToolCallBlock, caller: Caller) -> CallRequest:
            message_id = self._recorder.message_id
            return CallRequest(block, caller, self._root, self._sink, message_id, result_id, past=past, ends=ends)

        outcome = await self._port.make(call, request)
        if outcome.facts.get("decision") == "stop":
            self._root.meta.cancellation.cancel(STOPPED)
        return outcome.block(call)

    def parallel(self, call: ToolCallBlock) -> bool:
        """Category read, and declared safe beside others (R-LOOP-12)."""
        tool = self._table.find(call.tool)
        return tool is not None and tool.spec.parallel_safe and tool.spec.category is Category.READ

    def finished(self, call: ToolCallBlock, result: ToolResultBlock) -> None:
        """The card of the call that gives what was promised; no pipeline makes that call."""
        meta, recorder = self._root.meta, self._recorder
        result_id = recorder.result_ids[call.call_id] = new_id()
        where = {"thread_id": meta.thread_id, "run_id": meta.run_id, "message_id": recorder.message_id}
        arguments = call.arguments or {}
        self._sink(ToolCallStarted(**where, call_id=call.call_id, tool=call.tool, arguments=arguments, category="read"))
        self._sink(
            ToolCallFinished(
                **where,
                call_id=call.call_id,
                tool=call.tool,
                state=str(result.facts["state"]),
                text=result.text,
                is_error=result.is_error,
                code=str(result.facts["code"]),
                elapsed_ms=0,
                facts=result.facts,
                result_message_id=result_id,
                media=result.media,
            )
        )
