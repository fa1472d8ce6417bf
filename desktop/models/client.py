"""The model client: a request of the domain becomes a stream of the model host, and back.

``build`` puts the room together for ``app``: the router over demo, scripted and real models, and the catalogue.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.domain.errors import ChildDied, ModelUnknown, ProtocolViolation
from desktop.domain.files.pictures import PictureOpener
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ToolResultBlock
from desktop.domain.model_settings import UNKNOWN, ModelTraits
from desktop.domain.models import (
    Connection,
    ModelClient,
    ModelRef,
    ModelRequest,
    SecretStore,
    Senses,
    SettingsLeftOut,
    StreamItem,
)
from desktop.domain.processes import Child, ChildRefused, ChildStream
from desktop.domain.runs.meta import RunMeta
from desktop.models import providers
from desktop.models.catalogue import Catalogue
from desktop.models.credentials import Credentials, credentials
from desktop.models.failures import model_error
from desktop.models.fallback import Chain, FallbackClient
from desktop.models.incoming import Incoming
from desktop.models.lazy_demo import LazyDemo
from desktop.models.outgoing import Change, SentWindows, parts
from desktop.models.pictures import PictureSender, PicturesToSend, limits_of
from desktop.models.router import Connections, ModelRouter

if TYPE_CHECKING:
    from desktop.models import scripted as models_scripted
else:
    models_scripted = lazy_module("desktop.models.scripted")

TOLD_MAX = 1000
"""Chats and models of which it is remembered what they were told."""
OWN_GRACE = 5.0  # seconds beyond the request's limits before this side ends a stream that the host should have ended


@dataclass(frozen=True, slots=True)
class _ModelAttempt:
    """One request, with what it needs beside the domain's record; the secrets live no longer than this."""

    request: ModelRequest
    """What is asked."""
    connection: Connection
    """Where."""
    secrets: Credentials
    """The keys of the connection."""
    window_key: str
    """Names what the host has of the conversation already."""
    limit_s: float | None
    """Seconds for the whole answer."""
    senses: Senses
    """Which kinds of content the model takes."""
    takes: ModelTraits
    """Which settings it takes."""
    maker: str
    """Whose thinking it gets again."""
    pictures: PicturesToSend
    """What becomes of the pictures in it."""


class HostModelClient:
    """Implements ``ModelClient`` over the model host.

    ``stream`` raises ModelError subclasses, and CancellationError promptly (well under 100 ms) once the token of
    ``meta`` is cancelled. The key is fetched for each request and never stored (R-SEC-3).
    """

    def __init__(
        self,
        child: Child,
        secrets: SecretStore,
        connections: Connections,
        senses: Callable[[ModelRef], Senses] = lambda _ref: Senses(),
        learn: Callable[[ModelRef], Awaitable[None]] | None = None,
        traits: Callable[[ModelRef], ModelTraits] = lambda _ref: UNKNOWN,
        pictures: PictureOpener | None = None,
    ) -> None:
        self._child = child
        self._senses = senses
        self._learn = learn
        self._traits = traits
        self._told = _ToldOnce()
        self._secrets = secrets
        self._connections = connections
        self._windows = SentWindows()
        self._pictures = PictureSender(pictures)

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        meta.cancellation.check()
        connection = self._connections.find(request.model.connection_id)
        if connection is None:
            raise ModelUnknown(
                f"There is no connection named {request.model.connection_id}.", next_step="Choose another model."
            )
        secrets = await credentials(self._secrets, connection)
        if self._learn is not None and (_holds_media(request) or request.settings.effort is not None):
            await self._learn(request.model)
        senses = self._senses(request.model)
        maker = providers.maker(connection, request.model.model)
        limits = limits_of(connection.provider, request.model.model)
        pictures = await self._pictures.look(request.messages, senses, limits)
        key = _window_key(request, meta, senses, f"{maker} {len(pictures.left_out)}")
        traits = self._traits(request.model)
        attempt = _ModelAttempt(
            request, connection, secrets, key, _limit(request, meta), senses, traits, maker, pictures
        )
        try:
            async with aclosing(self._attempt(attempt, meta)) as items:
                async for item in items:
                    yield item
        except _WindowLost:
            async with aclosing(self._attempt(attempt, meta)) as items:
                async for item in items:
                    yield item

    async def _attempt(self, attempt: _ModelAttempt, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        self._child.start()
        change = self._windows.change(attempt.window_key, attempt.request.messages, self._child.health.generation)
        stream = self._open(attempt, change)
        detach = meta.cancellation.on_cancel(_canceller(stream))
        incoming = Incoming()
        left: SettingsLeftOut | None = None  # told with what the model answers: who gets no answer hears of it again
        try:
            async for plain in stream:
                item = incoming.item(plain)
                if isinstance(item, SettingsLeftOut):
                    left = item
                elif item is not None:
                    if left is not None and self._told.is_news(attempt, meta, left):
                        yield left
                    left = None
                    yield item
            meta.cancellation.check()
            if left is not None and self._told.is_news(attempt, meta, left):
                yield left
            free = providers.is_local(attempt.connection.provider)
            yield incoming.finished(stream.value, free=free, maker=attempt.maker)
        except (ChildRefused, ChildDied, ProtocolViolation, TimeoutError) as error:
            self._windows.forget(attempt.window_key)
            meta.cancellation.check()
            raise _translated(error, attempt) from None
        finally:
            detach()
            stream.cancel()

    def _open(self, attempt: _ModelAttempt, change: Change) -> ChildStream:
        request, connection = attempt.request, attempt.connection
        params: dict[str, Any] = {
            "provider": connection.provider,
            "direct": providers.dialect(connection.provider).direct,
            "model": f"{providers.dialect(connection.provider).prefix}/{request.model.model}",
            "base_url": providers.base_url(connection),
            **attempt.secrets.params(),
            "extra": providers.extra(connection),
            "settings": request.settings.plain(),
            "schema": request.answer_schema,
            "takes": attempt.takes.plain(),
            "table": providers.known_to_table(connection, request.model.model),
            "system": request.system,
            "note": _note(request),
            "tools": [dict(tool) for tool in request.tools],
            "window": change.window,
            "deadline_s": attempt.limit_s,
            "idle_s": request.idle_s,
            "priced": providers.table_name(connection, request.model.model) if providers.is_priced(connection) else "",
        }
        return self._child.stream(
            "stream",
            params,
            parts=parts(
                change.added,
                attempt.senses,
                attempt.maker,
                (request.beside_id, request.beside.strip()),
                attempt.pictures,
            ),
            deadline_s=_plus(attempt.limit_s),
            idle_s=_plus(request.idle_s),
        )


class _ToldOnce:
    """Which settings that a model does not take were told in which chat: once is enough."""

    def __init__(self) -> None:
        self._told: OrderedDict[tuple[object, ...], None] = OrderedDict()

    def is_news(self, attempt: _ModelAttempt, meta: RunMeta, left: SettingsLeftOut) -> bool:
        """Whether nobody was told; from now on somebody is."""
        key = (meta.thread_id or meta.run_id, meta.node, attempt.request.model, left.settings)
        news = key not in self._told
        self._told[key] = None
        self._told.move_to_end(key)
        while len(self._told) > TOLD_MAX:
            self._told.popitem(last=False)
        return news


class _WindowLost(Exception):
    """The host no longer has the window that the request builds on."""


def _translated(error: Exception, attempt: _ModelAttempt) -> Exception:
    if isinstance(error, ChildRefused) and error.code == "window.lost":
        return _WindowLost()
    return model_error(error, attempt.connection, attempt.request.model.model, attempt.secrets.values)


def _canceller(stream: ChildStream) -> Callable[[str], None]:
    """What a token calls, on whatever thread it is cancelled."""
    loop = asyncio.get_running_loop()

    def cancel(_: str) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stream.cancel)

    return cancel


def _holds_media(request: ModelRequest) -> bool:
    """Whether a tool gave images or sounds: only a model that is known to take them gets those."""
    blocks = (block for message in request.messages for block in message.blocks)
    return any(isinstance(block, ToolResultBlock) and block.media for block in blocks)


def _note(request: ModelRequest) -> str:
    """What is said last; also what belongs beside a message that is not sent."""
    here = not request.beside or any(message.source_id == request.beside_id != "" for message in request.messages)
    return (request.note if here else f"{request.beside}{request.note}").strip()


def _window_key(request: ModelRequest, meta: RunMeta, senses: Senses, maker: str) -> str:
    """Windows of the two sides of one thread are kept apart by their system prompts, what a model that sees was shown
    from what another was told, and what one model thought from what another did."""
    sent = f"{senses.images}{senses.sounds}/{hash(maker):x}/{hash((request.beside_id, request.beside)):x}"
    return f"{meta.thread_id or meta.run_id}/{hash(request.system):x}/{sent}"


def _limit(request: ModelRequest, meta: RunMeta) -> float | None:
    """Seconds for the whole answer: the request's, or what is left of the run."""
    end = meta.cancellation.deadline
    left = None if end is None else end - time.monotonic()
    limits = [limit for limit in (request.deadline_s, left) if limit is not None]
    return max(0.01, min(limits)) if limits else None


def _plus(limit: float | None) -> float | None:
    return None if limit is None else limit + OWN_GRACE


@dataclass(frozen=True, slots=True)
class _HeldByServer:
    """Implements ``HeldToSchemas`` by what connections and catalogue know."""

    connections: Connections
    catalogue: Catalogue

    async def __call__(self, ref: ModelRef, *, with_tools: bool) -> bool:
        connection = self.connections.find(ref.connection_id)
        if connection is None or (with_tools and connection.provider not in providers.SCHEMA_BESIDE_TOOLS):
            return False
        await self.catalogue.learn(ref)
        return self.catalogue.traits(ref).structured is True


@dataclass(frozen=True, slots=True)
class ModelServices:
    """The room, put together."""

    client: ModelClient
    catalogue: Catalogue
    connections: Connections
    special: frozenset[str] = frozenset()

    async def is_held_to_schemas(self, ref: ModelRef, *, with_tools: bool) -> bool:
        """Whether the model's own structured output holds its answers to a schema, also ``with_tools`` beside it. Asks
        the server what its models can do, where nobody has yet."""
        return await _HeldByServer(self.connections, self.catalogue)(ref, with_tools=with_tools)

    def reaches(self, ref: ModelRef) -> bool:
        """Whether there is a connection for this model; whether it has the model only asking would tell."""
        known = ref.connection_id in self.special or self.connections.find(ref.connection_id) is not None
        return bool(ref.model) and known


def build(
    child: Child,
    secrets: SecretStore,
    connections: Callable[[], Sequence[Connection]],
    *,
    addresses: providers.LocalAddresses | None = None,
    script: Path | None = None,
    demo_pace_s: float | None = None,
    fallbacks: Chain = tuple,
    has_price: Callable[[ModelRef], bool] = lambda _ref: True,
    corrections: Callable[[], Sequence[str]] = tuple,
    pictures: PictureOpener | None = None,
) -> ModelServices:
    """Everything that talks to models, over one child. Starts nothing: call ``child.start()`` after first paint.

    ``connections`` returns the person's connections as they are now; ``script`` is a file for the scripted model,
    given only by a test or on the command line (it adds the model ``scripted/scripted``); ``fallbacks`` are models to
    ask where one cannot answer, ``has_price`` says whose costs can be counted, ``corrections`` are what a person knows
    better of models (``model_settings.correction_in``); ``pictures`` opens pictures that nobody has opened before.
    """
    known = Connections(connections, addresses or providers.LocalAddresses())
    scripted = None if script is None else models_scripted.ScriptedModel.load(script)
    catalogue = Catalogue(child, secrets, known, scripted=scripted is not None, corrections=corrections)
    host = HostModelClient(child, secrets, known, catalogue.senses, catalogue.learn, catalogue.traits, pictures)
    falling = FallbackClient(host, known, fallbacks, has_price, _HeldByServer(known, catalogue))
    client = ModelRouter(falling, LazyDemo(demo_pace_s), scripted)
    return ModelServices(client, catalogue, known, client.special)
