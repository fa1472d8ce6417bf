"""``compose``: one onion of middleware for agent runs, model requests and tool calls.

Koa's compose with the guards that R-MW-3 and R-MW-5 ask for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from desktop.domain.errors import BugError
from desktop.domain.messages import ChatMessage
from desktop.domain.models import ModelAnswer
from desktop.domain.runs.middleware import CallNext, Middleware, MiddlewareContext

_RESULTS: dict[str, tuple[type, ...]] = {"chat": (ModelAnswer, ChatMessage)}
"""What the result of a chain may be, where whoever asked depends on it."""

C = TypeVar("C", bound=MiddlewareContext)

Chain = Callable[[C, CallNext], Awaitable[None]]


def compose(layers: Sequence[Middleware[C]]) -> Chain[C]:
    """A chain that runs ``layers``, the first outermost (R-MW-2), around ``core``.

    BugError when a layer calls ``call_next`` twice without declaring ``retries = True`` (R-MW-5), or neither calls
    it nor sets the context's result (R-MW-3), or leaves there what is none. What a layer or the core raises goes
    outward unchanged (R-INV-4).
    """
    chain = tuple(layers)

    async def run(context: C, core: CallNext) -> None:
        await _ChainRun(chain, context, core).enter(0)

    return run


class _ChainRun(Generic[C]):
    """One way through a chain. An object, for a function that calls itself would hold itself, and with it the whole
    call and its result, until Python collects its garbage."""

    __slots__ = ("_chain", "_context", "_core")

    def __init__(self, chain: tuple[Middleware[C], ...], context: C, core: CallNext) -> None:
        self._chain, self._context, self._core = chain, context, core

    async def enter(self, position: int) -> None:
        """The layer at ``position`` and all within, or the core."""
        if position == len(self._chain):
            await self._core()
            return
        layer = self._chain[position]
        calls = 0

        async def call_next() -> None:
            nonlocal calls
            calls += 1
            if calls > 1 and not getattr(layer, "retries", False):
                raise BugError(f"{_name(layer)} called call_next twice")
            await self.enter(position + 1)

        await layer.process(self._context, call_next)
        result = result_of(self._context)
        if not calls and result is None:
            raise BugError(f"{_name(layer)} neither called call_next nor set a result")
        kinds = _RESULTS.get(self._context.level)
        if kinds is not None and not isinstance(result, kinds):
            raise BugError(f"{_name(layer)} left a {type(result).__name__} as the result, which is none")


def result_of(context: MiddlewareContext) -> object:
    """What is in the context's result slot: ``response`` of a model request, ``result`` of the others."""
    return getattr(context, "response" if context.level == "chat" else "result", None)


def _name(layer: object) -> str:
    return str(getattr(layer, "name", type(layer).__name__))
