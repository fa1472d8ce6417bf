"""Writes a run into the thread as it happens, and tells the bus: one message a round, one a tool result."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from desktop.agents.loop.events import LoopEvent, Retrying
from desktop.domain.approval.permission import NOBODY_ANSWERED
from desktop.domain.definitions import SideName
from desktop.domain.errors import ModelRateLimited, NotFound
from desktop.domain.ids import new_id
from desktop.domain.messages import (
    Block,
    ChatMessage,
    NoticeBlock,
    ReasoningBlock,
    StopReason,
    TextBlock,
    ToolResultBlock,
    Usage,
    apart,
    thinking_facts,
)
from desktop.domain.models import ReasoningDelta, TextDelta, ToolCallProgress
from desktop.domain.runs.events import (
    Event,
    MessageClosed,
    MessageOpened,
    ReasoningArrived,
    RetryScheduled,
    TextArrived,
    ToolCallFinished,
    ToolCallStarted,
    ToolCallWriting,
    UserMessageDelivered,
)
from desktop.domain.threads import MessageRecord, MessageStatus, QueuedRecord
from desktop.store import OpenMessage, Store
from desktop.supervision.budgets import BudgetTracker

_log = logging.getLogger(__name__)
_WHOLE = ("end", "tool_calls")


class RunRecorder:
    """The loop's Recorder and listener for one run, or one side turn of it: from ``first`` to ``leaf``. ``usage`` and
    the thread count what the agents below it used, too: ``below`` is what these consume from.

    An answer that is not whole stays open until ``conclude``, so that the notice of what happened joins it. What the
    store cannot take (disk full) is raised to the loop, which ends; partial text is written by the store's own timer.
    While the app is ``closing``, a call of a whole answer that was cut off gets no result: it is gone on with later. So
    is one that nobody had answered when the run was ``stopped``, with those after it: a person is asked again.
    """

    def __init__(
        self,
        store: Store,
        publish: Callable[[Event], None],
        *,
        thread_id: str,
        run_id: str,
        parent_id: str,
        author: str,
        model: str,
        side: SideName = "a",
        first: str = "",
        closing: Callable[[], bool] = lambda: False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._closing = closing
        self._stopped = stopped
        self._asked_again = False
        self._whole = True
        self._store = store
        self._publish = publish
        self._thread_id = thread_id
        self.run_id = run_id
        self._author = author
        self.model = model
        self._side: SideName = side
        self._open: OpenMessage | None = None
        self._pending: ChatMessage | None = None
        self._amended: tuple[TextBlock | ReasoningBlock, ...] | None = None
        self._round = 0
        self._started = 0.0
        self.leaf = parent_id
        self.first = first
        self.usage = Usage(cost_usd=0.0)
        self.below: BudgetTracker | None = None
        self._charged = Usage(cost_usd=0.0)
        self.result_ids: dict[str, str] = {}
        self.message_id = ""
        self.said = ""

    # -- the loop's recorder ------------------------------------------------------------------------------------------

    async def round_started(self, number: int) -> None:
        """The message exists, empty, before the model is asked."""
        self._round = number
        await self._close()  # an answer without a word, after which the agent goes on all the same
        await self._begin()

    async def message_finished(self, message: ChatMessage) -> str:
        """Commit a whole answer; keep one that is not for ``conclude``. Its id."""
        if message.usage is not None:
            self.usage = self.usage.plus(message.usage)
        self.said = self.said or message.text
        self._whole = message.stop_reason in _WHOLE
        if self._open is None:
            self._round += 1
            await self._begin()
            self.listen(TextDelta(message.text))
        self._amend(message)
        self._pending = message
        if message.tool_calls or (texts(message) and message.stop_reason in _WHOLE):
            await self._close()
        return self.message_id

    def _amend(self, message: ChatMessage) -> None:
        """What a chat-level layer gave in the place of the model, or made of its words, is what was said (R-MW-9)."""
        said = tuple(block for block in message.blocks if isinstance(block, TextBlock | ReasoningBlock))
        if self._open is None:
            return
        if not self._open.begun:
            for block in (one for one in said if one.text):
                self.listen((TextDelta if isinstance(block, TextBlock) else ReasoningDelta)(block.text))
        if self._open.amend(said):
            self._amended = said

    async def blocks_added(self, blocks: Sequence[Block]) -> None:
        """More of the message that was stored last: a further call of its round, or what was said after its calls."""
        await self._store.messages.add_blocks(message_id=self.message_id, blocks=blocks)

    async def results_finished(self, results: Sequence[ToolResultBlock], *, executed: bool) -> list[str]:
        """Store results below the message that asked; those that were not executed together, with their events. The
        id of each."""
        if self._pending is not None:
            await self._close()
        left = [self._left_open(result) for result in results]
        if any(left):
            kept = [result for result, is_left in zip(results, left, strict=True) if not is_left]
            ids = iter(await self._stored(kept, executed=executed) if kept else ())
            return ["" if is_left else next(ids) for is_left in left]
        return await self._stored(results, executed=executed)

    def _left_open(self, result: ToolResultBlock) -> bool:
        """Whether this call gets no result, so that who goes on makes it."""
        if not self._whole or not _cut_off(result):
            return False
        self._asked_again |= self._stopped() and result.facts.get("by") in NOBODY_ANSWERED
        return self._closing() or self._asked_again

    async def _stored(self, results: Sequence[ToolResultBlock], *, executed: bool) -> list[str]:
        if executed:
            stored = [self.result_ids.pop(result.call_id, "") or new_id() for result in results]
            for result, message_id in zip(results, stored, strict=True):
                await self._add("tool", apart((result,)), message_id)
            await self._charge_below()
            return stored
        message_id = new_id()
        await self._add("tool", apart(results), message_id)
        for count, result in enumerate(results, 1):
            self._announce(result, message_id)
            if count % 100 == 0:
                await asyncio.sleep(0)
        return [message_id] * len(results)

    def listen(self, event: LoopEvent) -> None:
        """Listen to the loop: deltas go into the open message and onto the bus."""
        if self._open is None:
            return
        if isinstance(event, TextDelta):
            self._open.add_text(event.text)
            self._publish(TextArrived(**self._where, text=event.text))
        elif isinstance(event, ReasoningDelta):
            self._open.add_reasoning(event.text)
            self._publish(ReasoningArrived(**self._where, text=event.text))
        elif isinstance(event, ToolCallProgress):
            self._publish(
                ToolCallWriting(**self._where, index=event.index, tool=event.tool[:64], characters=event.characters)
            )
        elif isinstance(event, Retrying):
            self._retrying(event)

    async def steered(self, waiting: QueuedRecord, text: str, blocks: Sequence[Block]) -> ChatMessage | None:
        """A message that waited becomes part of the run; None when it was taken back meanwhile."""
        own = (TextBlock(text),) if text else ()
        try:
            return await self._heard((*own, *blocks), waiting.queue_id)
        except NotFound:
            return None

    async def posted(self, text: str, queue_id: str) -> ChatMessage:
        """A message that came to the agent's inbox, from no person, becomes part of the run, once. It keeps its id,
        by which it is known when it is posted once more."""
        return await self._heard((TextBlock(text),), queue_id, queue_id)

    async def _heard(self, blocks: tuple[Block, ...], queue_id: str = "", message_id: str = "") -> ChatMessage:
        await self._close()
        record = MessageRecord(
            message_id or new_id(), self._thread_id, self.leaf, "user", blocks, time.time(), run_id=self.run_id
        )
        await self._store.messages.add(record=record, from_queue=queue_id)
        self.leaf = record.message_id
        where = {"thread_id": self._thread_id, "run_id": self.run_id}
        self._publish(UserMessageDelivered(**where, queue_id=queue_id, message_id=record.message_id))
        return ChatMessage("user", record.blocks, source_id=record.message_id)

    async def spent(self, usage: Usage) -> None:
        """What was asked of a model beside the answers, as a summary, counts for run and thread."""
        self.usage = self.usage.plus(usage)
        await self._store.threads.add_usage(thread_id=self._thread_id, usage=usage)

    # -- the end ------------------------------------------------------------------------------------------------------

    async def conclude(self, notices: Sequence[NoticeBlock], *, interrupted: bool = False) -> None:
        """Close what is open, with what there is to say; without an open message the notice becomes one."""
        await self._charge_below()
        if self._open is None and notices:
            await self._begin()
        if self._open is not None:
            await self._close(notices, "interrupted" if interrupted else "complete")

    @property
    def unanswered(self) -> ChatMessage | None:
        """The last message while it waits for ``conclude``."""
        return self._pending

    # -- inside -------------------------------------------------------------------------------------------------------

    @property
    def _where(self) -> dict[str, str]:
        return {"thread_id": self._thread_id, "run_id": self.run_id, "message_id": self.message_id}

    def _record(self, role: str, blocks: Sequence[Block], message_id: str, status: MessageStatus) -> MessageRecord:
        return MessageRecord(
            message_id=message_id,
            thread_id=self._thread_id,
            parent_id=self.leaf,
            role=role,  # type: ignore[arg-type]
            blocks=tuple(blocks),
            created_at=time.time(),
            status=status,
            side=self._side,
            author=self._author,
            model=self.model,
            run_id=self.run_id,
            round_number=self._round,
        )

    async def _begin(self) -> None:
        self.message_id = new_id()
        self._started = time.perf_counter()
        parent = self.leaf
        record = self._record("assistant", (), self.message_id, "open")
        self._open = await self._store.messages.open(record=record, on_problem=self._not_written)
        self.leaf = self.message_id
        self.first = self.first or self.message_id
        self._publish(
            MessageOpened(
                **self._where, parent_id=parent, side=self._side, author=self._author, round_number=self._round
            )
        )

    async def _close(self, notices: Sequence[NoticeBlock] = (), status: MessageStatus = "complete") -> None:
        writer, message = self._open, self._pending
        if writer is None:
            return
        calls = message.tool_calls if message is not None else ()
        if message is not None:  # what a layer has to say of it
            notices = (*(block for block in message.blocks if isinstance(block, NoticeBlock)), *notices)
        reason: StopReason = (message.stop_reason if message is not None else None) or "error"
        usage = message.usage if message is not None else None
        elapsed = int((time.perf_counter() - self._started) * 1000)
        await writer.close(
            stop_reason=reason,
            status=status,
            blocks=(*calls, *notices),
            usage=usage,
            elapsed_ms=elapsed,
            model=self.model,
        )
        amended, self._amended = self._amended, None
        self._open = self._pending = None
        if usage is not None:
            await self._store.threads.add_usage(thread_id=self._thread_id, usage=usage)
        self._publish(
            MessageClosed(
                **self._where,
                stop_reason=reason,
                tool_calls=calls,
                usage=usage,
                elapsed_ms=elapsed,
                notices=tuple(notices),
                amended=amended,
                thinking=thinking_facts(message.blocks, usage) if message is not None else None,
            )
        )

    async def _charge_below(self) -> None:
        """What agents that were called used since the last time."""
        total = self.below.total if self.below is not None else self._charged
        if total == self._charged:
            return
        fresh = _difference(total, self._charged)
        self._charged = total
        self.usage = self.usage.plus(fresh)
        await self._store.threads.add_usage(thread_id=self._thread_id, usage=fresh)

    async def _add(self, role: str, blocks: Sequence[Block], message_id: str) -> None:
        await self._store.messages.add(record=self._record(role, blocks, message_id, "complete"))
        self.leaf = message_id

    def _announce(self, result: ToolResultBlock, message_id: str) -> None:
        """A call that never entered the pipeline, or did before Assent was started, still has its card."""
        self._publish(
            ToolCallStarted(**self._where, call_id=result.call_id, tool=result.tool, arguments={}, category="")
        )
        self._publish(
            ToolCallFinished(
                **self._where,
                call_id=result.call_id,
                tool=result.tool,
                state=str(result.facts["state"]),
                text=result.text,
                is_error=result.is_error,
                code=str(result.facts.get("code", "")),
                elapsed_ms=0,
                facts=result.facts,
                result_message_id=message_id,
                media=result.media,
            )
        )

    def _retrying(self, event: Retrying) -> None:
        detail = str(event.error)
        if isinstance(event.error, ModelRateLimited) and event.error.retry_after:
            detail = f"{detail} The provider asks for {event.error.retry_after:g} s."
        self._publish(
            RetryScheduled(
                thread_id=self._thread_id,
                run_id=self.run_id,
                attempt=event.attempt - 1,
                delay_s=event.delay_s,
                code=event.error.code,
                detail=detail,
            )
        )

    def _not_written(self, problem: BaseException) -> None:
        _log.info("a part of message %s waits to be written: %s", self.message_id, type(problem).__name__)


def _difference(now: Usage, before: Usage) -> Usage:
    return Usage(
        now.input_tokens - before.input_tokens,
        now.output_tokens - before.output_tokens,
        now.reasoning_tokens - before.reasoning_tokens,
        now.cached_tokens - before.cached_tokens,
        None if now.cost_usd is None else now.cost_usd - (before.cost_usd or 0.0),
        now.written_tokens - before.written_tokens,
        None if now.saved_usd is None else now.saved_usd - (before.saved_usd or 0.0),
    )


def _cut_off(result: ToolResultBlock) -> bool:
    return result.facts.get("state") == "aborted"


def texts(message: ChatMessage) -> bool:
    """Whether a message holds anything a person can read."""
    return any(isinstance(block, TextBlock) and block.text.strip() for block in message.blocks)
