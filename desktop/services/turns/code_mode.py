"""Code mode in a chat: the ``invoke`` tool of one run and the sandbox behind it (C-10).

The session is the run's: ``memory`` begins with what the prompt's ``model.memory`` says, lasts from call to call and
goes with the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.agents.skill.result_contract import ResultContract
from desktop.agents.skill.settings import PolicySettings, ToolMode
from desktop.domain.code import CodeEngine, CodeSession
from desktop.domain.errors import ConfigurationError
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.skills import SkillDef
from desktop.pipeline.context import CallContext, CallRequest, CallResult
from desktop.pipeline.names import Caller, ExactTools
from desktop.pipeline.pipeline import Pipeline
from desktop.pipeline.skills.code_mode import INVOKE, CodeTool
from desktop.skills.resolution.fabric import SkillFabric

LABEL = "agent-code"


class RunCode:
    """Used as a context that opens and closes the sandbox; in direct mode it does nothing at all."""

    def __init__(
        self,
        mode: ToolMode,
        engine: CodeEngine | None,
        pipeline: Pipeline,
        fabric: SkillFabric,
        caller: Caller,
        contract: ResultContract,
        memory: Mapping[str, Any],
    ) -> None:
        self.mode = mode
        self._memory = memory
        self._contract = contract
        self.made: list[tuple[ToolCallBlock, ToolResultBlock]] = []
        """The calls that code made itself, with their results, for who judges the round; those of skills that it
        called are not among them."""
        self._engine = engine
        self._pipeline = pipeline
        self._fabric = fabric
        self._caller = Caller("code", caller.chain, caller.allowed)
        self._session: CodeSession | None = None
        self._ref = ""

    async def __aenter__(self) -> RunCode:
        """Raises ConfigurationError where code was asked for and cannot be run."""
        if self.mode == "direct":
            return self
        if self._engine is None:
            raise ConfigurationError("There is no code sandbox here.", next_step="Use this agent with direct calls.")
        self._session = self._engine.session(self._memory)
        heard, contract = _Heard(self._pipeline, self.made), self._contract
        tool = CodeTool(LABEL, self._session, heard, self._caller, contract.finish, natively=contract.for_code)
        self._ref = self._fabric.hand_out(LABEL, tool=tool)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            self._fabric.take_back(self._ref)
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
        """As the pipeline does."""
        return await self._pipeline.invoke(request)

    async def meant(self, block: ToolCallBlock, caller: Caller) -> ToolCallBlock:
        """As the pipeline does."""
        return await self._pipeline.meant(block, caller)

    def note_nested(
        self, call: CallContext, tool: str, arguments: Mapping[str, Any] | None, outcome: CallResult
    ) -> None:
        """Listed on the card of the code, and kept."""
        self._pipeline.note_nested(call, tool, arguments, outcome)
        block = ToolCallBlock(call.request.block.call_id, tool, arguments)
        self._made.append((block, outcome.block(block)))


def settings_of(skill: SkillDef, metadata: Mapping[str, Any], chosen: str) -> PolicySettings:
    """What ``model`` of a prompt's effective ``metadata`` says about its agent, as for a called skill (D-10); the tool
    mode ``chosen`` in the app holds in place of its own. Raises ConfigurationError that names the key."""
    given = {**model_settings(metadata), **({"toolMode": chosen} if chosen else {})}
    return PolicySettings.of(given, f"the skill {skill.name}", returns=promised_by(metadata) is not None)


def model_settings(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The mapping ``model`` of a prompt's metadata; a name alone says which model, and nothing else."""
    model = metadata.get("model")
    return model if isinstance(model, Mapping) else {}


def promised_by(metadata: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of what a prompt promises to return."""
    returns = metadata.get("returns")
    return returns if isinstance(returns, Mapping) else None
