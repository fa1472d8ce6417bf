"""The ``agent`` skill's body: policy. What an agent may use, how long it works, what it has to return, and
what is told about it; the model loop is a provider's, called by name (R-AG-2, R-AG-3).

All that a provider gets is plain data: prompt, tools, and two callback refs. ``invokeRef`` makes calls in the agent's
name, ``hookRef`` tells the policy what happens and answers with directives. Both are good for this provider only, and
are gone when the agent is (R-AG-9, R-PRV-11).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from desktop.agents.skill.directives import ProviderHook
from desktop.agents.skill.discovery import OwnCalls, Visible, provider_call, visible_tools
from desktop.agents.skill.documents import code_tool, described, document, finish_tool
from desktop.agents.skill.history import history_in
from desktop.agents.skill.host import HOST, PERMISSIONS, Host
from desktop.agents.skill.made_calls import Calls
from desktop.agents.skill.nested_agent_scope import NestedAgentScope, nested_agent_scope
from desktop.agents.skill.provider_port import callback_ref, is_bundled, provider_problem
from desktop.agents.skill.result_contract import DeclaredResult, ResultContract
from desktop.agents.skill.settings import NO_HISTORY, THREAD, PolicySettings, standing
from desktop.agents.skill.trace import Delivery, TopicEvents, Trace, Whose
from desktop.domain.errors import CancellationError, KnownError, ToolAborted, ToolFailure
from desktop.domain.ids import new_id
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.middleware import Start
from desktop.pipeline.context import CallContext, CallRequest, CallResult
from desktop.pipeline.names import Caller
from desktop.pipeline.nested import NestedSink
from desktop.pipeline.results import NestedFailure, value_of
from desktop.pipeline.skill_context import Context
from desktop.supervision.topics import TopicListener

AGENT = "agent"
TASK = "Execute the task."
OF_FIRST = 2
"""How deep the agent works of a skill that is called first."""


async def run_agent(ctx: Context, args: Mapping[str, Any]) -> Any:
    """Work until there is a result: a value that was finished with, or a text (R-AG-11).

    Raises ToolFailure when there is no model here or the provider failed, LimitReached where a limit left no result,
    ConfigurationError for settings that make no sense.
    """
    host = ctx.nonlocals.get(HOST)
    call = ctx.call
    if not isinstance(host, Host) or not isinstance(call, CallContext):
        raise ToolFailure("There is no model here to run an agent with.")
    served = ctx.envelope.target.run
    name = str(args.get("name") or served.tool.name)[:64]
    asking = host.asking(args.get("config"), served.tool.name, standing(served.definition, served.tool.name))
    with nested_agent_scope(asking, call, name) as scope:
        return await _Agent(scope, ctx, args, name).work()


class _Agent:
    """One invocation of the library's skill ``agent``."""

    def __init__(self, scope: NestedAgentScope, ctx: Context, args: Mapping[str, Any], name: str) -> None:
        config, host = args.get("config"), scope.host
        self._call, self._ctx, self._args, self._name = scope.call, ctx, args, name
        self._config: Mapping[str, Any] = config if isinstance(config, Mapping) else {}
        self._served = ctx.envelope.target
        where = standing(self._served.run.definition, self._served.run.tool.name)
        declared = DeclaredResult.of(args.get("returns"), self._served, host.pipeline.validator)
        self._settings = PolicySettings.of(self._config, where, returns=declared is not None)
        own, above = host.allowed_of(args.get("allowedTools")), ctx.nonlocals.get(PERMISSIONS)
        permitted = own if above is None else host.together(above, own, "both" if self._served is ctx else "child")
        ctx.nonlocals[PERMISSIONS] = permitted
        self._allowed = OwnCalls(permitted, own, self._served.run.tool.name, self._settings.provider)
        request, caller = scope.call.request, scope.call.request.caller
        self._contract = ResultContract(declared, self._allowed, self._settings.mode, request.serves)
        ctx.accept = self._contract.finish
        self._provider_list = provider_call(permitted, own, None if caller.origin == "skill" else caller.allowed)
        self._host = ctx.nonlocals[HOST] = host
        self._remembered: list[Any] = []
        self._trace = self._made_trace()

    async def work(self) -> Any:
        served = self._served.run.tool.name
        first = self._call.invocation.depth <= OF_FIRST
        await self._host.begins(Start(served, self._host.by if first else "model", "skill"), self._call.meta)
        window = self._host.context_window(self._host.model)
        room = self._host.offers().room(window)
        visible = await visible_tools(self._host.pipeline.table, self._allowed, serving=served, room=room)
        await self._hold(bool(visible.inlined))
        end: dict[str, Any] = {"status": "failed"}
        self._trace.mark("agent-start", {"skill": served, "provider": self._settings.provider})
        try:
            with ExitStack() as held:
                value = await self._provided(visible, held, end)
        except BaseException as error:
            end.update(status=_status_of(error, end), error=self._error_event(error)[:2000])
            raise
        finally:
            self._trace.mark("agent-complete", end)
        return value

    async def _hold(self, with_tools: bool) -> None:
        """Have the model's own structured output hold it to what was promised, where that goes (R-MOD-8)."""
        contract, host = self._contract, self._host
        if contract.strict is not None and is_bundled(host.pipeline.table, self._settings.provider):
            contract.by_schema = await host.held_to_schemas(host.model, with_tools=with_tools)

    def _error_event(self, error: BaseException) -> str:
        """A task that was ended says nothing by itself: why it was is known to its token (R-LIM-5)."""
        return str(error) or self._call.meta.cancellation.reason or type(error).__name__

    async def _provided(self, visible: Visible, held: ExitStack, end: dict[str, Any]) -> Any:
        """The provider's work, between two callback refs that live exactly as long."""
        caller = Caller("native", self._call.request.caller.chain, self._allowed)
        calls = Calls(self._host, self._call, caller, self._settings, self._contract, self._args.get("memory"))
        hook = ProviderHook(self._host, self._call, self._settings, calls, self._trace, self._ctx)
        held.callback(lambda: end.update(hook.summary()))
        self._ctx.nonlocals[HOST] = replace(self._host, asked=hook.asked)
        held.callback(hook.close)
        hook.listen()
        own, fabric = self._call.invocation, self._ctx.globals["skills"]
        invoke_ref = callback_ref(fabric, held, "agent-invoke", lambda: own, calls.serve)
        hook_ref = callback_ref(fabric, held, "agent-hook", lambda: own, hook.hook)
        async with calls:
            self._remembered = await self._history()
            arguments = self._for_provider(visible) | {"invokeRef": invoke_ref, "hookRef": hook_ref}
            outcome = await self._asked(arguments)
            return self._result(outcome, hook)

    def _for_provider(self, visible: Visible) -> dict[str, Any]:
        """Plain data only (R-AG-4). The signal is that of the provider's own call: ``ctx.envelope.signal``."""
        settings, pipeline = self._settings, self._host.pipeline
        tools = [described(tool, visible, pipeline) for tool in visible.inlined] if settings.mode != "code" else []
        if self._contract.native is not None:
            tools.append(finish_tool(self._contract.native))
        if settings.mode != "direct":
            tools.append(code_tool())
        system = self._host.system(self._prompt(), visible.inlined if settings.mode != "code" else ())
        if settings.mode != "direct":
            system = f"{system}\n{document(visible, pipeline)}"
        rounds = settings.rounds.value
        config = {**self._config, "maxTurns": None if rounds == float("inf") else int(rounds)}
        return {
            "prompt": system,
            "config": config,
            "userMessage": self._task(),
            "skillName": self._served.run.tool.name,
            "tools": json.loads(json.dumps(tools, default=str)),
            "history": self._remembered,
            **({"answerSchema": schema} if (schema := self._contract.answer_schema) is not None else {}),
        }

    async def _history(self) -> list[Any]:
        """What the skill that ``model.history`` names gives; a called skill has no thread of its own otherwise."""
        name = self._settings.history
        if name in (THREAD, NO_HISTORY):
            return []
        meta = self._call.meta
        asked = {"agent": self._name, "thread": meta.thread_id, "message": self._task()}
        outcome = await self._called(name, asked, counted=True)
        return history_in(value_of(outcome.result), name)

    def _prompt(self) -> str:
        text, words = str(self._args.get("prompt") or ""), self._contract.words
        return f"{text}\n\n{words}" if words else text

    def _task(self) -> str:
        """The agent's first message: what the caller said, or the default, and the arguments that the skill was called
        with (R-AG-10)."""
        said = str(self._args.get("userMessage") or TASK)
        given = dict(self._served.args) if self._served is not self._ctx else {}
        if not given:
            return said
        return f"{said}\n\nIt was given these arguments:\n{json.dumps(given, ensure_ascii=False, default=str)}"

    async def _asked(self, arguments: Mapping[str, Any]) -> CallResult:
        """Call the provider that ``model.agent`` names (R-AG-3)."""
        return await self._called(self._settings.provider, arguments, counted=False)

    async def _called(self, name: str, arguments: Mapping[str, Any], *, counted: bool) -> CallResult:
        """A skill that the file of this agent names, and no model."""
        request = self._call.request
        chain = (*request.caller.chain, AGENT)
        return await self._host.pipeline.invoke(
            CallRequest(
                ToolCallBlock(new_id(), name, arguments),
                Caller("skill", chain, self._provider_list),
                self._call.invocation,
                NestedSink(request.sink, request.block.call_id),
                request.message_id,
                "",
                None,
                counted=counted,
            )
        )

    def _result(self, outcome: CallResult, hook: ProviderHook) -> Any:
        """The finished value, else what a stop directive gave, else the text (R-AG-11)."""
        if self._contract.done:
            return self._contract.value
        result, promised = outcome.result, self._contract.declared is not None
        if hook.failure is not None:
            raise hook.failure
        if result.code == ToolAborted.code:
            raise CancellationError(self._call.meta.cancellation.reason or "stopped")
        if result.is_error and hook.over and not promised:
            return hook.last_text()
        if result.is_error:
            served, table = self._served.run.tool.name, self._host.pipeline.table
            problem = provider_problem(table, self._settings.provider, self._provider_list, served)
            if problem is not None:
                raise problem
            raise NestedFailure(f"The agent could not finish: {result.text}", result.code)
        if promised:
            raise hook.no_result()
        if result.structured is not None:
            return result.structured
        return "" if result.facts.get("empty") else result.text

    # -- what it hangs on --------------------------------------------------------------------------------------------

    def _made_trace(self) -> Trace:
        """Make the agent's trace, kept where middleware and skills look for it, and the ``nonlocals.agent`` that its
        calls inherit (R-AG-6)."""
        ctx, served, call = self._ctx, self._served, self._call
        above = ctx.nonlocals.get(AGENT)
        above = above if isinstance(above, Mapping) else {}
        topic = str(self._args.get("events") or above.get("events") or "")[:128]
        ancestor = str(above.get("contextId") or "")
        target = served.call if isinstance(served.call, CallContext) else call
        whose = Whose(
            thread_id=call.meta.thread_id,
            run_id=call.meta.run_id,
            call_id=target.request.block.call_id,
            context_id=served.envelope.id,
            ancestor=ancestor,
            agent=self._name,
            root=str(ctx.nonlocals.get("rootContextId") or ""),
            topic=topic,
        )
        ctx.nonlocals[AGENT] = served.nonlocals[AGENT] = whose.scope
        topics, spawn = ctx.globals.get("topics"), self._host.spawn
        delivery = Delivery(self._tell_listener, spawn) if spawn is not None else None
        trace = Trace(TopicEvents(whose, topics, delivery), call.request.sink, self._host.redact)
        served.locals[AGENT] = {"trace": trace.entries}
        above_it = call.invocation.parent
        if served is ctx and above_it is not None and above_it.view is not None:
            above_it.view.locals[AGENT] = served.locals[AGENT]  # of code that called agent by itself (R-TRC-2)
        return trace

    async def _tell_listener(self, one: TopicListener, event: Mapping[str, Any]) -> None:
        await self._ctx.manager.invoke(one.ref, event, {"in_name_of": one.caller})


def _status_of(error: BaseException, end: Mapping[str, Any]) -> str:
    if isinstance(error, (CancellationError, asyncio.CancelledError)):
        return "aborted"
    known = str(end.get("status") or "failed")
    return known if isinstance(error, KnownError) and known in ("limit", "budget") else "failed"
