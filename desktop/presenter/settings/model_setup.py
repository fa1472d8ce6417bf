"""Models and keys: local servers found, providers connected, the key tested before it is kept.

A key passes through here once on its way to the keyring; it is in no attribute, signal, log or error text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.keyring import KeyPlace, place_of_all
from desktop.domain.models import Connection, LocalServer, ModelInfo, ProviderInfo, SecretStore
from desktop.presenter.settings.connection_trials import ConnectionTrials, Saved, found_models, wrong_field

if TYPE_CHECKING:
    import asyncio

    from desktop.models.catalogue import Catalogue
    from desktop.presenter.events.bridge import Bridge

DEMO_MODEL = "demo/demo"
NEW = "new:"
"""Before the name of a provider: a connection that is not kept yet. Its test is told of under this name, so that it
stands on no other connection's card."""


class ModelSetupViewModel(QObject):
    """What the first-run page, the settings page and the model picker share."""

    changed = Signal()
    tested = Signal(str, bool, str)
    chosen = Signal(str)
    demo_started = Signal()
    keys_moved = Signal()

    def __init__(self, catalogue: Catalogue, secrets: SecretStore, bridge: Bridge, saved: Saved) -> None:
        super().__init__()
        self._catalogue = catalogue
        self._secrets = secrets
        self._bridge = bridge
        self._saved = saved
        self._trials = ConnectionTrials(catalogue, secrets, saved)
        self._servers: tuple[LocalServer, ...] = ()
        self._models: tuple[ModelInfo, ...] = ()
        self._looking = False
        self._testing = 0
        self._note = ""
        self._looked_for_keyring = False
        self.wrong_field = ""
        """Which field the last test found wrong, by its name among the provider's needs, or ""."""
        self._test: asyncio.Future[None] | None = None

    # -- reading ----------------------------------------------------------------------------------------------------

    @property
    def servers(self) -> tuple[LocalServer, ...]:
        """Local servers as last looked for, running or not."""
        return self._servers

    @property
    def looking(self) -> bool:
        """Whether local model servers are being looked for."""
        return self._looking

    @property
    def testing(self) -> bool:
        """Whether a key is being tested."""
        return self._testing > 0

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The connections that the person made."""
        return tuple(self._saved.connections())

    @property
    def models(self) -> tuple[ModelInfo, ...]:
        """Everything that can be chosen, as last listed."""
        return self._models

    @property
    def providers(self) -> tuple[ProviderInfo, ...]:
        """The kinds of connections."""
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
    def instead_of_demo(self) -> ModelInfo | None:
        """A model of the person's that new chats could use, while they use the demo; never taken unasked."""
        if self.default_model != DEMO_MODEL:
            return None
        own = {connection.connection_id for connection in self.connections}
        return next((model for model in self._models if model.ref.connection_id in own), None)

    @property
    def keyring_note(self) -> str:
        """A plain notice when keys cannot be kept by the system, else ""."""
        return self._note

    @property
    def keyring_waiting(self) -> bool:
        """Whether a key is to be kept as soon as the person has answered the system."""
        return self._saved.keyring_waiting()

    def key_place(self, connection: Connection) -> KeyPlace:
        """Where the key of a connection lies."""
        names = self.info(connection).secret_names(connection.secret_name).values()
        return place_of_all([self._saved.key_place(name) for name in names])

    def place(self, connection_id: str) -> str:
        """The name of a connection or server, as every list shows it."""
        named = {s.kind: s.title for s in self._servers} | {c.connection_id: c.title for c in self.connections}
        return named.get(connection_id) or connection_id

    def problem(self, connection_id: str) -> str:
        """Why a connection's models could not be listed, or ""."""
        error = self._catalogue.problems.get(connection_id)
        return error.advice if error else ""

    def describe(self, ref: str) -> tuple[str, int | None]:
        """(name for a person, context window or None) of a model."""
        for model in self._models:
            if str(model.ref) == ref:
                return model.title, model.context_window
        return ref.partition("/")[2] or ref, None

    def priced(self, ref: str) -> bool:
        """Whether it is known what a model costs; those of this machine cost nothing."""
        return any(str(model.ref) == ref and _is_priced(model) for model in self._models)

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
            self.tested.emit("local", False, error.advice)
        finally:
            self._looking = False
            self.changed.emit()

    async def _read_models(self) -> None:
        """After a test that worked: every list shows what can be used now."""
        self._models = tuple(await self._catalogue.models())
        self.changed.emit()

    def keyring_answered(self) -> None:
        """The keyring answered late, perhaps once the person had unlocked it: read its entries again."""
        self.keys_moved.emit()
        self._read_again()

    def _read_again(self) -> None:
        self._bridge.spawn(self._ask_keyring(), name="ask keyring")
        self._bridge.spawn(self._read_models(), name="list models")

    def look_for_keyring(self) -> None:
        """A form for keys is shown: what it says of the keyring has to be true where there is none."""
        if not self._looked_for_keyring:
            self._looked_for_keyring = True
            self._bridge.spawn(self._find_keyring(), name="look for the keyring")

    async def _find_keyring(self) -> None:
        note = await self._saved.keyring_there()
        if note and not self._note:
            self._note = note
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
            self._run_test(NEW + provider, lambda: self._add(info, dict(fields)), info)

    async def _add(self, info: ProviderInfo, fields: dict[str, str]) -> str:
        sentence, added, models = await self._trials.add(info, fields)
        self._models = (*models, *(m for m in self._models if m.ref.connection_id != added.connection_id))
        return sentence

    def _run_test(self, name: str, work: Callable[[], Awaitable[str]], info: ProviderInfo | None = None) -> None:
        async def guarded() -> None:
            self._testing += 1
            self.wrong_field = ""
            self.changed.emit()
            try:
                sentence = await work()
            except KnownError as error:
                self.wrong_field = wrong_field(error, info)
                self.tested.emit(name, False, f"{error.advice} Nothing was kept.")
            else:
                self.tested.emit(name, True, sentence)
                self._read_again()
            finally:
                self._testing -= 1
                self.changed.emit()

        self._test = self._bridge.spawn(guarded(), name="test connection")

    def cancel_test(self) -> None:
        """Stop waiting for a provider; nothing is kept."""
        if self._test is not None:
            self._test.cancel()

    def replace_key(self, connection_id: str, secrets: Mapping[str, str]) -> None:
        """Test another key for a connection, by its provider's secret fields; the old one stays until it works."""
        connection = self._find(connection_id)
        if connection is not None:
            given = {name: value.strip() for name, value in secrets.items() if value.strip()}
            self._run_test(connection_id, lambda: self._trials.replace_key(self.info(connection), connection, given))

    def edit_connection(self, connection_id: str, fields: Mapping[str, str]) -> None:
        """Change a connection's ``name``, address, option or secret; an empty secret stays as it is. Where other values
        would be asked with, they are tested first, and nothing changes until they work."""
        connection = self._find(connection_id)
        if connection is not None:
            info = self.info(connection)
            self._run_test(connection_id, lambda: self._trials.edit(info, connection, dict(fields)), info)

    def test_connection(self, connection_id: str) -> None:
        """Try the kept key with one request."""

        async def work() -> str:
            models = await self._catalogue.test_saved(connection_id)
            return f"It works: {found_models(models)}."

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


def _is_priced(model: ModelInfo) -> bool:
    known = model.input_price is not None and model.output_price is not None
    return known or model.locality in ("local", "demo")
