"""Other models, in the order that a person chose, where the one that is asked cannot answer now (R-MOD-7)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from desktop.domain.errors import ModelContextTooLong, ModelError, ModelRateLimited, ModelServerError, ModelUnreachable
from desktop.domain.models import (
    AnsweredInstead,
    Connection,
    HeldToSchemas,
    ModelClient,
    ModelRef,
    ModelRequest,
    SettingsLeftOut,
    StreamItem,
    nothing_holds,
)
from desktop.domain.runs.meta import RunMeta
from desktop.domain.web.nearness import is_local_address
from desktop.models import providers
from desktop.models.router import Connections

AWAY = (ModelUnreachable, ModelRateLimited, ModelServerError)
"""What another model may help with. Not a key that is refused, nor content: that is the person's to know."""
REASONS: dict[type[ModelError], str] = {
    ModelUnreachable: "cannot be reached",
    ModelRateLimited: "takes no more requests now",
    ModelServerError: "is out of order or overloaded",
}

Chain = Callable[[], Sequence[str]]


class FallbackClient:
    """Implements ``ModelClient`` around another one: while nothing of an answer has come, the next model of ``chain``
    is asked. ``chain`` is the person's list as it is now. The first model's failure is the one that is raised where
    none of them can answer; asking again is up to whoever asked. A smaller window of another model is passed over, its
    wrong key is not. A schema goes only to a model that is ``held`` to it, as any other may refuse it; the words of the
    prompt ask for the same.
    """

    def __init__(
        self,
        client: ModelClient,
        connections: Connections,
        chain: Chain,
        has_price: Callable[[ModelRef], bool],
        held: HeldToSchemas = nothing_holds,
    ) -> None:
        self._client = client
        self._connections = connections
        self._chain = chain
        self._has_price = has_price
        self._held = held

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        """The items of the first model that answers, ``AnsweredInstead`` before them where it is another one."""
        failed: ModelError | None = None
        for ref in (request.model, *self._others(request.model, meta)):
            begun = False
            head: list[StreamItem] = [] if failed is None else [_instead(request.model, ref, failed)]
            items: Any = self._client.stream(await self._for(ref, request), meta)
            try:
                async with aclosing(items):
                    async for item in items:
                        if not begun and isinstance(item, SettingsLeftOut):  # says nothing if this model fails, too
                            head.append(item)
                            continue
                        for held in head if not begun else ():
                            yield held
                        begun = True
                        yield item
                return
            except ModelError as error:
                if begun or not (isinstance(error, AWAY) or (failed and isinstance(error, ModelContextTooLong))):
                    raise error if failed is None or begun else _with(failed, ref, error) from None
                failed = failed or error
                meta.cancellation.check()
        if failed is not None:
            raise failed

    async def _for(self, ref: ModelRef, request: ModelRequest) -> ModelRequest:
        """The request as this model is asked it."""
        if ref == request.model:
            return request
        schema = request.answer_schema
        held = schema is not None and await self._held(ref, with_tools=bool(request.tools))
        return replace(request, model=ref, answer_schema=schema if held else None)

    def _others(self, asked: ModelRef, meta: RunMeta) -> Sequence[ModelRef]:
        """Which models may be asked instead, in order. What is meant for this computer never leaves it, and a run whose
        cost is counted goes to no model of unknown price."""
        first = self._connections.find(asked.connection_id)
        if first is None:  # the demo model and scripts answer, or are wrong
            return ()
        here, priced = providers.is_local(first.provider) or _is_here(first), self._has_price(asked)
        found = []
        for text in self._chain():
            ref = ModelRef.parse(text)
            connection = self._connections.find(ref.connection_id)
            if connection is None or not ref.model or ref == asked or ref in found:
                continue
            if (here and not _is_here(connection)) or (priced and not self._has_price(ref)):
                continue
            found.append(ref)
        return found


def _is_here(connection: Connection) -> bool:
    """On this computer or in its network, by its address: a server of a local kind may stand anywhere."""
    address = providers.base_url(connection)
    return is_local_address(address) if address else providers.is_local(connection.provider)


def _with(failed: ModelError, ref: ModelRef, error: ModelError) -> ModelError:
    """The failure of the model that was asked, with why the next one is no help: a person has to see to that."""
    failed.next_step = f"{failed.next_step} {ref} could not answer instead: {error.advice}".strip()
    return failed


def _instead(asked: ModelRef, by: ModelRef, error: ModelError) -> AnsweredInstead:
    why = next((words for kind, words in REASONS.items() if isinstance(error, kind)), "failed")
    return AnsweredInstead(asked, by, why)
