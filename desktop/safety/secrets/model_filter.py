"""What models say, without the secrets that this computer keeps (R-SEC-1, R-SEC-5).

A model, or the server that speaks for it, may repeat a key that it was sent. It is masked where the stream enters the
app, so that everything behind it, the screen, the database, the search, titles, exports, calls and the next request,
only ever has the masked text, and what a person is shown is what runs.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.messages import ToolCallBlock
from desktop.domain.models import (
    Finished,
    ModelClient,
    ModelRequest,
    ReasoningDelta,
    ReasoningSealed,
    StreamItem,
    TextDelta,
    ToolCallProgress,
)
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import Redactor


class MaskedModel:
    """Implements ``ModelClient`` around another one."""

    def __init__(self, client: ModelClient, redactor: Redactor) -> None:
        self._client = client
        self._redactor = redactor

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        """The same items, known secrets masked, also where they come in several pieces."""
        pieces = _AnswerPieces(self._redactor)
        items: Any = self._client.stream(request, meta)
        try:
            async with aclosing(items):
                async for item in items:
                    for masked in pieces.take(item):
                        yield masked
        except AssentError as error:  # the stream is over; what was held back still belongs to what was said
            for rest in pieces.rest():
                yield rest
            _clean(error, self._redactor)
            raise


def _clean(error: AssentError, redactor: Redactor) -> None:
    """What a server says of a failure may hold the key that it was sent, in any writing (R-SEC-6)."""
    error.args = tuple(redactor.mask_known(part) if isinstance(part, str) else part for part in error.args)
    if isinstance(error, KnownError):
        error.next_step = redactor.mask_known(error.next_step)


class _AnswerPieces:
    """One answer on its way: text and thinking come in pieces, each kind by turns. Thinking in which a key was masked
    goes back to nobody: its maker would refuse what was altered, and what it seals may hold the key (R-MOD-4)."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._masker = redactor.masker()
        self._kind: type[TextDelta] | type[ReasoningDelta] = TextDelta
        self._thought: tuple[list[str], list[str]] = ([], [])
        self._altered = False

    def take(self, item: StreamItem) -> Iterator[StreamItem]:
        if isinstance(item, (TextDelta, ReasoningDelta)):
            if type(item) is not self._kind:
                yield from self.rest()
                self._kind = type(item)
            if self._kind is ReasoningDelta:
                self._thought[0].append(item.text)
            if text := self._masker.feed(item.text):
                yield self._given(text)
        elif isinstance(item, ReasoningSealed):
            yield from self.rest()
            self._altered |= self._redactor.mask_known(item.sealed) != item.sealed
            if not self._altered:
                yield item
        elif isinstance(item, Finished):
            yield from self.rest()
            yield self._finished(item)
        elif isinstance(item, ToolCallProgress):
            yield replace(item, tool=self._redactor.mask_known(item.tool))
        else:
            yield item

    def rest(self) -> Iterator[StreamItem]:
        """The pieces that were held back, at the end of the stream or of a piece of thinking."""
        if text := self._masker.flush():
            yield self._given(text)
        came, given = self._thought
        self._altered |= "".join(came) != "".join(given)
        self._thought = ([], [])

    def _given(self, text: str) -> TextDelta | ReasoningDelta:
        if self._kind is ReasoningDelta:
            self._thought[1].append(text)
        return self._kind(text)

    def _finished(self, item: Finished) -> Finished:
        calls = tuple(self._call(call) for call in item.tool_calls)
        maker = "" if self._altered else item.maker
        return replace(item, tool_calls=calls, model=self._redactor.mask_known(item.model), maker=maker)

    def _call(self, call: ToolCallBlock) -> ToolCallBlock:
        mask = self._redactor.mask_known
        return replace(
            call,
            call_id=mask(call.call_id),
            tool=mask(call.tool),
            arguments=self._redactor.mask_data(call.arguments),
            raw=mask(call.raw),
            problem=mask(call.problem),
        )
