"""Step 11: the middleware skills around a call, as an onion (R-INV-4, R-INV-5, R-INV-11).

Each entry is itself called through the whole pipeline, serving the call; so a skill that is middleware is gated like
any other. One that returns nothing and never went on lets the call go on (R-SK-7); one that returns or finishes with a
value ends it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BugError
from desktop.domain.ids import new_id
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.middleware import CallNext
from desktop.pipeline.context import CallContext, CallRequest
from desktop.pipeline.gates import TrustGate
from desktop.pipeline.names import Caller, ExactTools
from desktop.pipeline.nested import NestedSink
from desktop.pipeline.results import result_of, value_of
from desktop.pipeline.skill_context import ServedContext
from desktop.pipeline.skills.manager import Invoker
from desktop.pipeline.skills.run import context_of
from desktop.skills.cascade.effective import ChainEntry

EXECUTE = "$execute"


class Wrapping:
    """The innermost layer of the function chain: runs the call's own middleware around the core."""

    name = "skill middleware"
    retries = True  # whether a layer may go on twice is watched layer by layer, in the manager

    def __init__(self, pipeline: Invoker, trust: TrustGate) -> None:
        self._pipeline = pipeline
        self._trust = trust

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        """Straight on when the skill has no middleware, which is the common case."""
        chain = [entry for entry in context.cascade.chain if entry.hook != "$invoke"]
        if not chain:
            await call_next()
            return
        if context.context is None:
            context.context = context_of(context)
        await _Onion(self._pipeline, self._trust, context, chain, call_next).enter(0)


class _Onion:
    def __init__(
        self, pipeline: Invoker, trust: TrustGate, call: CallContext, chain: Sequence[ChainEntry], core: CallNext
    ) -> None:
        self._pipeline = pipeline
        self._trust = trust
        self._call = call
        self._chain = chain
        self._core = core
        self._ran = 0
        self._last: Any = self  # what going on last came to; a layer that hands it back changes nothing

    async def enter(self, at: int) -> Any:
        """The value of the call from entry ``at`` inward."""
        while at < len(self._chain) and self._chain[at].hook == "$next":
            at += 1
        if at < len(self._chain):
            entry = self._chain[at]

            async def inner() -> Any:
                return await self._serve(entry, lambda: self.enter(at + 1))

            return await self._hooked(at, entry.name, inner)
        return await self._hooked(at, EXECUTE, self._execute)

    async def _hooked(self, at: int, wraps: str, inner: Any) -> Any:
        """Put the ``$next`` hooks that stand before ``at`` around one real entry, the first outermost."""
        hooks = [entry for entry in self._chain[:at] if entry.hook == "$next"]

        async def enter(index: int) -> Any:
            if index == len(hooks):
                return await inner()
            return await self._serve(hooks[index], lambda: enter(index + 1), "$next", wraps)

        return await enter(0)

    async def _execute(self) -> Any:
        """The innermost layer: the call itself. It runs a second time only for reading; a repeated write or command
        needs a new assent (R-PRM-5)."""
        call = self._call
        self._ran += 1
        if self._ran > 1 and call.category is not Category.READ:
            await self._trust.approve(call)
        await self._core()
        return self._value()

    def _value(self) -> Any:
        result = self._call.result
        if result is not None:
            self._last = value_of(result)
        return None if result is None else self._last

    async def _serve(self, entry: ChainEntry, advance: Any, trigger: str = "", wraps: str = "") -> Any:
        call = self._call
        definition = entry.definition
        retries = definition.source == "library" and definition.metadata.get("retries") is True
        context = call.context
        if context is None:
            raise BugError("middleware without a served context")
        served = ServedContext(context, advance, entry.value, trigger, wraps, retries)
        request = call.request
        chain = (*request.caller.chain, call.tool)
        outcome = await self._pipeline.invoke(
            CallRequest(
                ToolCallBlock(new_id(), entry.name, {}),
                Caller("skill", chain, ExactTools(None)),
                call.invocation,
                NestedSink(request.sink, request.block.call_id),
                request.message_id,
                "",
                request.limits,
                serves=served,
                counted=False,
            )
        )
        value_of(outcome.result)  # a layer that failed ends the call so
        if served.finished and (served.result is not self._last or call.result is None):
            call.result = result_of(served.result)
        elif not served.advanced and not served.finished:
            return await advance()
        return self._value()
