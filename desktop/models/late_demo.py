"""The demo model, whose texts and roles are imported in a thread with its first request."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from desktop.domain.cancellation import RunMeta
from desktop.domain.models import ModelRequest, StreamItem

if TYPE_CHECKING:
    from desktop.models.demo import DemoModel

DEMO_MODEL = "desktop.models.demo"


class LateDemo:
    """As ``DemoModel``, which does the work. Implements ``ModelClient``; ``pace_s`` None: its own."""

    def __init__(self, pace_s: float | None = None) -> None:
        self._options = {} if pace_s is None else {"pace_s": pace_s}
        self._model: DemoModel | None = None

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        if self._model is None:
            module = await asyncio.to_thread(importlib.import_module, DEMO_MODEL)
            self._model = module.DemoModel(**self._options)
        async with aclosing(self._model.stream(request, meta)) as items:
            async for item in items:
                yield item
