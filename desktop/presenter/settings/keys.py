"""The keyring page: every secret by name, who uses it, whether it is there; add, replace, delete, test, agree.

No value is in an attribute, a signal, a log or an error text: a typed one passes through once on its way to the
keyring, and of a kept one only its length is told.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError, SecretsUnavailable
from desktop.domain.keyring import OUTSIDE_TOKEN, OWN_SERVICE, KeyPlace, KeyringEntry
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words

if TYPE_CHECKING:
    from desktop.domain.models import Connection, SecretStore
    from desktop.presenter.events.bridge import Bridge
    from desktop.presenter.settings.connections.page import ConnectionsViewModel
    from desktop.safety.secrets.tool_secrets import ToolSecrets

KeyState = Literal["looking", "kept", "waiting", "session", "missing", "silent", "not_agreed", "never"]


@dataclass(frozen=True, slots=True)
class Use:
    """A tool that refers to an entry; ``variable`` is where it gets the value."""

    tool: str
    variable: str
    entry: KeyringEntry


@dataclass(frozen=True, slots=True)
class ProviderKeyRow:
    """The key of a connection; ``secrets`` are its fields."""

    connection_id: str
    title: str
    secrets: tuple[str, ...]
    state: KeyState


@dataclass(frozen=True, slots=True)
class ToolSecretRow:
    """An entry that tools use, or that was made for them. ``waiting``: tools that nobody agreed to yet; ``holders``:
    those that read it."""

    entry: KeyringEntry
    uses: tuple[Use, ...]
    state: KeyState
    foreign: bool
    waiting: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that use the secret."""
        return tuple(dict.fromkeys(use.tool for use in self.uses))


@dataclass(frozen=True, slots=True)
class OwnSecretRow:
    """What Assent keeps for itself, beside keys of providers: no tool is given it."""

    entry: KeyringEntry
    words: str
    state: KeyState


TOKEN = KeyringEntry(OWN_SERVICE, OUTSIDE_TOKEN)
_THERE = ("kept", "waiting", "session")


def cleaned(text: str, *, inner_spaces: bool = True) -> tuple[str, str]:
    """A pasted secret without what copying adds: line breaks, invisible characters, spaces around it (all spaces
    without ``inner_spaces``); and what was taken out, in words, or ""."""
    seen = (letter for letter in text if unicodedata.category(letter)[0] != "C" and letter not in "\u2028\u2029")
    kept = "".join(seen)
    kept = kept.strip() if inner_spaces else "".join(kept.split())
    gone = len(text) - len(kept)
    if not gone:
        return kept, ""
    what = "space, line break or invisible character" if gone == 1 else "spaces, line breaks or invisible characters"
    return kept, f"{gone} {what} {'was' if gone == 1 else 'were'} taken out of what was pasted."


class KeysViewModel(QObject):
    """``changed`` when rows are others, ``told(row, worked, sentence)`` after each act; ``row`` is a connection's id or
    the text of an entry. ``uses`` gives the references of the tools in force."""

    changed = Signal()
    told = Signal(str, bool, str)

    def __init__(
        self,
        tools: ToolSecrets,
        secrets: SecretStore,
        setups: Sequence[ConnectionsViewModel[Any]],
        bridge: Bridge,
        uses: Callable[[], Iterable[Use]],
    ) -> None:
        super().__init__()
        self._tools, self._secrets, self._setups, self._bridge = tools, secrets, tuple(setups), bridge
        self._uses = uses
        self._states: dict[str, KeyState] = {}
        self._note = ""
        self._looking = self._again = self._wanted = False
        for setup in self._setups:
            setup.changed.connect(self._setup_changed)
            setup.tested.connect(self._tested)
            setup.keys_moved.connect(self.refresh)
        self._connections = self._all_connections()

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def note(self) -> str:
        """Why keys cannot be kept by the system, or ""."""
        return self._note or next((setup.keyring_note for setup in self._setups if setup.keyring_note), "")

    @property
    def providers(self) -> tuple[ProviderKeyRow, ...]:
        """Connections with a key."""
        return tuple(
            ProviderKeyRow(
                at.connection_id, at.title, tuple(setup.info(at).secrets), self._states.get(at.connection_id, "looking")
            )
            for setup in self._setups
            for at in setup.connections
            if at.secret_name
        )

    @property
    def tools(self) -> tuple[ToolSecretRow, ...]:
        """Entries of tools, those that need the person first."""
        uses: dict[KeyringEntry, list[Use]] = {entry: [] for entry in self._tools.own}
        for use in self._uses():
            uses.setdefault(use.entry, []).append(use)
        rows = [self._row(entry, tuple(found)) for entry, found in uses.items()]
        urgent = ("not_agreed", "missing", "never")
        return tuple(sorted(rows, key=lambda row: (row.state not in urgent, str(row.entry).casefold())))

    def _row(self, entry: KeyringEntry, uses: tuple[Use, ...]) -> ToolSecretRow:
        named = dict.fromkeys(use.tool for use in uses)
        waiting = tuple(tool for tool in named if self._tools.waits(entry, tool))
        foreign = self._tools.is_foreign(entry)
        if self._tools.is_provider_key(entry) or self._tools.of_assent(entry):
            return ToolSecretRow(entry, uses, "never", foreign=False)
        untouched = foreign and len(waiting) == len(named)
        state: KeyState = "not_agreed" if untouched else self._states.get(str(entry), "looking")
        return ToolSecretRow(entry, uses, state, foreign, waiting, self._tools.holders(entry))

    @property
    def own(self) -> tuple[OwnSecretRow, ...]:
        """What Assent keeps for itself, as far as it is there."""
        state = self._states.get(str(TOKEN), "looking")
        words = "The token of `assent mcp --http`: a program that has it calls what you offer to other apps."
        return (OwnSecretRow(TOKEN, words, state),) if state in _THERE else ()

    # -- looking ------------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Ask the keyring which entries are there; one look at a time, and again when something changed meanwhile."""
        self._wanted = True
        if self._looking:
            self._again = True
            return
        self._looking = True
        self._bridge.spawn(self._look(), name="look into the keyring")

    async def _look(self) -> None:
        try:
            while True:
                self._again = False
                self._note = ""
                for at in self._all_connections():
                    if at.secret_name:
                        self._states[at.connection_id] = await self._state(self._length_of_key, at)
                self._states[str(TOKEN)] = await self._state(self._length_of_token, TOKEN)
                for row in self.tools:
                    if row.state not in ("not_agreed", "never"):
                        self._states[str(row.entry)] = await self._state(self._length_of_entry, row.entry)
                if not self._again:
                    return
        finally:
            self._looking = False
            self.changed.emit()

    async def _length_of_key(self, at: Connection) -> tuple[int | None, KeyPlace]:
        value = await self._secrets.get(at.secret_name)
        return None if value is None else len(value), self._tools.place(KeyringEntry(OWN_SERVICE, at.secret_name))

    async def _length_of_token(self, entry: KeyringEntry) -> tuple[int | None, KeyPlace]:
        value = await self._secrets.get(entry.user)
        return None if value is None else len(value), self._tools.place(entry)

    async def _length_of_entry(self, entry: KeyringEntry) -> tuple[int | None, KeyPlace]:
        return await self._tools.length(entry), self._tools.place(entry)

    async def _state(self, look: Callable[..., Awaitable[tuple[int | None, KeyPlace]]], what: object) -> KeyState:
        if self._note:  # it said why: the rest of the list would be told the same, each after its own deadline
            return "silent"
        try:
            length, place = await look(what)
        except SecretsUnavailable as error:
            self._note = error.advice
            return "silent"
        except KnownError:
            return "not_agreed"
        if length is None:
            return "missing"
        return place if place in ("waiting", "session") else "kept"

    def _all_connections(self) -> tuple[Connection, ...]:
        return tuple(at for setup in self._setups for at in setup.connections)

    def _of(self, connection_id: str) -> ConnectionsViewModel[Any]:
        """Whose connection this is."""
        own = (one for one in self._setups if any(at.connection_id == connection_id for at in one.connections))
        return next(own, self._setups[0])

    def _setup_changed(self) -> None:
        connections = self._all_connections()
        if connections != self._connections:
            self._connections = connections
            self.refresh()

    def refresh(self) -> None:
        """Connections or tools are others now: show them; ask the keyring only if somebody looked before."""
        self.changed.emit()
        if self._wanted:
            self.look()

    def _tested(self, name: str, worked: bool, sentence: str) -> None:
        if any(row.connection_id == name for row in self.providers):
            self.told.emit(name, worked, sentence)
            if self._wanted:
                self.look()

    # -- keys of providers --------------------------------------------------------------------------------------------

    def test_provider(self, connection_id: str) -> None:
        """Try the kept key with one request."""
        self._of(connection_id).test_connection(connection_id)

    def replace_provider(self, connection_id: str, secrets: dict[str, str]) -> None:
        """Test another key; the old one stays until the new one works."""
        self._of(connection_id).replace_key(connection_id, secrets)

    def delete_provider(self, connection_id: str) -> None:
        """Forget the key and keep the connection."""

        async def work() -> str:
            setup = self._of(connection_id)
            at = next((at for at in setup.connections if at.connection_id == connection_id), None)
            if at is None:
                return ""
            for name in setup.info(at).secret_names(at.secret_name).values():
                await self._secrets.delete(name)
            return "The key is deleted. The connection stays, and needs another key."

        self._act(connection_id, work)

    # -- secrets of tools ---------------------------------------------------------------------------------------------

    def refusal(self, entry: KeyringEntry) -> str:
        """Why no secret can be added under these names, or ""."""
        if entry.problem:
            return f"{entry.problem[:1].upper()}{entry.problem[1:]}."
        if self._tools.is_provider_key(entry):
            return "That is the key of a provider."
        own = self._tools.of_assent(entry)
        return f"That is {own}." if own else ""

    def keep(self, entry: KeyringEntry, value: str, tools: Sequence[str] = ()) -> None:
        """Add or replace a secret, for these tools."""

        async def work() -> str:
            clean, _ = cleaned(value)
            if await self._tools.keep(entry, clean, tools):
                return f"It is in the keyring: {count_words(len(clean), 'character')}."
            if self._tools.place(entry) == "waiting":
                return "It is saved as soon as your keyring takes it: your system may be asking for a password."
            return "No keyring could save it, so it is forgotten when Assent is closed."

        self._act(str(entry), work)

    def test(self, entry: KeyringEntry) -> None:
        """Ask the keyring whether the secret is there."""

        async def work() -> str:
            length = await self._tools.length(entry)
            if length is None:
                raise KnownError(f"There is no {entry} in the keyring.")
            return f"It is in the keyring: {count_words(length, 'character')}."

        self._act(str(entry), work)

    def delete(self, entry: KeyringEntry) -> None:
        """Forget a secret for good."""

        async def work() -> str:
            await self._tools.delete(entry)
            return "It is deleted."

        self._act(str(entry), work)

    def delete_token(self) -> None:
        """Forget the token of `assent mcp --http`."""

        async def work() -> str:
            await self._secrets.delete(TOKEN.user)
            return "It is deleted. One that runs goes on with it until it ends; the next start makes another."

        self._act(str(TOKEN), work)

    def agree(self, entry: KeyringEntry, tools: Sequence[str]) -> None:
        """These tools may read this entry, too, which another program keeps or another tool was given."""

        async def work() -> str:
            await self._tools.agree(entry, tools)
            return f"{', '.join(tools)} may read it."

        self._act(str(entry), work)

    def disagree(self, entry: KeyringEntry) -> None:
        """Take back the consent: no tool may read the secret any more."""

        async def work() -> str:
            await self._tools.disagree(entry)
            return "No tool reads it any more."

        self._act(str(entry), work)

    def _act(self, row: str, work: Callable[[], Awaitable[str]]) -> None:
        async def guarded() -> None:
            try:
                sentence = await work()
            except KnownError as error:
                self.told.emit(row, False, error.advice)
            else:
                self.told.emit(row, True, sentence)
            self.look()

        self._bridge.spawn(guarded(), name="keyring")
