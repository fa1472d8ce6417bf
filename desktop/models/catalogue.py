"""Which models there are: on this machine, at the person's providers, and the demo model.

Nothing is asked before someone calls: no network at start. Lists of providers are kept for a while; a provider that
fails keeps its last list and a problem in words.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.model_settings import EFFORTS, NAMES, UNKNOWN, ModelTraits, correction_in
from desktop.domain.models import Connection, LocalServer, ModelInfo, ModelRef, ProviderInfo, SecretStore, Senses
from desktop.domain.processes import Child
from desktop.models import providers
from desktop.models.credentials import Credentials, credentials
from desktop.models.failures import model_error
from desktop.models.router import Connections

LIST_KEPT_S = 600.0
DISCOVER_TIMEOUT_S = 12.0
LIST_TIMEOUT_S = 45.0
DESCRIBE_TIMEOUT_S = 15.0
LOAD_TIMEOUT_S = 30.0
LEARN_TIMEOUT_S = 8.0
"""For so long a request waits for what a model takes; where nothing was told by then, the next ones do not wait."""
SILENT_S = 300.0

DEMO_MODEL = ModelInfo(
    ModelRef(providers.DEMO, providers.DEMO),
    "Demo model (not an AI)",
    input_price=0.0,
    output_price=0.0,
    tools=True,
    vision=False,
    locality="demo",
)
SCRIPTED_MODEL = ModelInfo(
    ModelRef(providers.SCRIPTED, providers.SCRIPTED),
    "Scripted model (for tests)",
    tools=True,
    locality="scripted",
    takes=ModelTraits({}, ("low", "medium", "high")),
)


@dataclass(frozen=True, slots=True)
class _Listed:
    at: float
    models: tuple[ModelInfo, ...]


class Catalogue:
    """Lists the models that can be used. ``problems`` holds, by connection, why its models could not be listed."""

    def __init__(
        self,
        child: Child,
        secrets: SecretStore,
        connections: Connections,
        *,
        scripted: bool = False,
        corrections: Callable[[], Sequence[str]] = tuple,
        learn_s: float = LEARN_TIMEOUT_S,
    ) -> None:
        self._corrections = corrections
        self._learn_s = learn_s
        self._silent: dict[str, float] = {}
        self._child = child
        self._secrets = secrets
        self._connections = connections
        self._scripted = scripted
        self._listed: dict[str, _Listed] = {}
        self._known: dict[ModelRef, ModelInfo] = {}
        self._sought: set[ModelRef] = set()
        self._asking: dict[str, asyncio.Future[bool]] = {}
        self.problems: dict[str, KnownError] = {}

    async def prewarm(self) -> None:
        """Let the host load what requests need before the first one, where a connection is set up. Who has none is
        spared that work; a local server that is found has it done too."""
        saved = self._connections.saved()
        if saved:
            direct = not any(providers.needs_library(connection.provider) for connection in saved)
            with contextlib.suppress(KnownError, TimeoutError):  # the first request says what is wrong
                await self._child.call("load", {"direct": direct}, timeout=LOAD_TIMEOUT_S)

    def providers(self) -> tuple[ProviderInfo, ...]:
        """The kinds of connections, with the fields each needs."""
        return providers.PROVIDERS

    def addresses_to_try(self, provider: str, address: str) -> Sequence[str]:
        """What a typed address may mean, the likeliest first."""
        return providers.addresses_to_try(provider, address)

    async def servers(self) -> tuple[LocalServer, ...]:
        """The four local servers, running or not, with their models and real context sizes. Never raises for a
        server that is missing or odd; raises ModelHostDied when the host itself fails."""
        wanted = {kind: list(bases) for kind, bases in self._connections.addresses.addresses.items()}
        try:
            found = await self._discovered(wanted)
        except (KnownError, TimeoutError) as error:
            raise model_error(error, Connection("local", "ollama", "This machine"), "") from None
        servers = tuple(_server(row) for row in found if row.get("kind") in wanted)
        for server in servers:
            self._connections.found(server)
        return servers

    async def _discovered(self, wanted: dict[str, list[str]]) -> Any:
        asked = {"servers": wanted, "direct": [kind for kind in wanted if not providers.needs_library(kind)]}
        return await self._child.call("discover", asked, timeout=DISCOVER_TIMEOUT_S)

    async def answering(self, kind: str, base: str) -> LocalServer | None:
        """The server of this kind that answers there by now, or None."""
        try:
            found = await self._discovered({kind: [base]})
        except (KnownError, TimeoutError):
            return None
        servers = [_server(row) for row in found if row.get("kind") == kind]
        return next((server for server in servers if server.running), None)

    async def models(self) -> Sequence[ModelInfo]:
        """Everything usable now: local servers, connected providers, the demo model; connections asked at once."""
        saved = self._connections.saved()
        lists = await asyncio.gather(self._local(), *(self._of(connection) for connection in saved))
        special = (DEMO_MODEL, SCRIPTED_MODEL) if self._scripted else (DEMO_MODEL,)
        known = {name: traits for name, traits, _ in map(correction_in, reversed(self._corrections()))}
        seen: dict[ModelRef, ModelInfo] = {}
        for model in (*(m for models in (*lists[1:], lists[0]) for m in models), *special):
            seen.setdefault(model.ref, model)
        self._known.update(seen)
        return tuple(_with_correction(model, known.get(str(model.ref))) for model in seen.values())

    def senses(self, ref: ModelRef) -> Senses:
        """What a model takes beside text, as far as it was listed."""
        model, pictures = self._known.get(ref), self._corrected(ref).pictures
        model = DEMO_MODEL if ref == DEMO_MODEL.ref else model  # which nobody has to ask
        if model is None:
            return Senses(pictures)
        return Senses(model.vision if pictures is None else pictures, model.hearing)

    def traits(self, ref: ModelRef) -> ModelTraits:
        """Which settings it takes, as far as a person or its server said so."""
        model = self._known.get(ref)
        return self._corrected(ref).over(model.takes if model is not None else UNKNOWN)

    def _corrected(self, ref: ModelRef) -> ModelTraits:
        """What a person knows better."""
        known = (correction_in(line) for line in self._corrections())
        return next((traits for name, traits, _ in known if name == str(ref)), UNKNOWN)

    async def learn(self, ref: ModelRef) -> None:
        """Ask what a model takes, where nobody has listed it yet: without a window nobody does. Whoever asks meanwhile
        waits for the same listing; one that gave nothing or was stopped is asked for again, of a server that says
        nothing at all after a while only."""
        if time.monotonic() - self._silent.get(ref.connection_id, -SILENT_S) < SILENT_S:
            return
        while ref not in self._known and ref not in self._sought:
            asking = self._asking.get(ref.connection_id)
            if asking is None:
                await self._seek(ref)
                return
            if await asyncio.shield(asking):
                return

    async def _seek(self, ref: ModelRef) -> None:
        source, ended = ref.connection_id, False
        asking = self._asking[source] = asyncio.get_running_loop().create_future()
        try:
            own = next((one for one in self._connections.saved() if one.connection_id == source), None)
            try:
                async with asyncio.timeout(self._learn_s):
                    found = await (self._local() if own is None else self._of(own))
            except TimeoutError:
                self._silent[source] = time.monotonic()
                found = ()
            self._known.update((model.ref, model) for model in found)
            if any(model.ref.connection_id == source for model in found):
                self._sought.add(ref)
            ended = True
        finally:
            del self._asking[source]
            asking.set_result(ended)

    async def _local(self) -> tuple[ModelInfo, ...]:
        try:
            servers = await self.servers()
        except KnownError as error:
            self.problems["local"] = error
            return ()
        self.problems.pop("local", None)
        return tuple(model for server in servers if server.running for model in server.models)

    async def _of(self, connection: Connection) -> tuple[ModelInfo, ...]:
        kept = self._listed.get(connection.connection_id)
        if kept is not None and time.monotonic() - kept.at < LIST_KEPT_S:
            return kept.models
        try:
            return await self._asked(connection, await credentials(self._secrets, connection))
        except KnownError as error:
            self.problems[connection.connection_id] = error
            return kept.models if kept else ()

    async def test(
        self, connection: Connection, key: str, more: Mapping[str, str] | None = None
    ) -> tuple[ModelInfo, ...]:
        """One request with this key; the models it gives access to. Raises ModelError with a sentence for a person.

        The connection need not be saved yet. ``more``: the provider's other secrets, by field.
        """
        return await self._asked(connection, Credentials(key, more or {}))

    async def _asked(self, connection: Connection, secrets: Credentials) -> tuple[ModelInfo, ...]:
        try:
            rows = [
                row
                async for row in self._child.stream(
                    "list",
                    {
                        "provider": providers.listed_as(connection.provider),
                        "direct": not providers.needs_library(connection.provider),
                        "base_url": _list_base(connection),
                        "options": dict(connection.options),
                        **secrets.params(),
                    },
                    deadline_s=LIST_TIMEOUT_S,
                )
            ]
        except (KnownError, TimeoutError) as error:
            raise model_error(error, connection, "", secrets.values) from None
        models = tuple(_model(row, connection.connection_id, connection.provider) for row in rows)
        models = await self._described(models, connection)
        self._listed[connection.connection_id] = _Listed(time.monotonic(), models)
        self._known.update((model.ref, model) for model in models)
        self.problems.pop(connection.connection_id, None)
        return models

    async def test_saved(self, connection_id: str) -> tuple[ModelInfo, ...]:
        """The same for a saved connection with the key from the keyring."""
        connection = self._connections.find(connection_id)
        if connection is None:
            raise KnownError(f"There is no connection named {connection_id}.")
        return await self._asked(connection, await credentials(self._secrets, connection))

    async def forget(self, connection_id: str) -> None:
        """A connection or its key changed or went: drop its list, and the host's idle connections with their keys."""
        self._listed.pop(connection_id, None)
        self.problems.pop(connection_id, None)
        if self._child.health.state == "ready":
            await self._child.call("forget", timeout=5.0)

    async def _described(self, models: tuple[ModelInfo, ...], connection: Connection) -> tuple[ModelInfo, ...]:
        """Context sizes and prices from litellm's table where the provider did not say; unknown stays unknown."""
        if not providers.dialect(connection.provider).priced or not models:
            return models
        real = connection.options.get("model", "")  # behind a deployment
        names = {model.ref: providers.table_name(connection, real or model.ref.model) for model in models[:500]}
        try:
            table = await self._child.call("describe", {"models": list(names.values())}, timeout=DESCRIBE_TIMEOUT_S)
        except (KnownError, TimeoutError):
            return models
        priced = providers.is_priced(connection)
        return tuple(_filled(model, table.get(names.get(model.ref, "")) or {}, priced=priced) for model in models)


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 1 << 53 else None


def _price(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _model(row: Mapping[str, Any], connection_id: str, provider: str) -> ModelInfo:
    free = providers.is_local(provider)
    return ModelInfo(
        ModelRef(connection_id, str(row.get("id"))),
        str(row.get("title") or row.get("id")),
        context_window=_whole(row.get("context")),
        max_output=_whole(row.get("max_output")),
        input_price=0.0 if free else _price(row.get("input_price")),
        output_price=0.0 if free else _price(row.get("output_price")),
        size_bytes=_whole(row.get("size")),
        tools=_flag(row.get("tools")),
        vision=_flag(row.get("vision")),
        hearing=_flag(row.get("hearing")),
        takes=_traits(row),
        locality=providers.provider_info(provider).locality,
    )


def _traits(row: Mapping[str, Any]) -> ModelTraits:
    """What a row says of settings; checked again on this side of the pipe."""
    settings, efforts = row.get("settings"), row.get("efforts")
    named = settings.items() if isinstance(settings, Mapping) else ()
    return ModelTraits(
        {name: value for name, value in named if name in NAMES and isinstance(value, bool)},
        tuple(one for one in EFFORTS if one in efforts) if isinstance(efforts, list) else None,
        _flag(row.get("structured")),
    )


def _with_correction(model: ModelInfo, known: ModelTraits | None) -> ModelInfo:
    """The model with what a person knows better."""
    if known is None:
        return model
    own = {"vision": known.pictures, "tools": known.tools, "context_window": known.context}
    changes: dict[str, Any] = {name: value for name, value in own.items() if value is not None}
    return replace(model, takes=known.over(model.takes), **changes)


def _list_base(connection: Connection) -> str:
    """Where a connection's models are listed. Local servers do so beside the address that litellm is given."""
    return connection.base_url if providers.is_local(connection.provider) else providers.base_url(connection)


def _filled(model: ModelInfo, known: Mapping[str, Any], *, priced: bool) -> ModelInfo:
    """The model with what it lacks taken from the table."""
    if not priced:
        known = {name: value for name, value in known.items() if not name.endswith("_price")}
    found = {
        "context_window": _whole(known.get("context")),
        "max_output": _whole(known.get("max_output")),
        "input_price": _price(known.get("input_price")),
        "output_price": _price(known.get("output_price")),
        "tools": _flag(known.get("tools")),
        "vision": _flag(known.get("vision")),
        "hearing": _flag(known.get("hearing")),
    }
    changes: dict[str, Any] = {name: value for name, value in found.items() if getattr(model, name) is None}
    return replace(model, takes=model.takes.over(_traits(known)), **changes)


def _server(row: Mapping[str, Any]) -> LocalServer:
    kind = row["kind"]
    models = tuple(_model(m, kind, kind) for m in row.get("models") or () if isinstance(m, dict))
    return LocalServer(
        kind,
        providers.provider_info(kind).title,
        str(row.get("base_url")),
        row.get("running") is True,
        models,
        str(row.get("problem") or ""),
        str(row.get("note") or "")[:300],
    )
