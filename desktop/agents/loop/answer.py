"""One answer: the stream of a request put together into an assistant message, with retries before its first word."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import field, replace
from typing import Any

from desktop.agents.loop.events import LoopListener, Retrying
from desktop.agents.loop.retry import RetryPolicy
from desktop.domain.errors import CancellationError, LimitReached, ModelError, ModelStreamBroken
from desktop.domain.ids import short_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import (
    Block,
    ChatMessage,
    NoticeBlock,
    ReasoningBlock,
    StopReason,
    TextBlock,
    ToolCallBlock,
)
from desktop.domain.models import (
    AnsweredInstead,
    Finished,
    ModelAnswer,
    ModelClient,
    ModelRequest,
    ReasoningDelta,
    ReasoningSealed,
    SettingsLeftOut,
    StreamItem,
    TextDelta,
)
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import Rest
from desktop.domain.runs.scopes import Interrupt

MAX_CHARACTERS = 1_000_000
YIELD_S = 0.004
LEFT_OUT, INSTEAD = "model.settings_left_out", "model.answered_instead"
"""Codes of notices."""
_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")

Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class _PartOfAnswer:
    """A text or a thinking as it comes: its pieces, and of thinking its seal and the seconds that it took."""

    thought: bool
    pieces: list[str] = field(default_factory=list)
    sealed: str = ""
    seconds: float = 0.0

    def block(self, maker: str) -> Block | None:
        text = "".join(self.pieces)
        if not self.thought:
            return TextBlock(text) if text else None
        return ReasoningBlock(text, self.sealed, maker, self.seconds) if text or self.sealed else None


class Assembly:
    """Collects a stream's deltas in order; text stays whatever happens (R-LOOP-10). Thinking ends with its seal, or
    where anything else begins; how long it took is measured here (R-MOD-4)."""

    def __init__(self, request: ModelRequest, clock: Callable[[], float] = time.monotonic) -> None:
        self._model = str(request.model)
        self._parts: list[_PartOfAnswer] = []
        self._notices: list[Block] = []
        self._clock = clock
        self._since = clock()
        self.characters = 0
        self.finished: Finished | None = None

    def add(self, item: StreamItem) -> None:
        """Add one item of the stream."""
        if isinstance(item, (TextDelta, ReasoningDelta)):
            self._grow(item.text, thought=isinstance(item, ReasoningDelta))
        elif isinstance(item, ReasoningSealed):
            self._seal(item)
        elif isinstance(item, SettingsLeftOut):
            self._notices.append(NoticeBlock(left_out_words(self._model, item), LEFT_OUT))
        elif isinstance(item, AnsweredInstead):
            self._model = str(item.by)
            self._notices.append(NoticeBlock(f"{item.asked} {item.why}, so {item.by} answers.", INSTEAD))
        else:
            self._thought_over()
        if isinstance(item, Finished):
            self.finished = item

    def _grow(self, text: str, *, thought: bool) -> None:
        last = self._parts[-1] if self._parts else None
        if last is None or last.thought != thought or last.sealed:
            last = self._begin(thought=thought)
        last.pieces.append(text)
        self.characters += len(text)

    def _seal(self, item: ReasoningSealed) -> None:
        last = self._parts[-1] if self._parts else None
        if item.alone or last is None or not last.thought or last.sealed:
            last = self._begin(thought=True)
        last.sealed = item.sealed
        self.characters += len(item.sealed)
        self._thought_over()

    def _begin(self, *, thought: bool) -> _PartOfAnswer:
        self._thought_over()
        if self._parts:
            self._since = self._clock()
        part = _PartOfAnswer(thought)
        self._parts.append(part)
        return part

    def _thought_over(self) -> None:
        """The thinking before what comes now has taken its time: from when the model was asked, or from its first
        piece where something else had come before."""
        last = self._parts[-1] if self._parts else None
        if last is not None and last.thought and not last.seconds:
            last.seconds = round(self._clock() - self._since, 1)

    def message(self, stop_reason: StopReason) -> ChatMessage:
        """What has come, as a message; calls only when the stream was whole."""
        self._thought_over()
        end = self.finished
        maker = end.maker if end is not None else ""
        said = [block for part in self._parts if (block := part.block(maker)) is not None]
        blocks = [*self._notices, *said]
        if end is not None:
            blocks.extend(_usable(end.tool_calls))
        model = (end.model if end else "") or self._model
        return ChatMessage("assistant", tuple(blocks), stop_reason, end.usage if end else None, model)


def left_out_words(model: str, left: SettingsLeftOut) -> str:
    """What a person reads of settings that a model does not take."""
    return f"{model} does not take these settings, so they were left out: {', '.join(left.settings)}."


def _usable(calls: Iterable[ToolCallBlock]) -> list[ToolCallBlock]:
    """Calls with ids that are there and differ, and names that a provider takes back in the next request."""
    seen: set[str] = set()
    usable = []
    for call in calls:
        call_id = call.call_id if call.call_id and call.call_id not in seen else f"call_{short_id()}{len(seen)}"
        seen.add(call_id)
        name = _NOT_A_NAME.sub("_", call.tool)[:64] or "unnamed"
        if (call_id, name) != (call.call_id, call.tool):
            call = replace(call, call_id=call_id, tool=name)
        usable.append(call)
    return usable


class Answerer:
    """Asks a model once, retries included. One instance serves one loop."""

    def __init__(
        self,
        client: ModelClient,
        *,
        retry: RetryPolicy | None = None,
        max_characters: int = MAX_CHARACTERS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._client = client
        self._retry = retry or RetryPolicy()
        self._max = max_characters
        self._sleep = sleep

    async def ask(
        self, request: ModelRequest, meta: RunMeta, tell: LoopListener, rest: Rest | None = None
    ) -> ModelAnswer:
        """Ask a model once, with retries, and return its answer.

        Failures and aborts are in it, with the text that had come; what leaves this is CancelledError, and what
        ``rest`` raises where another attempt is not allowed any more (BudgetExhausted). A request is repeated only
        while nothing of its answer has been shown; ``rest`` is how it waits for that.
        """
        failures = 0
        while True:
            build = Assembly(request)
            try:
                await self._stream(request, meta, tell, build)
                return _whole(build)
            except CancellationError as error:
                return ModelAnswer(build.message("aborted"), error)
            except LimitReached as error:
                return ModelAnswer(build.message("limit"), error)
            except ModelError as error:
                failures += 1
                delay = self._retry.delay(error, failures) if not build.characters else None
                if delay is None:
                    cut = isinstance(error, ModelStreamBroken)
                    return ModelAnswer(build.message("cut" if cut else "error"), error)
                tell(Retrying(failures + 1, delay, error))
                if not await self._wait(delay, meta, rest):
                    return ModelAnswer(
                        build.message("aborted"), CancellationError(meta.cancellation.reason or "deadline")
                    )
            except Exception as error:  # the boundary of model clients: their bugs end a round, not the app
                return ModelAnswer(build.message("error"), error)

    async def _wait(self, delay: float, meta: RunMeta, rest: Rest | None) -> bool:
        try:
            async with Interrupt(meta.cancellation):
                await (self._sleep(delay) if rest is None else rest(lambda: self._sleep(delay)))
        except CancellationError:
            return False
        return True

    async def _stream(self, request: ModelRequest, meta: RunMeta, tell: LoopListener, build: Assembly) -> None:
        """Forward and collect until ``Finished`` (R-LOOP-5); a stream without it is cut."""
        yielded = time.perf_counter()
        async with Interrupt(meta.cancellation):
            async with aclosing(_closable(self._client.stream(request, meta))) as stream:
                async for item in stream:
                    build.add(item)
                    tell(item)
                    if build.finished is not None:
                        break
                    if build.characters > self._max:
                        raise self._too_long()
                    if time.perf_counter() - yielded > YIELD_S:
                        await asyncio.sleep(0)
                        yielded = time.perf_counter()
        if build.finished is None:
            raise ModelStreamBroken("The answer broke off before its end.", next_step="Continue it, or try again.")

    def _too_long(self) -> LimitReached:
        limit = Limit("max_answer_characters", self._max, "the app")
        return LimitReached(
            f"The answer did not end by itself and was stopped after {self._max:,} characters.",
            limit=str(limit),
            next_step="Continue it, or ask for a shorter answer.",
            code="limit.answer_length",
        )


def _whole(build: Assembly) -> ModelAnswer:
    reason: StopReason = build.finished.stop_reason if build.finished else "cut"
    if reason == "aborted":
        return ModelAnswer(build.message("aborted"), CancellationError("aborted"))
    if reason in ("error", "cut"):
        error = ModelStreamBroken("The answer broke off before its end.", next_step="Continue it, or try again.")
        return ModelAnswer(build.message("cut"), error)
    return ModelAnswer(build.message(reason))


def _closable(stream: AsyncIterator[StreamItem]) -> Any:
    """``stream`` as something with ``aclose``; a plain iterator has nothing to close."""
    return stream if hasattr(stream, "aclose") else _PlainStream(stream)


class _PlainStream:
    def __init__(self, stream: AsyncIterator[StreamItem]) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[StreamItem]:
        return self._stream.__aiter__()

    async def aclose(self) -> None:
        """Does nothing: there is nothing to close."""
