"""What ``hookRef`` does: writes down what a provider tells, and answers with directives (R-PRV-2).

Here an agent's limits, promised values, budgets and persistence are kept; the provider only follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from desktop.agents.skill.host import Host
from desktop.agents.skill.made_calls import Calls
from desktop.agents.skill.persistence import AgentInbox, Backoff, inbox_of
from desktop.agents.skill.provider_port import ProviderRounds
from desktop.agents.skill.settings import PolicySettings
from desktop.agents.skill.trace import TRACED, Trace
from desktop.domain.errors import BudgetExhausted, KnownError, LimitReached, ToolFailure
from desktop.domain.runs.events import AgentListening
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.text.outside import INBOX, MAX_KEPT, OutsideText
from desktop.pipeline.context import CallContext
from desktop.pipeline.skill_context import Context
from desktop.supervision.topics import Topics

NO_RESULT = "no valid result"

Directive = dict[str, Any]
"""Empty: whatever the provider does by itself."""


class ProviderHook:
    """The hook of one agent's provider. ``failure`` is set when the agent ended without a result that counts."""

    def __init__(
        self, host: Host, call: CallContext, settings: PolicySettings, calls: Calls, trace: Trace, ctx: Context
    ) -> None:
        self._host = host
        self._call = call
        self._settings = settings
        self._calls = calls
        self._contract = calls.contract
        self._trace = trace
        self._ctx = ctx
        self._rounds = ProviderRounds(lambda _made: settings.rounds, at_end=lambda _limit: self._ended_by_rounds())
        self._text = ""
        self._backoff = Backoff()
        self._limit: Limit | None = None
        self._inbox: AgentInbox | None = None
        self.failure: KnownError | None = None

    def listen(self) -> None:
        """A persistent agent hears from its beginning on what comes into its inbox, also in the middle of a round."""
        if self._settings.persistent:
            topics: Topics = self._ctx.globals["topics"]
            meta, log = self._call.meta, self._host.inboxes
            self._inbox = AgentInbox(
                topics, self._trace.context_id, meta, log, key=meta.call or self._trace.context_id, run_id=meta.run_id
            )

    def close(self) -> None:
        """Stop listening to the agent's topic."""
        if self._inbox is not None:
            self._inbox.close()

    async def hook(self, ctx: Context, event: Mapping[str, Any]) -> Directive:
        """Take one event of the provider and answer with a directive. An event of unknown kind is ignored."""
        kind = event.get("type")
        if not isinstance(kind, str) or kind not in TRACED:
            return {}
        if kind == "turn-start":
            self._rounds.begin()
        event = await self._calls.meant(event)
        self._trace.record(kind, self._with_calls(event) if kind == "tool-result" else event)
        if kind == "turn-end" and self.over:
            return {"stop": True}  # said before, and not heeded
        if kind == "turn-end":
            self._charge(event, ctx)
            self._rounds.end()
            self._text = str(event.get("result") or "")
            said = await self._after_round(event)
            if "stop" in said:
                self._rounds.stop(self._limit)
            return said
        if kind == "error":
            return await self._after_error(event)
        return {}

    def _with_calls(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """A result with what the call's code called: the provider does not see these."""
        below = self._calls.calls_below(event.get("callId"), event.get("tool"))
        told = {key: value for key, value in event.items() if key != "facts"}
        return {**told, "facts": {"nested": below}} if below else told

    @property
    def asked(self) -> Callable[[bool], None]:
        """Told when the provider asks the run's model by ``model-ask``."""
        return self._rounds.asks

    @property
    def over(self) -> bool:
        """Whether the provider was told to stop."""
        return self._rounds.over

    def _ended_by_rounds(self) -> None:
        self._out_of_rounds({})

    def last_text(self) -> str:
        """The result of an agent whose provider had to be stopped (R-LIM-1)."""
        return self._text or f"Stopped: {self._limit}."

    def summary(self) -> dict[str, Any]:
        """The data of ``agent-complete``: status, rounds, calls, and the limit that ended the agent with its place
        (R-LIM-5)."""
        found: dict[str, Any] = {"status": "done", "rounds": self._rounds.made, "toolCalls": self._calls.count}
        if self.failure is not None:
            found["status"] = "failed"
        if self._limit is not None:
            found |= {"status": self._limit.kind, "limit": str(self._limit)}
        return found

    def no_result(self) -> ToolFailure:
        """The failure of an agent that promised a value and never gave one (R-RET-4)."""
        declared = self._contract.declared
        problem = declared.problem if declared is not None else ""
        tail = f" The last one was not accepted: {problem}" if problem else ""
        return ToolFailure(f"The agent ended with {NO_RESULT}.{tail}", code="agent.no_result")

    # -- after a round -----------------------------------------------------------------------------------------------

    async def _after_round(self, event: Mapping[str, Any]) -> Directive:
        self._backoff.reset()
        called = bool(event.get("toolCalls"))
        if self.failure is not None:
            return {"stop": True}
        if self._contract.done:
            return {"stop": True}
        if self._calls.exhausted:
            self._stopped_by(self._settings.calls, "without finishing")
            return {"stop": True}
        if self._settings.persistent:
            return {"continue": True} if called else await self._next_input()
        if self._contract.declared is not None and not called:
            return await self._held_to_promise(str(event.get("result") or ""))
        if self._rounds.used_up:
            return self._out_of_rounds(event) if called else {"stop": True, "result": self._text}
        return {}

    async def _held_to_promise(self, text: str) -> Directive:
        """A final text where a value was promised: taken if it is that value, else asked for again (R-RET-2)."""
        if await self._contract.finish_with_text(text):
            return {"stop": True}
        if self._rounds.used_up:
            return self._out_of_rounds({})
        reminder = self._contract.reminder()
        if reminder:
            return {"continue": True, "message": reminder}
        self.failure = self.no_result()
        return {"stop": True}

    def _out_of_rounds(self, event: Mapping[str, Any]) -> Directive:
        """The last text is the result, unless a value was promised (R-RET-4); a final text on the last round is no
        limit stop (R-LIM-3)."""
        self._limit = self._settings.rounds
        if self._contract.declared is not None:
            self.failure = LimitReached(f"The agent ended with {NO_RESULT}: {self._limit}.", limit=str(self._limit))
            return {"stop": True}
        return {"stop": True, "result": str(event.get("result") or "") or f"Stopped: {self._limit}."}

    def _stopped_by(self, limit: Limit, how: str) -> None:
        self._limit = limit
        self.failure = LimitReached(f"The agent stopped {how}: {limit}.", limit=str(limit))

    def _charge(self, event: Mapping[str, Any], ctx: Context) -> None:
        """What a provider of its own says it used counts against the budget; the bundled ones are counted where they
        ask the model."""
        used = self._rounds.used(event)
        if used is None:
            return
        self._host.budget.consume(used)
        limit = self._host.budget.broken()
        if limit is not None:
            self._limit = limit
            self.failure = BudgetExhausted(f"The budget is used up: {limit}.", limit=str(limit))
            ctx.call.meta.cancellation.cancel("budget")  # stopped even if it does not heed the directive

    # -- persistent agents -------------------------------------------------------------------------------------------

    async def _next_input(self) -> Directive:
        """Wait for something to do instead of spinning (R-PER-6): an event on the agent's inbox."""
        inbox = self._inbox
        assert inbox is not None
        posted = await inbox.take()
        if posted is None:
            self._tell_waiting(True)
            try:
                while (posted := await inbox.take()) is None:
                    await inbox.news(self._call.meta.cancellation)
            finally:
                self._tell_waiting(False)
        text = posted.text
        self._host.pipeline.heard(
            self._call.invocation, [OutsideText(INBOX, "", text[:MAX_KEPT], len(text), time.time())]
        )
        return {"continue": True, "message": text}

    def _tell_waiting(self, waiting: bool) -> None:
        """A person sees that it waits, and can write to it."""
        meta, trace = self._call.meta, self._trace
        self._call.request.sink(
            AgentListening(
                thread_id=meta.thread_id,
                run_id=meta.run_id,
                context_id=trace.context_id,
                agent=trace.whose.agent,
                inbox=inbox_of(trace.context_id),
                waiting=waiting,
            )
        )

    async def _after_error(self, event: Mapping[str, Any]) -> Directive:
        """A persistent agent goes on after a while: 1 s, doubling, 30 s at most (R-PER-3 … R-PER-5)."""
        self._limit = self._limit or (self._host.budget.broken() if event.get("code") == "limit.budget" else None)
        transient = event.get("transient")
        said = transient if isinstance(transient, bool) else None
        delay = self._backoff.after(str(event.get("code")), said) if self._settings.persistent else None
        if delay is None:
            return {}
        self._trace.record("retry", {"attempt": self._backoff.errors, "delayMs": int(delay * 1000)})
        async with Interrupt(self._call.meta.cancellation):
            await self._host.sleep(delay)
        return {"continue": True}
