"""Opens a stream of a server that is asked directly. What is needed for it is loaded in a thread, once."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from desktop.domain.loading.lazy import lazy_module
from desktop.domain.text.scrub import scrub
from desktop.workers.inside import CallError
from desktop.workers.model_host.direct import request
from desktop.workers.model_host.failures import refused

if TYPE_CHECKING:
    from desktop.workers.model_host.direct import stream, web
else:
    stream = lazy_module("desktop.workers.model_host.direct.stream")
    web = lazy_module("desktop.workers.model_host.direct.web")

SILENCE_S = 600.0
"""How long nothing may come, where nobody says how long an answer may take."""


class DirectServers:
    """All of them: they share their connections."""

    def __init__(self) -> None:
        self._web: web.Web | None = None
        self._loading: asyncio.Future[None] | None = None

    def load(self) -> None:
        """Begin to load what requests need."""
        if self._loading is None:
            self._loading = asyncio.get_running_loop().run_in_executor(None, _load)

    @property
    def begun(self) -> bool:
        """True as soon as it is being loaded, and ever after."""
        return self._loading is not None

    async def open(self, params: Mapping[str, Any], made: Mapping[str, Any]) -> stream.DirectStream:
        """Ask. ``made`` is what the library would be called with. Raises CallError and AnswerRefused."""
        self.load()
        assert self._loading is not None
        await asyncio.shield(self._loading)
        if self._web is None:
            self._web = web.Web()
        body = json.dumps(request.body(params, made), ensure_ascii=False).encode("utf-8", "replace")
        limited = params.get("deadline_s") or params.get("idle_s")  # which who asks holds it to
        try:
            answer = await self._web.post(
                request.address(params), request.headers(params), body, None if limited else SILENCE_S
            )
        except TimeoutError:
            raise CallError("model.too_slow", "", {"limit": "deadline"}) from None
        except web.LOST as lost:
            raise _unreachable(lost, params) from None
        if answer.status >= 400:
            try:
                raise refused(answer.status, answer.headers, await answer.text(), _secrets(params))
            finally:
                answer.close()
        return stream.DirectStream(answer, str(params["model"]).partition("/")[2], _secrets(params))

    async def forget(self) -> None:
        """Close idle connections."""
        if self._web is not None:
            await self._web.forget()


def _load() -> None:
    importlib.import_module(stream.__name__)


def _secrets(params: Mapping[str, Any]) -> tuple[str, ...]:
    return (str(params.get("key") or ""), *map(str, (params.get("more") or {}).values()))


def _unreachable(lost: BaseException, params: Mapping[str, Any]) -> CallError:
    said = scrub(str(lost) or type(lost).__name__, _secrets(params), limit=400)
    return CallError("model.unreachable", said, {"detail": said})
