"""``ConversationService``: send, stop, edit, regenerate, continue; one run a thread (R-SES-2, R-SES-19).

Async, without Qt. Events come over the bus; what a call returns is only what its caller cannot learn there.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from desktop.agents.skill.persistence import inbox_of, thread_context
from desktop.domain.errors import KnownError, NotFound
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy import lazy_module, load
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block, NoticeBlock, TextBlock, Usage
from desktop.domain.runs.cancellation import STOPPED
from desktop.domain.runs.events import UserMessageQueued
from desktop.domain.threads import MessageRecord, QueuedRecord, ThreadRecord
from desktop.recovery.resume import only_tells, unfinished_above
from desktop.services.chats.active_run import ActiveRun, RunPlaces
from desktop.services.chats.model_titles import ModelTitles
from desktop.services.definitions.book import AgentBook
from desktop.services.threads.masking import masked
from desktop.services.threads.measures import ContextMeasures
from desktop.services.threads.service import ThreadService
from desktop.services.threads.titles import title_from
from desktop.services.turns.endings import CLOSING, Ending, failed
from desktop.services.turns.run_frame import tell_end
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.unattended import JobTerms
from desktop.supervision.tasks import TaskOwner

if TYPE_CHECKING:
    from desktop.services.chats import run as chats_run
    from desktop.services.chats.run import RunOrder
    from desktop.services.recovery import settling as settling
else:
    chats_run = lazy_module("desktop.services.chats.run")
    settling = lazy_module("desktop.services.recovery.settling")

CLOSE_S = 3.0
_HOLDS_QUEUE = frozenset({"error", "budget", "terminated", "interrupted"})

_TITLE_LOOK = 4_000
"""Characters of a text that its title is made of. A title is seen by others, as in the list of windows: whatever looks
like a key stays out of it (R-SEC-4)."""

_log = logging.getLogger(__name__)
TermsOf = Callable[[MessageRecord], Awaitable[JobTerms | None]]
"""What binds another answer to a message, or the rest of one; None: nothing but what binds each chat."""


async def _no_terms(_question: MessageRecord) -> JobTerms | None:
    return None


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of a message: ``run_id`` and ``message_id`` when a run began with it, else ``queue_id``."""

    run_id: str = ""
    message_id: str = ""
    queue_id: str = ""


class ConversationService(ThreadService):
    """Threads and their runs. ``owner`` holds the tasks of runs; ``close`` ends them all; ``terms_of`` is said by
    whoever has messages sent that no person wrote."""

    def __init__(self, runtime: Runtime, owner: TaskOwner) -> None:
        super().__init__(runtime.store, runtime.bus, runtime.mask)
        self._runtime = runtime
        self._owner = owner
        self._places = RunPlaces()
        self._measures = ContextMeasures(runtime.store, runtime.bus)
        self._titles = ModelTitles(runtime, owner, lambda thread_id: self._changed(thread_id, "title"))
        self.terms_of: TermsOf = _no_terms

    @property
    def agents(self) -> AgentBook:
        """The agents a person may choose."""
        return self._runtime.agents

    # -- runs ---------------------------------------------------------------------------------------------------------

    async def send(self, thread_id: str, text: str, blocks: Sequence[Block] = ()) -> Sent:
        """Store a person's message before anything is sent, or queue it while a run is under way. Messages that a Stop
        holds back stay where they are: this one was said after it."""
        if self._places.get(thread_id) is not None or self._is_listening(thread_id):
            return await self._enqueue(thread_id, text, blocks)
        with self._places.holding(thread_id) as active:
            if await self._queue.ready(thread_id):
                await self._enqueue(thread_id, text, blocks)
                return await self._send_next(active)
            thread = await self.thread(thread_id)
            if thread.deleted_at is not None:  # what an agent's call left, or what was just deleted: it is wanted again
                await self.undo_delete(thread_id)
            if thread.archived:  # a person goes on with it
                await self.archive(thread_id, False)
            return await self._begin(active, text, blocks, await self._answered(thread))

    async def run_job(self, thread_id: str, text: str, terms: JobTerms) -> str:
        """A message that no person sent, answered without one under ``terms`` (R-CRON-1); the run's id."""
        with self._places.holding(thread_id) as active:
            active.terms = terms
            thread = await self.thread(thread_id)
            return (await self._begin(active, text, (), await self._answered(thread))).run_id

    async def edit(self, message_id: str, text: str) -> Sent:
        """The message said differently: a sibling, with the attachments it had, and a run that answers it."""
        record = await self.message(message_id)
        with self._places.holding(record.thread_id) as active:
            kept = [block for block in record.blocks if not isinstance(block, (TextBlock, NoticeBlock))]
            return await self._begin(active, text, kept, record.parent_id)

    async def regenerate(self, message_id: str) -> str:
        """Make another answer beside the one that ``message_id`` belongs to; returns the run's id."""
        question = await self._question_of(await self.message(message_id))
        return await self._answer(question.thread_id, question.message_id, question.message_id)

    async def retry(self, thread_id: str) -> str:
        """Try again what failed: beside the failed message, after everything that succeeded before it. Calls that were
        cut off there are gone on with: they may have been done."""
        leaf = await self._leaf(thread_id)
        left = await unfinished_above(self._store, thread_id, leaf.message_id)
        cut_off = left is not None and bool(left.calls)
        beside = leaf.role == "assistant" and (only_tells(leaf) or not cut_off)
        parent = leaf.parent_id if beside and leaf.parent_id else leaf.message_id
        question = await self._question_of(leaf)
        goes_on = cut_off or only_tells(leaf) or (left is not None and leaf.role == "user")
        return await self._answer(thread_id, parent, question.message_id, nudge=goes_on)

    async def continue_answer(self, ref: str) -> str:
        """Go on with an answer that was interrupted, cut or stopped: below it, in a new message; the run's id.

        ``ref`` is a message's id, or a thread's id for the end of what it shows.
        """
        try:
            leaf = await self._leaf(ref)
        except NotFound:
            leaf = await self.message(await self._end_of(ref))
        question = await self._question_of(leaf)
        return await self._answer(leaf.thread_id, leaf.message_id, question.message_id, nudge=True)

    async def stop(self, thread_id: str, because: str = STOPPED) -> bool:
        """End the thread's run now, or the called agent that works in it; False when there is none. The end comes as an
        event within 100 ms."""
        active = self._places.get(thread_id)
        if active is not None:
            active.token.cancel(because)
            return True
        live = self._runtime.live
        return live is not None and live.cancel_in(thread_id, because)

    async def interrupt(self, thread_id: str) -> bool:
        """The same because whoever waited for it is gone: as at the end of Assent, it can be gone on with."""
        return await self.stop(thread_id, CLOSING)

    async def delete(self, thread_id: str) -> None:
        """Stop its run, then take it out of the list."""
        if await self.stop(thread_id):
            await self.wait(thread_id)
        await super().delete(thread_id)

    async def hand_over(self, thread_id: str, run_id: str, agent: str) -> bool:
        """Give the thread to another agent, which goes on when this run of its own is over (S-AAT-1). False when the
        run is not the thread's; raises Denied when it went round too often for one message."""
        active = self._places.get(thread_id)
        if active is None or active.run_id != run_id:
            return False
        active.give_away()
        await self.set_agent(thread_id, agent)
        return True

    def is_working(self, thread_id: str) -> bool:
        """Whether a run goes on in the thread."""
        return self._places.get(thread_id) is not None

    def running(self) -> tuple[str, ...]:
        """Threads with a run under way."""
        return tuple(active.thread_id for active in self._places.taken())

    async def wait(self, thread_id: str, timeout_s: float = CLOSE_S) -> bool:
        """Wait for the thread's run to end, and for those that it hands the conversation to; False when they have not
        in time."""
        active = self._places.get(thread_id)
        try:
            if active is not None:
                async with asyncio.timeout(timeout_s):
                    await active.whole()
        except TimeoutError:
            return False
        return True

    async def close(self) -> list[str]:
        """Stop all runs as interrupted, so that the next start can go on with them; threads that would not stop."""
        self._places.closing = True
        waiting = self._places.taken()
        for active in waiting:
            active.token.cancel(CLOSING)
        ended = await asyncio.gather(*(self.wait(active.thread_id) for active in waiting))
        await self._owner.close()
        return [active.thread_id for active, done in zip(waiting, ended, strict=True) if not done]

    # -- the queue ----------------------------------------------------------------------------------------------------

    async def release_queue(self, thread_id: str, *, held: bool = True) -> Sent:
        """Send the next that waits after a stop, a failure or a restart; an empty ``Sent`` when nothing does or a run
        is under way. ``held`` False: not what a Stop holds back."""
        if self._places.get(thread_id) is not None:
            return Sent()
        with self._places.holding(thread_id) as active:
            return await self._send_next(active, held=held)

    async def _enqueue(self, thread_id: str, text: str, blocks: Sequence[Block]) -> Sent:
        text, blocks = masked(text, blocks, self._mask)
        record = QueuedRecord(new_id(), thread_id, text, blocks, time.time())
        await self._store.queue.add(record=record)
        active = self._places.get(thread_id)
        run_id = active.run_id if active is not None else ""
        self._bus.publish(UserMessageQueued(thread_id=thread_id, run_id=run_id, queue_id=record.queue_id, text=text))
        if active is None and not self._is_listening(thread_id):
            return await self.release_queue(thread_id, held=False)
        return Sent(queue_id=record.queue_id)

    def _is_listening(self, thread_id: str) -> bool:
        """Whether a persistent agent is at work in the thread, be it one that was called: it takes what waits."""
        return self._runtime.skills.topics.is_heard(inbox_of(thread_context(thread_id)))

    async def _send_next(self, active: ActiveRun, *, held: bool = False) -> Sent:
        queue = self._store.queue.waiting if held else self._queue.ready
        waiting = await queue(thread_id=active.thread_id)
        if not waiting:
            self._places.release(active)
            return Sent()
        thread = await self.thread(active.thread_id)
        first = waiting[0]
        return await self._begin(active, first.text, first.attachments, await self._answered(thread), first.queue_id)

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _begin(
        self, active: ActiveRun, text: str, blocks: Sequence[Block], parent_id: str | None, queue_id: str = ""
    ) -> Sent:
        """Commit the person's message, then start the run that answers it."""
        text, blocks = masked(text, blocks, self._mask)
        own = (TextBlock(text),) if text else ()
        record = MessageRecord(new_id(), active.thread_id, parent_id, "user", (*own, *blocks), time.time())
        await self._store.messages.add(record=record, from_queue=queue_id)
        try:
            await self._entitle(active.thread_id, text)
        except KnownError as error:  # the message is stored: what follows must not say that it is not
            _log.info("the thread stays without a title: %s", error.code)
        await self._launch(active, record.message_id, record.message_id)
        return Sent(active.run_id, record.message_id)

    async def _answer(self, thread_id: str, parent_id: str, user_message_id: str, *, nudge: bool = False) -> str:
        with self._places.holding(thread_id) as active:
            active.terms = await self.terms_of(await self.message(user_message_id))
            await self._launch(active, parent_id, user_message_id, nudge=nudge)
        return active.run_id

    async def _answered(self, thread: ThreadRecord) -> str | None:
        """The end of what is shown, with a result for each call that was cut off there."""
        leaf = thread.active_leaf
        if leaf is None:
            return None
        await asyncio.to_thread(load, settling)
        end = await settling.answer_open_calls(self._store, thread.thread_id, leaf)
        if end != leaf:
            self._changed(thread.thread_id, "results")
        return end

    async def _launch(self, active: ActiveRun, parent_id: str, user_message_id: str, *, nudge: bool = False) -> None:
        await asyncio.to_thread(load, chats_run)  # what runs are made of waits for the first of them
        order = chats_run.RunOrder(
            thread=await self.thread(active.thread_id),
            run_id=active.run_id,
            token=active.token,
            parent_id=parent_id,
            user_message_id=user_message_id,
            nudge=nudge,
            environment=await self.environment(active.thread_id),
            settings=await self.model_settings(active.thread_id),
            terms=active.terms,
            before=active.before,
        )
        self._owner.spawn(self._run(active, order), f"run {active.run_id}")

    async def _run(self, active: ActiveRun, order: RunOrder) -> None:
        execution = chats_run.RunExecution(self._runtime, order)
        ending = Ending("interrupted")
        try:
            ending = await execution.go()
            if ending.reason == "cancelled":
                await self._queue.hold(active.thread_id)
            await self._measures.keep(active.thread_id, execution.recorder.leaf)
            await self._entitle(active.thread_id, execution.recorder.said)
        except Exception as error:  # the boundary of a run: the store refused its end; it is recovered at next start
            _log.error("run %s could not be stored to its end: %s", order.run_id, type(error).__name__)
            ending = failed(error)
        finally:
            if ending.reason == "response" and not self._places.closing:
                active.carry_budget(execution.budget)
            self._places.release(active)
            execution.tell_end(ending)
        if ending.reason == "response" and not self._places.closing:
            self._titles.after(order, execution.recorder.said)
        if active.successor is not None:
            await self._taken_over(active.successor)
        elif ending.reason not in _HOLDS_QUEUE and not self._places.closing:
            await self._go_on(active.thread_id)

    async def _taken_over(self, successor: ActiveRun) -> None:
        """The agent that the thread was given to answers what stands there, with all of its history, under the terms
        and in the budget of the run that gave it: a job stays one (R-CRON-1)."""
        try:
            with self._places.giving_back(successor):
                leaf = await self._leaf(successor.thread_id)
                question = await self._question_of(leaf)
                await self._launch(successor, leaf.message_id, question.message_id)
        except KnownError as error:
            tell_end(self._bus, successor.thread_id, successor.run_id, failed(error), Usage())

    async def _go_on(self, thread_id: str) -> None:
        """Send the next waiting message; a failure leaves it in the queue."""
        try:
            await self.release_queue(thread_id, held=False)
        except KnownError as error:
            _log.info("a waiting message stays queued: %s", error.code)

    async def _entitle(self, thread_id: str, text: str) -> None:
        """A title from the first message, or the first answer to one without words, unless there is one (N-4)."""
        if not text:
            return
        thread = await self.thread(thread_id)
        title = title_from(self._runtime.redact(text[:_TITLE_LOOK])) if thread.titled_by == "none" else ""
        if title and await self._store.threads.rename(thread_id=thread_id, title=title, by_person=False):
            self._changed(thread_id, "title")
