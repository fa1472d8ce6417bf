"""Connections as a page shows and changes them: filled in, tested with one request, and kept only if that works.

A key passes through here once on its way to the keyring; it is in no attribute, signal, log or error text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.keyring import KeyPlace, place_of_all
from desktop.domain.models import Connection, ProviderInfo, SecretStore
from desktop.presenter.settings.connections.trials import ConnectionTrials, Saved, Tries, wrong_field

if TYPE_CHECKING:
    import asyncio

    from desktop.presenter.events.bridge import Bridge

Found = TypeVar("Found")
NEW = "new:"
"""Before the name of a provider: a connection that is not kept yet. Its test is told of under this name, so that it
stands on no other connection's card."""


class ConnectionsViewModel(QObject, Generic[Found]):
    """The connections of one kind of thing, as models or searches. ``tested`` tells how a test went, under the
    connection's name; ``keys_moved`` that the keyring may have other entries now."""

    changed = Signal()
    tested = Signal(str, bool, str)
    keys_moved = Signal()

    def __init__(
        self,
        tries: Tries[Found],
        secrets: SecretStore,
        bridge: Bridge,
        saved: Saved,
        words: Callable[[Sequence[Found]], str],
    ) -> None:
        super().__init__()
        self._tries = tries
        self._secrets = secrets
        self._bridge = bridge
        self._saved = saved
        self._words = words
        self._trials = ConnectionTrials(tries, secrets, saved, words)
        self._testing = 0
        self._note = ""
        self._looked_for_keyring = False
        self.wrong_field = ""
        """Which field the last test found wrong, by its name among the provider's needs, or ""."""
        self._test: asyncio.Future[None] | None = None

    # -- reading ----------------------------------------------------------------------------------------------------

    @property
    def testing(self) -> bool:
        """Whether a key is being tested."""
        return self._testing > 0

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The connections that the person made."""
        return tuple(self._saved.connections())

    @property
    def providers(self) -> tuple[ProviderInfo, ...]:
        """The kinds of connections."""
        return self._tries.providers()

    def info(self, connection: Connection) -> ProviderInfo:
        """The kind of a connection; one that is not known has one key."""
        found = (info for info in self.providers if info.provider == connection.provider)
        return next(found, ProviderInfo(connection.provider, connection.provider))

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

    def problem(self, connection_id: str) -> str:
        """What is wrong with a connection as far as that was seen, or ""."""
        error = self._tries.problems.get(connection_id)
        return error.advice if error else ""

    def found(self, connection_id: str) -> str:
        """What a connection is known to give, in words, or ""."""
        return ""

    # -- acting -----------------------------------------------------------------------------------------------------

    def keyring_answered(self) -> None:
        """The keyring answered late, perhaps once the person had unlocked it: read its entries again."""
        self.keys_moved.emit()
        self._read_again()

    def _read_again(self) -> None:
        self._bridge.spawn(self._ask_keyring(), name="ask keyring")

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
        sentence, added, found = await self._trials.add(info, fields)
        self._added(added, found)
        return sentence

    def _added(self, connection: Connection, found: Sequence[Found]) -> None:
        """A connection is kept; its test has found this."""

    def _deleted(self, connection: Connection) -> None:
        """A connection is gone."""

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
            found = await self._tries.test_saved(connection_id)
            return f"It works: {self._words(found)}."

        self._run_test(connection_id, work)

    def delete_connection(self, connection_id: str) -> None:
        """Forget a connection and its key."""

        async def work() -> None:
            connection = self._find(connection_id)
            if connection is None:
                return
            await self._saved.keep_connections([c for c in self.connections if c.connection_id != connection_id])
            await self._tries.forget(connection_id)
            self._deleted(connection)
            for name in self.info(connection).secret_names(connection.secret_name).values():
                await self._secrets.delete(name)
            self.changed.emit()

        self._bridge.spawn(work(), name="delete connection")

    def _find(self, connection_id: str) -> Connection | None:
        return next((c for c in self.connections if c.connection_id == connection_id), None)
