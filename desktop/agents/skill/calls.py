"""The one port through which the calls of an agent's model go into the pipeline, whoever asks the model.

The agent of a thread reaches it through ``services/turns/toolbox.py``, the agent of a skill through ``made_calls.py``:
they differ in where a result is kept, and in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from desktop.agents.skill.result_contract import ResultContract
from desktop.agents.skill.settings import ToolMode
from desktop.domain.code import CodeEngine, CodeSession
from desktop.domain.errors import ConfigurationError
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.runs.limits import Limit
from desktop.pipeline.context import CallContext, CallRequest, CallResult
from desktop.pipeline.names import Caller, ExactTools
from desktop.pipeline.pipeline import Pipeline
from desktop.pipeline.skill_context import Context, ServedContext
from desktop.pipeline.skills.code_mode import INVOKE, CodeTool
from desktop.skills.resolution.fabric import SkillFabric
from desktop.supervision.budgets import BudgetTracker

CODE = "agent-code"
OVER = "The limit on tool calls is reached: {limit}. Finish now with what you have."


class CodeCalls:
    """The sandbox of an agent that calls its tools in code. Used as a context that opens and closes it; in direct mode
    it does nothing at all. ``memory`` is what the code starts out with; ``served`` and ``target`` are those of an agent
    that works in a call."""

    def __init__(
        self,
        mode: ToolMode,
        engine: CodeEngine | None,
        pipeline: Pipeline,
        fabric: Callable[[], SkillFabric],
        caller: Caller,
        contract: ResultContract,
        memory: Mapping[str, Any],
        served: ServedContext | None = None,
        target: Context | None = None,
    ) -> None:
        self.mode = mode
        self.made: list[tuple[ToolCallBlock, ToolResultBlock]] = []
        """The calls that code made itself, with their results, for who judges the round; those of skills that it
        called are not among them."""
        self._engine = engine
        self._heard = _Heard(pipeline, self.made)
        self._fabric = fabric
        self._caller = Caller("code", caller.chain, caller.allowed)
        self._contract = contract
        self._memory = memory
        self._served = served
        self._target = target
        self._session: CodeSession | None = None
        self._ref = ""

    async def __aenter__(self) -> CodeCalls:
        """Raises ConfigurationError where code was asked for and cannot be run."""
        if self.mode == "direct":
            return self
        if self._engine is None:
            raise ConfigurationError(
                "Code mode (model.toolMode) needs the code sandbox, which is not there.",
                next_step="Use direct calls: model.toolMode: direct.",
            )
        self._session = self._engine.session(self._memory)
        contract, target = self._contract, self._target
        tool = CodeTool(
            CODE,
            self._session,
            self._heard,
            self._caller,
            contract.finish,
            served=self._served,
            target=target,
            natively=contract.for_code,
            task=target.args if target is not None else None,
        )
        self._ref = self._fabric().hand_out(CODE, tool=tool)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            self._fabric().take_back(self._ref)
            await self._session.close()

    def routed(self, call: ToolCallBlock, caller: Caller) -> tuple[ToolCallBlock, Caller]:
        """Where a model's call goes: code to the sandbox, everything else as it is. In pure code mode nothing else is
        a tool (R-COD-1)."""
        if self.mode == "direct":
            return call, caller
        if call.tool == INVOKE:
            block = ToolCallBlock(call.call_id, self._ref, call.arguments, call.raw, call.problem)
            return block, Caller("skill", caller.chain, ExactTools(None))
        return (call, caller) if self.mode == "both" else (call, Caller(caller.origin, caller.chain, ExactTools(())))

    def recall(self, call: ToolCallBlock, result: ToolResultBlock) -> None:
        """Code that ran before the app was started again; what it finished with stands in its result."""
        if self.mode != "direct" and call.tool == INVOKE and result.facts.get("finished"):
            self._contract.recall(result.structured.get("result") if isinstance(result.structured, Mapping) else None)


class _Heard:
    """The pipeline as code sees it, which remembers what was called."""

    def __init__(self, pipeline: Pipeline, made: list[tuple[ToolCallBlock, ToolResultBlock]]) -> None:
        self._pipeline, self._made = pipeline, made

    async def invoke(self, request: CallRequest) -> CallResult:
        """Make a call through the pipeline."""
        return await self._pipeline.invoke(request)

    async def meant(self, block: ToolCallBlock, caller: Caller) -> ToolCallBlock:
        """The call that a block means, as the pipeline says."""
        return await self._pipeline.meant(block, caller)

    def note_nested(
        self, call: CallContext, tool: str, arguments: Mapping[str, Any] | None, outcome: CallResult
    ) -> None:
        """Show a call that code made on the card of that code, and keep it."""
        self._pipeline.note_nested(call, tool, arguments, outcome)
        block = ToolCallBlock(call.request.block.call_id, tool, arguments)
        self._made.append((block, outcome.block(block)))


class CallPort:
    """Counts the calls of an agent's model, also refused ones (R-LIM-8), against ``maximum`` (``maxSteps``, C-17; None:
    there is none), and makes them in the name of ``caller``. What they cost is told to ``budget``."""

    def __init__(
        self, pipeline: Pipeline, caller: Caller, budget: BudgetTracker, code: CodeCalls, maximum: Limit | None
    ) -> None:
        self.caller = caller
        self.code = code
        self.made = 0
        self._pipeline = pipeline
        self._budget = budget
        self._maximum = maximum

    @property
    def exhausted(self) -> Limit | None:
        """The limit on calls, once one more was asked for."""
        return self._maximum if self._maximum is not None and self.made > self._maximum.value else None

    def count(self) -> str:
        """One call more is asked for; why it is refused, or ""."""
        self.made += 1
        return OVER.format(limit=self._maximum) if self.exhausted is not None else ""

    async def make(self, call: ToolCallBlock, request: Callable[[ToolCallBlock, Caller], CallRequest]) -> CallResult:
        """One call through every gate; ``request`` says where it stands."""
        outcome = await self._pipeline.invoke(request(*self.code.routed(call, self.caller)))
        self._budget.called()
        waited = outcome.facts.get("waited_ms", 0)
        if waited:
            self._budget.waited(waited / 1000)
        return outcome
