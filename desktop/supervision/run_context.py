"""What an agent reaches the world with (R-JRN-1): each call journaled, bounded by its place in the run tree.

Middleware is inside the ports, so it runs on what is really done and never on what the journal gives back (R-MW-8).
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from desktop.domain.agent import AgentOutcome, ChildHandle, Inbox
from desktop.domain.effects import AskUnknown, EffectRecord, EffectUnknown
from desktop.domain.errors import CancellationError, KnownError, ToolAborted
from desktop.domain.estimates import estimate_of
from desktop.domain.ids import AgentId, new_id
from desktop.domain.messages import ChatMessage
from desktop.domain.models import ModelRequest
from desktop.domain.run_meta import RunMeta
from desktop.domain.run_tree import NodeState
from desktop.domain.supervision import ExecutionBudget, HistoryRetention, Priority
from desktop.domain.tools import ToolResult
from desktop.recovery.effect_journal import Asked, EffectJournal, Place, RecalledEffect
from desktop.recovery.effect_values import (
    RequestDigests,
    digest_of,
    message_from_plain,
    message_to_plain,
    outcome_from_plain,
    outcome_to_plain,
    result_from_plain,
    result_to_plain,
)
from desktop.supervision.branches import Branches
from desktop.supervision.choke_point import ModelAdmission
from desktop.supervision.model_queue import ModelQueue
from desktop.supervision.tree import TreeNode

LONGEST_NAP_S = 30.0
OVER = "the agent has ended"
DONE_BEFORE = "This was done before the app was started again; what it gave is not known."
NOT_DONE = "This was not done: the app ended before, and the person chose not to do it now."


Waits = Callable[[str], AbstractContextManager[None]]
"""A person is asked within, about what it names."""


@dataclass(frozen=True, slots=True)
class EffectPorts:
    """How effects are really done. ``llm`` and ``tool`` hold the chat and function middleware; ``repeatable`` says
    whether a call of a tool only reads; ``publish(topic, event, key)`` gives the event a key by which a listener knows
    it again: after a crash it may come a second time. ``describe`` says a tool call in a line, for a person. A port
    that asks a person does so within the ``Waits`` that it is given, so that it costs no deadline (R-SUP-10)."""

    llm: Callable[[ModelRequest, RunMeta], Awaitable[ChatMessage]]
    tool: Callable[[str, Mapping[str, Any], RunMeta, Waits], Awaitable[ToolResult]]
    repeatable: Callable[[str, Mapping[str, Any]], bool]
    publish: Callable[[str, Any, str], None]
    describe: Callable[[str, Mapping[str, Any]], str] = lambda name, arguments: f"{name} {dict(arguments)}"[:600]


@dataclass(frozen=True, slots=True)
class ChildOrder:
    """A child that is to be started, at ``path``."""

    agent: str
    path: str
    inbox: Inbox
    budget: ExecutionBudget | None
    priority: Priority
    retention: HistoryRetention


class Children(Protocol):
    """Who starts children and knows their ends: the host of the run."""

    def start(self, parent: TreeNode, order: ChildOrder) -> AgentId:
        """Raises BudgetExhausted, NotFound. Of a child that had ended before a restart only the end is known again."""
        ...

    async def ended(self, path: str) -> AgentOutcome:
        """Wait for its end."""
        ...


class AgentRun:
    """The ``RunContext`` of one agent."""

    def __init__(
        self,
        node: TreeNode,
        meta: RunMeta,
        journal: EffectJournal,
        ports: EffectPorts,
        queue: ModelQueue,
        children: Children,
        ask_unknown: AskUnknown,
    ) -> None:
        self.node = node
        self._meta = meta
        self._journal = journal
        self._ports = ports
        self._queue = queue
        self._children = children
        self._ask_unknown = ask_unknown
        self._branches = Branches(node.path, journal)
        self._closed = False
        self._digests = RequestDigests()

    def entered(self) -> AbstractContextManager[None]:
        """Around what the agent does, in its task."""
        return self._branches.entered()

    @property
    def meta(self) -> RunMeta:
        """The run, its token, and this agent's place."""
        return self._meta

    @property
    def agent_id(self) -> AgentId:
        """Whose context this is."""
        return self.node.agent_id

    # -- the calls ----------------------------------------------------------------------------------------------------

    async def llm(self, request: ModelRequest) -> ChatMessage:
        """One model request (R-SUP-7, R-SUP-14). Raises ModelError, BudgetExhausted."""
        return await self.ask_model(request, lambda: self._ports.llm(request, self._meta))

    async def ask_model(self, request: ModelRequest, do: Callable[[], Awaitable[ChatMessage]]) -> ChatMessage:
        """``llm`` with another way to do it, for a loop that shows an answer while it comes."""
        asked = Asked("llm", str(request.model), self._digests.of(request), exact=True)
        place = await self._branches.place(asked)
        found = self._journal.recall(place, asked)
        if found is None or found.phase == "begun":
            message = await self._asked_now(request, asked, place, do)
        else:
            message = self._answered_before(found)
        self.node.budget.consume(message.usage, estimate=estimate_of(request, message))
        return message

    async def _asked_now(
        self, request: ModelRequest, asked: Asked, place: Place, do: Callable[[], Awaitable[ChatMessage]]
    ) -> ChatMessage:
        """Through the one choke point."""
        made: list[tuple[ChatMessage, dict[str, Any]]] = []

        async def plain() -> dict[str, Any]:
            try:
                message = await do()
            except Exception:
                self.node.budget.consume(None)  # the request was made: an agent that tries again is bounded
                raise
            made.append((message, message_to_plain(message)))
            return made[0][1]

        async with ModelAdmission(self.node, self._queue, self.node.token, asked.name):
            given = await self._do(place, asked, plain)
            return made[0][0] if given is made[0][1] else message_from_plain(given)

    def _answered_before(self, found: EffectRecord) -> ChatMessage:
        try:
            return message_from_plain(RecalledEffect(found).value())
        except KnownError:
            self.node.budget.consume(None)
            raise

    async def tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """One tool call through every gate."""
        port = self._ports.tool
        return await self.call_tool(name, arguments, lambda: port(name, arguments, self._meta, self.node.waits))

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any], do: Callable[[], Awaitable[ToolResult]]
    ) -> ToolResult:
        """``tool`` with another way to do it, for a loop that stores results under ids of its own."""
        node, ports = self.node, self._ports
        repeatable = ports.repeatable(name, arguments)
        summary = "" if repeatable else ports.describe(name, arguments)
        asked = Asked("tool", name, digest_of(name, arguments), summary, repeatable)
        place = await self._branches.place(asked)

        async def plain() -> dict[str, Any]:
            await node.may_call()
            node.does(NodeState.CALLING, name)
            try:
                result = await do()
                if result.code == ToolAborted.code:
                    raise ToolAborted(result.text)
                return result_to_plain(result)
            finally:
                node.does(NodeState.WORKING)

        given = await self._perform(place, asked, plain, _presumed)
        node.budget.called()
        return result_from_plain(given)

    async def spawn(
        self,
        agent: str,
        inbox: Inbox,
        *,
        budget: ExecutionBudget | None = None,
        priority: Priority = Priority.NORMAL,
        retention: HistoryRetention = HistoryRetention.RUN,
    ) -> ChildHandle:
        """Start a child, without waiting (R-JRN-3). Raises ConfigurationError for a budget that is none (R-LIM-7)."""
        plain_budget = None if budget is None else ExecutionBudget.from_plain(budget.to_plain()).to_plain()
        whole = digest_of([message_to_plain(message) for message in inbox], plain_budget, int(priority))
        asked, started = Asked("spawn", agent, whole), False
        place = await self._branches.place(asked)
        order = ChildOrder(agent, self._branches.below(place), tuple(inbox), budget, priority, retention)

        async def start() -> dict[str, str]:
            nonlocal started
            await self.node.may_call()
            self._check()
            child, started = self._children.start(self.node, order), True
            return {"type": child.type, "key": child.key}

        plain = await self._perform(place, asked, start)
        if not started:
            self._check()
            self._children.start(self.node, order)  # it had been started before; it goes on where it stood
        return ChildHandle(order.path, AgentId(plain["type"], plain["key"]))

    async def join(self, child: ChildHandle) -> AgentOutcome:
        """Wait for a child's end (R-JRN-3)."""

        async def wait() -> dict[str, Any]:
            with self.node.idles(NodeState.JOINING, str(child.agent_id)):
                return outcome_to_plain(await self._children.ended(child.path))

        asked = Asked("join", child.path, "")
        return outcome_from_plain(await self._perform(await self._branches.place(asked), asked, wait))

    async def emit(self, topic: str, event: Any) -> None:
        """Publish (R-JRN-4)."""
        asked = Asked("emit", topic[:200], digest_of(event))
        place = await self._branches.place(asked)

        async def publish() -> None:
            self._ports.publish(topic, event, f"{self._meta.run_id}/{place[0]}/{place[1]}")

        await self._perform(place, asked, publish)

    async def sleep_until(self, when: datetime | float) -> None:
        """Wait for a moment (R-JRN-4). A suspended computer does not shift it."""
        if isinstance(when, datetime) and when.tzinfo is None:
            raise ValueError("sleep_until needs a time with its zone (R-CAN-9)")
        until = when.timestamp() if isinstance(when, datetime) else float(when)
        if not math.isfinite(until):
            raise ValueError("sleep_until needs a moment that comes")

        async def sleep() -> None:
            self.node.does(NodeState.SLEEPING)
            while (left := until - time.time()) > 0:
                await asyncio.sleep(min(left, LONGEST_NAP_S))
            self.node.does(NodeState.WORKING)

        asked = Asked("sleep_until", "", digest_of(until))
        await self._perform(await self._branches.place(asked), asked, sleep)

    async def now(self) -> datetime:
        """The time, the same after a restart."""
        return datetime.fromtimestamp(await self._once("now", time.time), UTC)

    async def uuid(self) -> str:
        """A new id, the same after a restart."""
        return str(await self._once("uuid", new_id))

    async def random(self) -> float:
        """A number from 0 to below 1, the same after a restart."""
        return float(await self._once("random", random.random))

    def close(self) -> None:
        """The agent has ended. What it has left behind does nothing more in its name."""
        self._closed = True

    def _check(self) -> None:
        """Raise CancellationError once the agent is cancelled, or has ended."""
        self._meta.cancellation.check()
        if self._closed:
            raise CancellationError(OVER)

    # -- how they are done --------------------------------------------------------------------------------------------

    async def _once(self, kind: Any, make: Callable[[], Any]) -> Any:
        """A value that is written along with the next effect, the first that can depend on it."""
        asked = Asked(kind, "", "")
        place = await self._branches.place(asked)
        found = self._journal.recall(place, asked)
        if found is not None:
            return RecalledEffect(found).value()
        self._check()
        return self._journal.complete(place, asked, make())

    async def _perform(
        self,
        place: Place,
        asked: Asked,
        do: Callable[[], Awaitable[Any]],
        presumed: Callable[[bool], Any] | None = None,
    ) -> Any:
        """What the journal knows of it, or the effect itself. A write of unknown outcome is asked about."""
        found = self._journal.recall(place, asked)
        if found is not None and found.phase != "begun":
            return RecalledEffect(found).value()
        if found is not None and not asked.repeatable and presumed is not None:
            done = await self._asked_about(found)
            if done is not None:
                return self._journal.complete(place, asked, presumed(done))
        return await self._do(place, asked, do)

    async def _do(self, place: Place, asked: Asked, do: Callable[[], Awaitable[Any]]) -> Any:
        """Write, do, write. What is cut off by a cancellation, or by a bug of ours, has no outcome."""
        self._check()
        await self._journal.begin(place, asked)
        self._check()
        try:
            value = await do()
        except ToolAborted:
            self._meta.cancellation.check()
            raise
        except KnownError as error:
            raise self._journal.fail(place, asked, error) from error
        return self._journal.complete(place, asked, value)

    async def _asked_about(self, record: EffectRecord) -> bool | None:
        """Whether a person says that it was done; None: do it (again)."""
        with self.node.waits(record.name):
            answer = await self._ask_unknown(record)
        if answer == "stop":
            raise EffectUnknown(
                f"It is not known whether {record.name} was done before the app was started again.",
                next_step="Check whether it was done, and start again from there.",
            )
        return None if answer == "repeat" else answer == "done"


def _presumed(done: bool) -> dict[str, Any]:
    """What the agent is told in place of a result that nobody has."""
    code = "run.done_before" if done else "run.not_done"
    return {"text": DONE_BEFORE if done else NOT_DONE, "is_error": not done, "code": code}
