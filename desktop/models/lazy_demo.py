"""The demo model, whose texts and roles are imported in a thread with its first request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from desktop.domain.loading.lazy import lazy_module, load
from desktop.domain.models import ModelRequest, StreamItem
from desktop.domain.runs.meta import RunMeta

if TYPE_CHECKING:
    from desktop.models import demo as models_demo
    from desktop.models.demo import DemoModel
else:
    models_demo = lazy_module("desktop.models.demo")


class LazyDemo:
    """A stand-in for ``DemoModel`` that imports it at the first request. Implements ``ModelClient``; ``pace_s`` None:
    the demo's own pace."""

    def __init__(self, pace_s: float | None = None) -> None:
        self._options = {} if pace_s is None else {"pace_s": pace_s}
        self._model: DemoModel | None = None

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        if self._model is None:
            await asyncio.to_thread(load, models_demo)
            self._model = models_demo.DemoModel(**self._options)
        async with aclosing(self._model.stream(request, meta)) as items:
            async for item in items:
                yield item
