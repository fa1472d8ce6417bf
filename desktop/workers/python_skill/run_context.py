"""What an agent in code reaches the world with (R-JRN-1), in a skill's process as in the app.

Each effect is a call of its own below the agent's: it passes the gates, is journaled, and is bounded by the agent's
place in the tree of the run. After a restart the agent is run again, and what it had done is given back instead of
done again; so it takes time, ids and chance from here, too.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

ABORTED = "tool.aborted"
"""The code of a call whose agent was stopped."""
MAX_AT_ONCE = 8

Invoke = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Awaitable[Any]]
"""Calls a tool, or a function of the runtime by its reference, with arguments and options; gives its value."""


class ChildHandle(NamedTuple):
    """A child that was started."""

    number: int
    agent: str


class ChildOutcome(NamedTuple):
    """How a child ended (R-JRN-3)."""

    status: str
    """``completed``, ``failed``, ``cancelled`` or ``limit``."""
    value: Any = None
    code: str = ""
    """The kind of error, "" when it completed."""
    detail: str = ""
    """The error in a sentence."""


class ToolAnswer(NamedTuple):
    """What came of a tool call; a failure is an answer, too."""

    ok: bool
    value: Any
    """The structured value where the tool has one, else its text."""
    code: str = ""
    text: str = ""
    """The error in a sentence."""


@dataclass(eq=False)
class _Branch:
    """A task of an agent that does something. It is named by the branch that made it and by what it does first, so that
    it has the same name after a restart, whoever is faster then."""

    of: Any
    task: Any
    name: str = "0"
    begun: dict[str, int] = field(default_factory=dict)


_BRANCH: ContextVar[_Branch | None] = ContextVar("branch", default=None)


class RunContext:
    """``ctx`` of an agent in code. ``invoke`` calls tools in the agent's name, ``ref`` is the reference of the runtime
    that serves it, and ``failures`` are what ``invoke`` raises for a call that failed, with its ``code``."""

    def __init__(
        self, skill: Any, invoke: Invoke, agent_id: str, ref: str, failures: tuple[type[Exception], ...]
    ) -> None:
        self.skill = skill
        """``ctx`` as a skill that is no agent has it."""
        self.args: Mapping[str, Any] = skill.args
        self.agent_id = agent_id
        """Its address, ``name/key``."""
        self._invoke = invoke
        self._ref = ref
        self._failures = failures
        self._children: list[asyncio.Task[ChildOutcome]] = []
        self._trunk = _Branch(self, asyncio.current_task())

    async def llm(
        self, messages: str | Sequence[Mapping[str, Any]], *, system: str = "", tools: Iterable[Mapping[str, Any]] = ()
    ) -> dict[str, Any]:
        """Ask the run's model once: ``{text, calls: [{id, tool, args}], stopReason, usage}``. ``messages`` is one text
        or a list of ``{role, text}``; of the assistant also ``calls``, of a tool ``callId``, ``tool``, ``isError``.
        Raises what the model, or the budget, failed with."""
        said = [{"role": "user", "text": messages}] if isinstance(messages, str) else [dict(one) for one in messages]
        answer: dict[str, Any] = await self._effect(
            "llm", {"messages": said, "system": system, "tools": [dict(one) for one in tools]}
        )
        return answer

    async def tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolAnswer:
        """Call a tool through every gate."""
        try:
            given = dict(arguments or {})
            return ToolAnswer(True, await self._invoke(name, given, {"branch": self._branch(name, given)}))
        except self._failures as error:
            code = str(getattr(error, "code", ""))
            if code == ABORTED:
                raise
            return ToolAnswer(False, None, code, str(error))

    async def spawn(
        self, agent: str, message: str, *, budget: Mapping[str, Any] | None = None, priority: str = ""
    ) -> ChildHandle:
        """Start a child without waiting for it: an agent, a skill in words, or another agent in code. ``budget`` may
        be tighter than the agent's own (``max_tokens``, ``max_cost_usd``, ``max_rounds``, ``deadline_s``);
        ``priority`` is ``background``, ``low``, ``normal``, ``high`` or ``critical``, and counts up to the agent's
        own."""
        given = {"agent": agent, "message": message, "budget": dict(budget or {}), "priority": priority}
        handle = ChildHandle(len(self._children), agent)
        self._children.append(asyncio.ensure_future(self._child(given, self._branch("spawn", given))))
        await asyncio.sleep(0)  # it is on its way
        return handle

    async def join(self, child: ChildHandle) -> ChildOutcome:
        """Wait for a child's end."""
        return await asyncio.shield(self._children[child.number])

    async def fan_out(self, tasks: Iterable[tuple[str, str]], *, at_once: int = MAX_AT_ONCE) -> list[ChildOutcome]:
        """Have each of ``(agent, message)`` done by a child of its own, so many at once; their ends, in that order."""
        room = asyncio.Semaphore(at_once)

        async def one(agent: str, message: str) -> ChildOutcome:
            async with room:
                return await self.join(await self.spawn(agent, message))

        return await asyncio.gather(*(one(agent, message) for agent, message in tasks))

    async def emit(self, topic: str, event: Any = None) -> None:
        """Publish plain data under a topic (R-JRN-4)."""
        await self._effect("emit", {"topic": topic, "data": event})

    async def sleep_until(self, when: datetime | float) -> None:
        """Wait for a moment: a datetime with its zone, or seconds since the epoch. Raises ValueError for others."""
        if isinstance(when, datetime) and when.tzinfo is None:
            raise ValueError("sleep_until needs a time with its zone")
        until = when.timestamp() if isinstance(when, datetime) else float(when)
        if not math.isfinite(until):
            raise ValueError("sleep_until needs a moment that comes")
        await self._effect("sleep_until", {"until": until})

    async def now(self) -> datetime:
        """The time, in UTC, the same after a restart (S-JRN-1)."""
        return datetime.fromtimestamp(float(await self._effect("now")), UTC)

    async def uuid(self) -> str:
        """A new id, the same after a restart."""
        return str(await self._effect("uuid"))

    async def random(self) -> float:
        """A number from 0 to below 1, the same after a restart."""
        return float(await self._effect("random"))

    async def close(self) -> None:
        """The agent has ended, and with it the children that it did not wait for."""
        living = [child for child in self._children if not child.done()]
        if not living:
            return
        try:
            await self._effect("close")
        except BaseException:
            for child in living:
                child.cancel()
            raise
        await asyncio.wait(living)

    async def _child(self, given: Mapping[str, Any], branch: str) -> ChildOutcome:
        told = await self._invoke(self._ref, {"kind": "spawn", "given": dict(given), "branch": branch}, {})
        return ChildOutcome(str(told["status"]), told.get("value"), str(told["code"]), str(told["detail"]))

    async def _effect(self, kind: str, given: Mapping[str, Any] | None = None) -> Any:
        plain = dict(given or {})
        return await self._invoke(self._ref, {"kind": kind, "given": plain, "branch": self._branch(kind, plain)}, {})

    def _branch(self, what: str, given: Mapping[str, Any]) -> str:
        """The name of the branch that this task is; "0" for the one in which the agent began."""
        at, task = _BRANCH.get(), asyncio.current_task()
        if at is None or at.of is not self:
            at = self._trunk
        if at.task is not task:
            like = f"{what} {json.dumps(given, sort_keys=True, default=str)}"
            number = at.begun[like] = at.begun.get(like, 0) + 1
            name = hashlib.sha256(f"{at.name}\0{like}\0{number}".encode("utf-8", "replace")).hexdigest()[:16]
            at = _Branch(self, task, name)
            _BRANCH.set(at)
        return at.name


async def run_agent(entry: Any, ctx: RunContext, inbox: Sequence[Mapping[str, Any]]) -> Any:
    """What ``entry`` gives: a function ``(ctx, inbox)``, or a class whose object has ``run(ctx, inbox)`` (R-SUP-15)."""
    function = entry
    if inspect.isclass(entry):
        agent: Any = entry()
        function = agent.run
    try:
        return await function(ctx, list(inbox))
    finally:
        await ctx.close()
