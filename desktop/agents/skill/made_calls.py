"""The agent's calls: what ``invokeRef`` does for a provider (R-AG-2, R-PRV-3).

``{tool, args, callId}`` makes a native call and ``{code}`` runs code, both through every gate in the agent's name and
never further than its permissions. Each counts against ``maxSteps``, refused ones too (R-LIM-8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.agents.skill.calls import CallPort, CodeCalls
from desktop.agents.skill.host import HOST, Host
from desktop.agents.skill.provider_port import ENDED, known_facts, refusal
from desktop.agents.skill.result_contract import ResultContract
from desktop.agents.skill.settings import PolicySettings
from desktop.domain.errors import ToolFailure
from desktop.domain.ids import new_id
from desktop.domain.messages import ToolCallBlock, media_to_plain
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.text.outside import result_as_read
from desktop.pipeline.context import CallContext, CallRequest, CallResult
from desktop.pipeline.names import Caller
from desktop.pipeline.nested import NestedSink
from desktop.pipeline.skill_context import Context
from desktop.pipeline.skills.code_mode import INVOKE

MAX_KEPT = 100
MAX_ID = 200


class Calls:
    """``contract`` holds what the agent finished with. Used as a context that opens and closes the sandbox."""

    def __init__(
        self,
        host: Host,
        call: CallContext,
        caller: Caller,
        settings: PolicySettings,
        contract: ResultContract,
        memory: Any,
    ) -> None:
        self._host = host
        self._call = call
        self._settings = settings
        self.contract = contract
        self._below: dict[str, list[Any]] = {}
        given = {**settings.memory, **(memory if isinstance(memory, Mapping) else {})}
        served, target = call.request.serves, call.context.envelope.target if call.context is not None else None
        code = CodeCalls(settings.mode, host.code, host.pipeline, self._fabric, caller, contract, given, served, target)
        self._port = CallPort(host.pipeline, caller, host.budget, code, settings.calls)

    @property
    def count(self) -> int:
        """How many calls the provider has asked for."""
        return self._port.made

    @property
    def exhausted(self) -> bool:
        """Whether one more was asked for than the limit allows."""
        return self._port.exhausted is not None

    async def serve(self, ctx: Context, args: Mapping[str, Any]) -> dict[str, Any]:
        """One call of the provider's model, as plain data: ``{ok, text, code, state, structured, finished,
        media}``."""
        over = self._port.count()
        if over:
            return refusal(over, "denied.limit")
        if self.contract.done:
            return refusal("There is a result already; nothing more is done.", "denied.finished")
        args = await self.meant(args)
        code, tool = args.get("code"), args.get("tool")
        if isinstance(code, str) and self._settings.mode != "direct":
            outcome = await self._through(ctx, ToolCallBlock(new_id(), INVOKE, {"code": code}))
        elif self.contract.takes(tool):
            return await self._finish_natively(args.get("args"))
        elif isinstance(tool, str) and self._settings.mode != "code":
            ends = self._host.ending(args.get("ends"))
            if ends is None and args.get("ends"):
                return refusal(*ENDED)
            outcome = await self._native(ctx, tool, args, ends)
        else:
            return refusal("That is no call that can be made here.", "tool.unknown")
        self._keep_below(str(args.get("callId") or tool or INVOKE)[:MAX_ID], outcome)
        result = outcome.result
        return {
            "ok": not result.is_error,
            "text": result_as_read(result.text, outcome.facts),
            "code": result.code,
            "state": outcome.state,
            "structured": result.structured,
            "finished": self.contract.done,
            **known_facts(outcome.facts),
            **({"media": media_to_plain(result.media)} if result.media else {}),
        }

    async def meant(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        """A call as a provider tells it (``tool``, ``args``), as the call that it is where it goes through
        skill-invoke."""
        tool, given = told.get("tool"), told.get("args")
        if not isinstance(tool, str) or not isinstance(given, Mapping):
            return told
        block = await self._host.pipeline.meant(ToolCallBlock("", tool, given), self._port.caller)
        return {**told, "tool": block.tool, "args": block.arguments} if block.via else told

    def _keep_below(self, key: str, outcome: CallResult) -> None:
        nested = outcome.facts.get("nested")
        if nested and len(self._below) < MAX_KEPT:
            self._below[key] = list(nested)

    def calls_below(self, call_id: Any, tool: Any) -> list[Any]:
        """What the code of a call called, once, for the trace: by the call's id, or by its tool's name where a provider
        gave none (R-TRC-1)."""
        found = self._below.pop(call_id[:MAX_ID], None) if isinstance(call_id, str) else None
        if found is None and isinstance(tool, str):
            found = self._below.pop(tool[:MAX_ID], None)
        return found or []

    async def _native(
        self, ctx: Context, tool: str, args: Mapping[str, Any], ends: CancellationToken | None
    ) -> CallResult:
        given = args.get("args")
        block = ToolCallBlock(  # an id of its own: the model's may be that of a call of the thread
            new_id(), tool, given if isinstance(given, Mapping) else None, "", str(args.get("problem") or "")[:500]
        )
        return await self._through(ctx, block, ends)

    async def _through(self, ctx: Context, block: ToolCallBlock, ends: CancellationToken | None = None) -> CallResult:
        """The port, below the provider's call, so that the clocks around it stand still for a person."""
        request, provider = self._call.request, ctx.call
        above = provider.invocation if isinstance(provider, CallContext) else self._call.invocation
        host = replace(self._host, asked=lambda _answered: None)  # what a tool asks a model is no round of this agent
        parent = replace(  # for what is called, the agent is above it
            above, view=self._call.context, inherited={**above.inherited, HOST: host}
        )
        sink = NestedSink(request.sink, request.block.call_id)

        def asked(made: ToolCallBlock, caller: Caller) -> CallRequest:
            return CallRequest(made, caller, parent, sink, request.message_id, "", request.limits, ends=ends)

        outcome = await self._port.make(block, asked)
        self._port.code.made.clear()
        self._host.pipeline.note_nested(self._call, block.tool, block.arguments, outcome)
        return outcome

    async def _finish_natively(self, given: Any) -> dict[str, Any]:
        try:
            await self.contract.finish_natively(given)
        except ToolFailure as failure:
            return refusal(str(failure), failure.code)
        return {"ok": True, "text": "Accepted.", "code": "", "state": "done", "structured": None, "finished": True}

    # -- the sandbox -------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Calls:
        """Raises ConfigurationError where code was asked for and cannot be run."""
        await self._port.code.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._port.code.__aexit__(*error)

    def _fabric(self) -> Any:
        return self._call.invocation.shared["skills"]
