"""Models and keys: local servers found, providers connected, the key tested before it is kept.

A key passes through here once on its way to the keyring; it is in no attribute, signal, log or error text.
"""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError, SecretsUnavailable
from desktop.domain.models import Connection, LocalServer, ModelInfo, ProviderInfo, SecretStore
from desktop.domain.scrub import scrub

if TYPE_CHECKING:
    import asyncio

    from desktop.models.catalogue import Catalogue
    from desktop.presenter.bridge import Bridge

DEMO_MODEL = "demo/demo"


@dataclass(frozen=True, slots=True)
class Saved:
    """How connections and the default model are read and kept: the settings, wired by ``app``."""

    connections: Callable[[], Sequence[Connection]]
    keep_connections: Callable[[Sequence[Connection]], Awaitable[None]]
    default_model: Callable[[], str]
    keep_default_model: Callable[[str], Awaitable[None]]
    keyring_note: Callable[[], Awaitable[str]]


class ModelSetupViewModel(QObject):
    """What the first-run page, the settings page and the model picker share."""

    changed = Signal()
    tested = Signal(str, bool, str)
    chosen = Signal(str)
    demo_started = Signal()

    def __init__(
        self, catalogue: Catalogue, secrets: SecretStore, bridge: Bridge, saved: Saved, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._catalogue = catalogue
        self._secrets = secrets
        self._bridge = bridge
        self._saved = saved
        self._servers: tuple[LocalServer, ...] = ()
        self._models: tuple[ModelInfo, ...] = ()
        self._looking = False
        self._testing = 0
        self._note = ""
        self._test: asyncio.Future[None] | None = None

    # -- reading ----------------------------------------------------------------------------------------------------

    @property
    def servers(self) -> tuple[LocalServer, ...]:
        """Local servers as last looked for, running or not."""
        return self._servers

    @property
    def looking(self) -> bool:
        """Whether a look is under way."""
        return self._looking

    @property
    def testing(self) -> bool:
        """Whether a key is being tested."""
        return self._testing > 0

    @property
    def connections(self) -> tuple[Connection, ...]:
        """What the person connected."""
        return tuple(self._saved.connections())

    @property
    def models(self) -> tuple[ModelInfo, ...]:
        """Everything that can be chosen, as last listed."""
        return self._models

    @property
    def providers(self) -> tuple[ProviderInfo, ...]:
        """Kinds of connections."""
        return self._catalogue.providers()

    def info(self, connection: Connection) -> ProviderInfo:
        """The kind of a connection; one that is not known has one key."""
        found = (info for info in self.providers if info.provider == connection.provider)
        return next(found, ProviderInfo(connection.provider, connection.provider))

    @property
    def default_model(self) -> str:
        """The model of new chats, or ""."""
        return self._saved.default_model()

    @property
    def keyring_note(self) -> str:
        """A plain notice when keys cannot be kept by the system, else ""."""
        return self._note

    def problem(self, connection_id: str) -> str:
        """Why a connection's models could not be listed, or ""."""
        error = self._catalogue.problems.get(connection_id)
        return f"{error} {error.next_step}".strip() if error else ""

    def describe(self, ref: str) -> tuple[str, int | None]:
        """(name for a person, context window or None) of a model."""
        for model in self._models:
            if str(model.ref) == ref:
                return model.title, model.context_window
        return ref.partition("/")[2] or ref, None

    def priced(self, ref: str) -> bool:
        """Whether it is known what a model costs; those of this machine cost nothing."""
        for model in self._models:
            if str(model.ref) == ref:
                known = model.input_price is not None and model.output_price is not None
                return known or model.locality in ("local", "demo")
        return False

    # -- acting -----------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Look for local servers and list all models; one look at a time."""
        if not self._looking:
            self._looking = True
            self.changed.emit()
            self._bridge.spawn(self._look(), name="look for models")

    async def _look(self) -> None:
        self._bridge.spawn(self._ask_keyring(), name="ask keyring")  # it may take its time; models need not wait for it
        try:
            self._servers = await self._catalogue.servers()
            self.changed.emit()
            self._models = tuple(await self._catalogue.models())
        except KnownError as error:
            self.tested.emit("local", False, f"{error} {error.next_step}".strip())
        finally:
            self._looking = False
            self.changed.emit()

    async def _ask_keyring(self) -> None:
        note = await self._saved.keyring_note()
        if note != self._note:
            self._note = note
            self.changed.emit()

    def test_and_keep(self, provider: str, fields: Mapping[str, str]) -> None:
        """Make one request with what was typed; keep the connection and the key only when it works."""
        info = next((p for p in self.providers if p.provider == provider), None)
        if info is not None:
            self._run_test(provider, lambda: self._test_and_keep(info, dict(fields)))

    def _run_test(self, name: str, work: Callable[[], Awaitable[str]]) -> None:
        async def guarded() -> None:
            self._testing += 1
            self.changed.emit()
            try:
                sentence = await work()
            except KnownError as error:
                self.tested.emit(name, False, f"{error} {error.next_step} Nothing was kept.".replace("  ", " "))
            else:
                self.tested.emit(name, True, sentence)
            finally:
                self._testing -= 1
                self.changed.emit()

        self._test = self._bridge.spawn(guarded(), name="test connection")

    def cancel_test(self) -> None:
        """Stop waiting for a provider; nothing is kept."""
        if self._test is not None:
            self._test.cancel()

    async def _test_and_keep(self, info: ProviderInfo, fields: dict[str, str]) -> str:
        _complete(info, fields)
        secrets = {name: value for name in info.secrets if (value := fields.pop(name, "").strip())}
        connection = self._new_connection(info, fields, bool(secrets))
        models = await self._ask(info, connection, secrets)
        kept = await self._keep(info, connection, secrets)
        await self._saved.keep_connections([*self.connections, connection])
        self._models = (*models, *(m for m in self._models if m.ref.connection_id != connection.connection_id))
        found = f"{info.title} works: {len(models)} models." if models else f"{info.title} works."
        return found if kept else f"{found} No keyring took the key, so it is forgotten when Assent is closed."

    async def _ask(self, info: ProviderInfo, connection: Connection, secrets: Mapping[str, str]) -> list[ModelInfo]:
        more = {name: secrets[name] for name in info.secrets[1:] if name in secrets}
        return list(await self._catalogue.test(connection, secrets.get(info.secrets[0], ""), more))

    async def _keep(self, info: ProviderInfo, connection: Connection, secrets: Mapping[str, str]) -> bool:
        """Every secret in the keyring; those that are no longer given go. False: at least one is kept by us only."""
        kept = True
        for field, name in info.secret_names(connection.secret_name).items():
            if field in secrets:
                kept = await self._secrets.put(name, secrets[field]) and kept
            else:
                with contextlib.suppress(SecretsUnavailable):  # then the keyring has none to be forgotten
                    await self._secrets.delete(name)
        return kept

    def _new_connection(self, info: ProviderInfo, fields: Mapping[str, str], has_key: bool) -> Connection:
        taken = {c.connection_id for c in self.connections}
        name = next(n for n in (info.provider, *(f"{info.provider}-{i}" for i in range(2, 10_000))) if n not in taken)
        options = {k: v.strip() for k, v in fields.items() if k != "base_url" and v.strip()}
        return Connection(
            connection_id=name,
            provider=info.provider,
            title=info.title if name == info.provider else f"{info.title} {name.rpartition('-')[2]}",
            base_url=fields.get("base_url", "").strip(),
            secret_name=f"connection/{name}" if has_key else "",
            options=options,
        )

    def replace_key(self, connection_id: str, secrets: Mapping[str, str]) -> None:
        """Test another key for a connection, by its provider's secret fields; the old one stays until it works."""
        connection = self._find(connection_id)
        if connection is not None:
            given = {name: value.strip() for name, value in secrets.items() if value.strip()}
            self._run_test(connection_id, lambda: self._replace_key(connection, given))

    async def _replace_key(self, connection: Connection, secrets: Mapping[str, str]) -> str:
        info = self.info(connection)
        models = await self._ask(info, connection, secrets)
        await self._keep(info, connection, secrets)
        await self._catalogue.forget(connection.connection_id)
        return f"The new key works: {len(models)} models."

    def test_connection(self, connection_id: str) -> None:
        """One request with the key that is kept."""

        async def work() -> str:
            models = await self._catalogue.test_saved(connection_id)
            return f"It works: {len(models)} models."

        self._run_test(connection_id, work)

    def delete_connection(self, connection_id: str) -> None:
        """Forget a connection and its key."""

        async def work() -> None:
            connection = self._find(connection_id)
            if connection is None:
                return
            await self._saved.keep_connections([c for c in self.connections if c.connection_id != connection_id])
            await self._catalogue.forget(connection_id)
            self._models = tuple(m for m in self._models if m.ref.connection_id != connection_id)
            for name in self.info(connection).secret_names(connection.secret_name).values():
                await self._secrets.delete(name)
            self.changed.emit()

        self._bridge.spawn(work(), name="delete connection")

    def _find(self, connection_id: str) -> Connection | None:
        return next((c for c in self.connections if c.connection_id == connection_id), None)

    def use(self, ref: str) -> None:
        """Make a model the default and say so."""

        self._bridge.spawn(self._use(ref), name="choose model")

    async def _use(self, ref: str) -> None:
        await self._saved.keep_default_model(ref)
        self.changed.emit()
        self.chosen.emit(ref)

    def start_demo(self) -> None:
        """The built-in demo model: not an AI, offline. It begins to play in a chat of its own."""

        async def work() -> None:
            await self._use(DEMO_MODEL)
            self.demo_started.emit()

        self._bridge.spawn(work(), name="start demo")


def _complete(info: ProviderInfo, fields: Mapping[str, str]) -> None:
    """Raises KnownError for the first thing that the provider needs and nobody has filled in."""
    missing = next((name for name in info.needs if not name.endswith("?") and not fields.get(name, "").strip()), "")
    if missing == "key":
        raise KnownError("There is no key yet.", next_step=f"Paste the key that {info.title} gave you.")
    if fields.get("base_url", "") and not _plain_address(fields["base_url"].strip()):
        raise KnownError(
            "The address holds a key or a password.", next_step="Take it out there, and put it into the field for keys."
        )
    if missing:
        raise KnownError(f"The {_WORDS.get(missing, missing)} is missing.", next_step=f"{info.title} needs it.")


def _plain_address(address: str) -> bool:
    """No name, password or key in it: addresses are kept in config.yaml, and quoted in errors."""
    try:
        parts = urllib.parse.urlsplit(address)
        return "@" not in parts.netloc and not parts.query and not parts.fragment and scrub(address) == address
    except ValueError:
        return False


_WORDS = {"base_url": "address", "api_version": "API version", "access_key_id": "access key ID",
          "secret_access_key": "secret access key"}  # fmt: skip
