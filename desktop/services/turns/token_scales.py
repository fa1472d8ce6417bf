"""How many of a model's tokens an estimated one is: learned from what its server reported, and kept (R-MOD-9).

Four characters are a token of English prose; of code, of tables and of most other languages they are more. A window
that is filled by the raw estimate is then refused by the server, or has room that nobody uses.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing, suppress
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.estimates import estimate_request, has_media
from desktop.domain.models import AnsweredInstead, Finished, ModelClient, ModelRef, ModelRequest, StreamItem
from desktop.domain.runs.meta import RunMeta
from desktop.services.turns.agent_choices import State

KEY = "token_scales"
MAXIMUM = 200
LOWEST, HIGHEST = 0.7, 6.0
"""What is believed. Servers that keep a prompt report only what was new in it: such a report says nothing."""
SMALLEST = 200
"""Estimated tokens of a request that tells anything: a model's own frame is most of a shorter one."""
UP, DOWN = 0.5, 0.2
"""How far one report moves the scale. A request that is too long fails, one that is too short does not."""
WORTH_KEEPING = 0.02
Spawn = Callable[[Coroutine[Any, Any, None], str], object]
_log = logging.getLogger(__name__)


class TokenScales:
    """Called with a model: its tokens for each estimated one, 1.0 while nothing is known. ``spawn`` starts an owned
    task. Used on the loop."""

    def __init__(self, state: State, spawn: Spawn) -> None:
        self._state, self._spawn = state, spawn
        self._scales: dict[str, float] = {}
        self._kept: dict[str, float] = {}

    @classmethod
    async def opened(cls, state: State, spawn: Spawn) -> TokenScales:
        """With what was learned before. Raises what the store raises."""
        made = cls(state, spawn)
        kept = await state.get(key=KEY, default={})
        if isinstance(kept, Mapping):
            made._scales = {str(ref): float(scale) for ref, scale in kept.items() if _is_believed(scale)}
            made._kept = dict(made._scales)
        return made

    def __call__(self, ref: ModelRef) -> float:
        """The scale of one model."""
        return self._scales.get(str(ref), 1.0)

    def learn(self, ref: ModelRef, estimated: int, reported: int) -> None:
        """A request that was estimated at so many tokens had ``reported`` ones."""
        if estimated < SMALLEST or not LOWEST <= reported / estimated <= HIGHEST:
            return
        key, ratio = str(ref), reported / estimated
        before = self._scales.pop(key, None)
        scale = ratio if before is None else before + (ratio - before) * (UP if ratio > before else DOWN)
        self._scales[key] = scale
        for oldest in list(self._scales)[: max(0, len(self._scales) - MAXIMUM)]:
            del self._scales[oldest]
        if abs(scale - self._kept.get(key, 0.0)) > WORTH_KEEPING:
            self._kept = dict(self._scales)
            with suppress(RuntimeError):  # the app closes
                self._spawn(self._keep(self._kept), "keep how models count")

    def learning(self, client: ModelClient) -> ModelClient:
        """The same client; what its servers report is learned."""
        return _LearningClient(client, self)

    async def _keep(self, kept: Mapping[str, float]) -> None:
        try:
            await self._state.put(key=KEY, value=kept)
        except KnownError as error:  # a full disk costs this, not the run
            _log.info("how models count is not kept: %s", error)


class _LearningClient:
    """Implements ``ModelClient`` around another one."""

    def __init__(self, client: ModelClient, scales: TokenScales) -> None:
        self._client, self._scales = client, scales

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        """The same items."""
        items: Any = self._client.stream(request, meta)
        model = request.model
        async with aclosing(items):
            async for item in items:
                if isinstance(item, AnsweredInstead):
                    model = item.by
                if isinstance(item, Finished) and item.usage is not None and not has_media(request):
                    self._scales.learn(model, estimate_request(request), item.usage.input_tokens)
                yield item


def _is_believed(scale: object) -> bool:
    return isinstance(scale, (int, float)) and LOWEST <= scale <= HIGHEST
