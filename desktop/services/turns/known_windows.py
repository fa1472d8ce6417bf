"""How much each model takes, as it was last known: right after a start, before the models were listed, and where a
server is away, a long chat is still cut to fit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.models import ModelRef
from desktop.services.turns.agent_choices import State

KEY = "context_windows"
MAXIMUM = 200
Ask = Callable[[ModelRef], int | None]
Spawn = Callable[[Coroutine[Any, Any, None], str], object]
_log = logging.getLogger(__name__)


class KnownWindows:
    """Called with a model: its window in tokens as ``ask`` tells it, else as it was last told, or None. ``spawn``
    starts an owned task. Used on the loop."""

    def __init__(self, state: State, ask: Ask, spawn: Spawn) -> None:
        self._state, self._ask, self._spawn = state, ask, spawn
        self._kept: dict[str, int] = {}

    @classmethod
    async def opened(cls, state: State, ask: Ask, spawn: Spawn) -> KnownWindows:
        """With what was known before. Raises what the store raises."""
        made = cls(state, ask, spawn)
        kept = await state.get(key=KEY, default={})
        if isinstance(kept, Mapping):
            made._kept = {str(ref): size for ref, size in kept.items() if type(size) is int and size > 0}
        return made

    def __call__(self, ref: ModelRef) -> int | None:
        """The window of one model."""
        told, key = self._ask(ref), str(ref)
        if told is None:
            return self._kept.get(key)
        if self._kept.get(key) != told:
            self._kept.pop(key, None)
            self._kept[key] = told
            for oldest in list(self._kept)[: max(0, len(self._kept) - MAXIMUM)]:
                del self._kept[oldest]
            with suppress(RuntimeError):  # the app closes
                self._spawn(self._keep(dict(self._kept)), "keep what models take")
        return told

    async def _keep(self, kept: Mapping[str, int]) -> None:
        try:
            await self._state.put(key=KEY, value=kept)
        except KnownError as error:  # a full disk costs this, not the run
            _log.info("what models take is not kept: %s", error)
