"""Models and keys: local servers found, providers connected, the key tested before it is kept.

A key passes through here once on its way to the keyring; it is in no attribute, signal, log or error text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from desktop.domain.errors import KnownError
from desktop.domain.model_settings import UNKNOWN, ModelTraits, correction_in, correction_line
from desktop.domain.models import Connection, LocalServer, ModelInfo, SecretStore
from desktop.presenter.settings.connections.page import ConnectionsViewModel
from desktop.presenter.settings.connections.trials import Saved

if TYPE_CHECKING:
    from desktop.models.catalogue import Catalogue
    from desktop.presenter.events.bridge import Bridge

DEMO_MODEL = "demo/demo"


class ModelSetupViewModel(ConnectionsViewModel[ModelInfo]):
    """What the first-run page, the settings page and the model picker share."""

    chosen = Signal(str)
    demo_started = Signal()

    def __init__(self, catalogue: Catalogue, secrets: SecretStore, bridge: Bridge, saved: Saved) -> None:
        super().__init__(catalogue, secrets, bridge, saved, found_models)
        self._catalogue = catalogue
        self._servers: tuple[LocalServer, ...] = ()
        self._models: tuple[ModelInfo, ...] = ()
        self._by_ref: Mapping[str, ModelInfo] = {}
        self._counts: Mapping[str, int] = {}
        self._looking = self._look_once_more = False

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
    def models(self) -> tuple[ModelInfo, ...]:
        """Everything that can be chosen, as last listed."""
        return self._models

    @property
    def default_model(self) -> str:
        """The model of new chats, or ""."""
        return self._saved.default_model()

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """Which models are asked instead of one that cannot answer, in order."""
        return tuple(self._saved.fallbacks())

    @property
    def can_stand_in(self) -> tuple[ModelInfo, ...]:
        """The models of which that list can be made."""
        return tuple(model for model in self._models if model.locality in ("local", "provider"))

    @property
    def instead_of_demo(self) -> ModelInfo | None:
        """A model of the person's that new chats could use, while they use the demo; never taken unasked."""
        if self.default_model != DEMO_MODEL:
            return None
        own = {connection.connection_id for connection in self.connections}
        return next((model for model in self._models if model.ref.connection_id in own), None)

    def place(self, connection_id: str) -> str:
        """The name of a connection or server, as every list shows it."""
        named = {s.kind: s.title for s in self._servers} | {c.connection_id: c.title for c in self.connections}
        return named.get(connection_id) or connection_id

    def found(self, connection_id: str) -> str:
        """How many models a connection has, in words, or ""."""
        count = self._counts.get(connection_id, 0)
        return "" if not count else "1 model" if count == 1 else f"{count:,} models"

    def model(self, ref: str) -> ModelInfo | None:
        """A model as last listed."""
        return self._by_ref.get(ref)

    def describe(self, ref: str) -> tuple[str, int | None]:
        """(name for a person, context window or None) of a model."""
        model = self._by_ref.get(ref)
        if model is not None:
            return model.title, model.context_window
        return ref.partition("/")[2] or ref, None

    def traits(self, ref: str) -> ModelTraits:
        """Which settings a model takes, as last listed."""
        model = self._by_ref.get(ref)
        return model.takes if model is not None else UNKNOWN

    def priced(self, ref: str) -> bool:
        """Whether it is known what a model costs; those of this machine cost nothing."""
        model = self._by_ref.get(ref)
        return model is not None and _is_priced(model)

    def correction(self, ref: str) -> ModelTraits:
        """What the person knows better of a model."""
        lines = (correction_in(line) for line in self._saved.corrections())
        return next((known for name, known, _ in lines if name == ref), UNKNOWN)

    # -- acting -----------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Look for local servers and list all models; one look at a time."""
        if not self._looking:
            self._looking = True
            self.changed.emit()
            self._bridge.spawn(self._look(), name="look for models")

    def look_anew(self) -> None:
        """The same, once more after a look that goes on: it may have been past what is there now."""
        self._look_once_more = self._looking
        self.look()

    async def _look(self) -> None:
        self._bridge.spawn(self._ask_keyring(), name="ask keyring")  # it may take its time; models need not wait for it
        try:
            self._servers = await self._catalogue.servers()
            self.changed.emit()
            self._keep(await self._catalogue.models())
        except KnownError as error:
            self.tested.emit("local", False, error.advice)
        finally:
            self._looking = False
            self.changed.emit()
        if self._look_once_more:
            self._look_once_more = False
            self.look()

    async def _read_models(self) -> None:
        """After a test that worked: every list shows what can be used now."""
        self._keep(await self._catalogue.models())
        self.changed.emit()

    def _read_again(self) -> None:
        super()._read_again()
        self._bridge.spawn(self._read_models(), name="list models")

    def _added(self, connection: Connection, found: Sequence[ModelInfo]) -> None:
        self._keep((*found, *(m for m in self._models if m.ref.connection_id != connection.connection_id)))

    def _deleted(self, connection: Connection) -> None:
        self._keep([m for m in self._models if m.ref.connection_id != connection.connection_id])

    def _keep(self, models: Sequence[ModelInfo]) -> None:
        self._models = tuple(models)
        self._by_ref = {str(model.ref): model for model in models}
        self._counts = Counter(model.ref.connection_id for model in models)

    def use(self, ref: str) -> None:
        """Make a model the default and say so."""

        self._bridge.spawn(self._use(ref), name="choose model")

    async def _use(self, ref: str) -> None:
        await self._saved.keep_default_model(ref)
        self.changed.emit()
        self.chosen.emit(ref)

    def set_fallbacks(self, refs: Sequence[str]) -> None:
        """Another list of models to ask instead."""

        async def work() -> None:
            await self._saved.keep_fallbacks(tuple(refs))
            self.changed.emit()

        self._bridge.spawn(work(), name="keep models to ask instead")

    def correct(self, ref: str, known: ModelTraits) -> str:
        """Keep what a person knows better of a model; what is listed of it follows. What keeps it from being kept, or
        ""."""
        line = correction_line(ref, known)
        if not line and known != UNKNOWN:
            return "A name with spaces cannot be corrected."

        async def work() -> None:
            others = [one for one in self._saved.corrections() if one.split()[:1] != [ref]]
            await self._saved.keep_corrections((*others, *([line] if line else ())))
            await self._read_models()

        self._bridge.spawn(work(), name="keep what is known of a model")
        return ""

    def start_demo(self) -> None:
        """The built-in demo model: not an AI, offline. It begins to play in a chat of its own."""

        async def work() -> None:
            await self._use(DEMO_MODEL)
            self.demo_started.emit()

        self._bridge.spawn(work(), name="start demo")


def found_models(models: Sequence[ModelInfo]) -> str:
    """How many models were found, in words."""
    return "1 model" if len(models) == 1 else f"{len(models):,} models"


def _is_priced(model: ModelInfo) -> bool:
    known = model.input_price is not None and model.output_price is not None
    return known or model.locality in ("local", "demo")
