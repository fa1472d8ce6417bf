"""The agent of a thread that stays at work (``model.persistent``): after a text it waits for a message (R-PER-6).

A person writes to it as to every chat; others post to its inbox, a topic. Both wake it, and what they said stands in
the thread before the next round. While it waits it holds no place among the runs that work at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from desktop.agents.loop.events import Retrying
from desktop.agents.loop.rounds import RoundVerdict
from desktop.agents.skill.persistence import AgentInbox, Backoff
from desktop.domain.errors import KnownError, ModelError
from desktop.domain.messages import ChatMessage
from desktop.domain.runs.events import AgentListening, Event, RunWaiting, UserMessageQueued
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.runs.tree import NodeState
from desktop.domain.text.outside import FROM_INBOX
from desktop.services.threads.recorder import RunRecorder
from desktop.services.turns.runtime import Runtime

WAITS = "waiting for a message"
Judge = Callable[[ChatMessage, int], Awaitable[RoundVerdict]]
Place = Callable[[], AbstractAsyncContextManager[None]]
"""Within it the run gives its place among those that work at once to another."""


class PersistentTurn:
    """Of one turn; a context in which its inbox is open. ``steering`` gives what the person has written meanwhile."""

    def __init__(
        self,
        runtime: Runtime,
        meta: RunMeta,
        recorder: RunRecorder,
        context_id: str,
        agent: str,
        steering: Callable[[], Awaitable[Sequence[ChatMessage]]],
        away: Place,
    ) -> None:
        self._runtime = runtime
        self._meta = meta
        self._recorder = recorder
        self._context_id = context_id
        self._agent = agent
        self._steering = steering
        self._away = away
        self._backoff = Backoff()
        self._inbox: AgentInbox | None = None
        self._unlisten: Callable[[], None] = lambda: None

    def __enter__(self) -> PersistentTurn:
        """Begin to listen for messages to this agent."""
        topics, bus = self._runtime.skills.topics, self._runtime.bus
        log = self._runtime.inboxes
        self._inbox = AgentInbox(topics, self._context_id, self._meta, log, key=self._context_id)
        self._unlisten = bus.listen(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self._unlisten()
        if self._inbox is not None:
            self._inbox.close()

    def _hear(self, event: Event) -> None:
        if isinstance(event, UserMessageQueued) and event.thread_id == self._meta.thread_id and self._inbox:
            self._inbox.wake()

    async def messages(self) -> Sequence[ChatMessage]:
        """What came meanwhile, stored: the person's words, then what was posted."""
        found = list(await self._steering())
        assert self._inbox is not None
        while (posted := await self._inbox.take()) is not None:
            found.append(await self._recorder.posted(FROM_INBOX + posted.text, posted.queue_id))
        return found

    async def after(self, message: ChatMessage, number: int, judge: Judge, limit: Limit) -> RoundVerdict:
        """After a round: what ``judge`` says ends it, a text lets it wait. Raises CancellationError."""
        self._backoff.reset()
        verdict = await judge(message, number)
        if verdict.stop or message.tool_calls or number >= limit.value:
            return verdict
        return RoundVerdict(heard=await self._heard())

    async def _heard(self) -> Sequence[ChatMessage]:
        found = await self.messages()
        if found:
            return found
        inbox = self._inbox
        assert inbox is not None
        async with self._away():
            self._tell(True)
            try:
                while not found:
                    await inbox.news(self._meta.cancellation)
                    found = await self.messages()
            finally:
                self._tell(False)
        return found

    def _tell(self, waiting: bool) -> None:
        runtime, meta = self._runtime, self._meta
        where = {"thread_id": meta.thread_id, "run_id": self._recorder.run_id}
        topic = self._inbox.topic if self._inbox is not None else ""
        listening = AgentListening(
            **where, context_id=self._context_id, agent=self._agent, inbox=topic, waiting=waiting
        )
        runtime.bus.publish(listening)
        runtime.bus.publish(RunWaiting(**where, waiting=waiting, why=WAITS if waiting else ""))
        node = runtime.live.node_of(meta) if runtime.live is not None else None
        if node is not None:
            node.does(NodeState.SLEEPING if waiting else NodeState.WORKING, WAITS if waiting else "")

    async def after_error(self, error: Exception) -> bool:
        """Wait out an error that may pass; False: it ends the agent. Raises CancellationError."""
        if not isinstance(error, KnownError):
            return False
        delay = self._backoff.after(error.code, error.transient if isinstance(error, ModelError) else None)
        if delay is None:
            return False
        told = error if isinstance(error, ModelError) else ModelError(str(error))
        self._recorder.listen(Retrying(self._backoff.errors + 1, delay, told))
        async with Interrupt(self._meta.cancellation):
            await self._runtime.sleep(delay)
        return True
