"""Which keyring entries tools reach, and who agreed to that (R-ENV-5, R-SEC-1).

A tool's reference may come from a file that somebody else wrote. So:

* keys of providers, sign-ins to MCP servers and the token of `assent mcp --http` are reached by no tool, whatever it
  says;
* an entry that Assent keeps for tools under its own service belongs to the tool that it was given to, or else to the
  first that reads it; another tool that names it needs a person's yes;
* any other entry belongs to another program, and is not even looked at before a person has agreed that this tool
  reads this entry.

Names and agreements are kept in the database, which agents cannot write; values are in the keyring alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Protocol

from desktop.domain.errors import KnownError, SecretsUnavailable
from desktop.domain.keyring import OUTSIDE_TOKEN, OWN_SERVICE, PROVIDER_PREFIX, SIGN_IN_PREFIX, KeyPlace, KeyringEntry
from desktop.safety.secrets.keyring import MAX_SECRET, KeyringSecrets

STATE = "keyring"
MAX_ENTRIES = 1_000
_log = logging.getLogger(__name__)


class SmallValues(Protocol):
    """Small JSON values by key; the store's state."""

    def get(self, *, key: str, default: Any = None) -> Awaitable[Any]:
        """The value, or ``default``."""
        ...

    def put(self, *, key: str, value: Any) -> Awaitable[None]:
        """Store a small value under a key."""
        ...


class EntryRefused(KnownError):
    """An entry cannot be kept, changed or read as asked."""

    code = "secrets.entry"


class ToolSecrets:
    """Everything about tools' secrets but their values. ``provider_keys`` are the names that connections use in the
    own service now."""

    def __init__(
        self, secrets: KeyringSecrets, kept: SmallValues, provider_keys: Callable[[], Collection[str]] = tuple
    ) -> None:
        self._secrets = secrets
        self._kept = kept
        self._provider_keys = provider_keys
        self._own: frozenset[KeyringEntry] = frozenset()
        self._agreed: frozenset[tuple[KeyringEntry, str]] = frozenset()
        self._writing = asyncio.Lock()
        self._giving = asyncio.Lock()

    async def load(self) -> None:
        """Read the consents to keyring entries that were stored."""
        found = await self._kept.get(key=STATE, default={})
        found = found if isinstance(found, dict) else {}
        own = (_entry(names) for names in _rows(found.get("own"), 2))
        agreed = ((_entry(row[:2]), row[2]) for row in _rows(found.get("agreed"), 3))
        self._own = frozenset(entry for entry in own if not entry.problem)
        self._agreed = frozenset((entry, tool) for entry, tool in agreed if not entry.problem)

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def own(self) -> frozenset[KeyringEntry]:
        """The entries that a person made here for tools."""
        return self._own

    def is_provider_key(self, entry: KeyringEntry) -> bool:
        """Whether it is a provider's key."""
        own = entry.service.casefold() == OWN_SERVICE
        user = entry.user.casefold()  # some keyrings do not tell capitals from small letters
        return own and (user.startswith(PROVIDER_PREFIX) or user in {name.casefold() for name in self._provider_keys()})

    def of_assent(self, entry: KeyringEntry) -> str:
        """What it is that Assent keeps for itself alone, beside providers' keys, or ""."""
        user = entry.user.casefold()
        if entry.service.casefold() != OWN_SERVICE:
            return ""
        if user.startswith(SIGN_IN_PREFIX):
            return "a sign-in to an MCP server"
        return "the token of `assent mcp --http`" if user == OUTSIDE_TOKEN else ""

    def is_foreign(self, entry: KeyringEntry) -> bool:
        """Whether another program keeps it, as far as we know."""
        return entry.service != OWN_SERVICE and entry not in self._own

    def agreed(self, entry: KeyringEntry, tool: str) -> bool:
        """Whether a person agreed that this tool reads it."""
        return (entry, tool) in self._agreed

    def refusal(self, service: str, user: str, tool: str) -> str:
        """Why this tool may not read this entry, as a sentence, or ""."""
        entry = KeyringEntry(service, user)
        if entry.problem:
            return f"That is no entry of a keyring: {entry.problem}."
        if self.is_provider_key(entry):
            return "That is the key of a provider, which no tool is ever given."
        if own := self.of_assent(entry):
            return f"That is {own}, which no tool is ever given."
        if not self.waits(entry, tool):
            return ""
        whose = f"That entry is {self._owners(entry)}'s" if self.holders(entry) else "Assent does not keep that entry"
        return f"{whose}, and nobody has agreed yet that this tool reads it (Settings, Keyring)."

    def holders(self, entry: KeyringEntry) -> tuple[str, ...]:
        """The tools that read this entry."""
        return tuple(sorted(tool for known, tool in self._agreed if known == entry))

    def waits(self, entry: KeyringEntry, tool: str) -> bool:
        """Whether this tool gets it only once a person has agreed. One of ours that nobody has yet is there for the
        first tool that reads it."""
        if tool and self.agreed(entry, tool):
            return False
        return entry.service != OWN_SERVICE or not tool or bool(self.holders(entry))

    def _owners(self, entry: KeyringEntry) -> str:
        first, *more = self.holders(entry)
        return f"{first} and {len(more)} more" if more else first

    async def give(self, service: str, user: str, tool: str) -> None:
        """This tool is about to read it: one of ours that nobody has yet is this tool's from now on. Raises
        EntryRefused: it became another tool's meanwhile, or that cannot be kept."""
        entry = KeyringEntry(service, user)
        if entry.service != OWN_SERVICE or self.agreed(entry, tool):
            return
        async with self._giving:
            if refusal := self.refusal(service, user, tool):
                raise EntryRefused(refusal)
            await self._write(agreed={(entry, tool)})

    async def length(self, entry: KeyringEntry) -> int | None:
        """Characters of the value, None when there is none. Its value is known to redaction from then on.

        Raises SecretsUnavailable, and EntryRefused for an entry that nobody agreed to.
        """
        closed = self.is_provider_key(entry) or self.of_assent(entry)
        if closed or (self.is_foreign(entry) and not self._is_agreed(entry)):
            raise EntryRefused("You have not allowed Assent to read this entry.")
        value = await self._secrets.lookup(entry.service, entry.user)
        return None if value is None else len(value)

    def _is_agreed(self, entry: KeyringEntry) -> bool:
        return any(known == entry for known, _ in self._agreed)

    def place(self, entry: KeyringEntry) -> KeyPlace:
        """Where the value lies, as far as it is known without asking."""
        return self._secrets.place(entry.service, entry.user)

    async def learn(self) -> None:
        """Make the values that Assent keeps for tools known to redaction, before anything can repeat them."""
        for entry in sorted(self._own):
            try:
                await self._secrets.lookup(entry.service, entry.user)
            except SecretsUnavailable as error:
                _log.info("tools' secrets are not known yet: %s", error.code)
                return

    # -- changing -----------------------------------------------------------------------------------------------------

    async def keep(self, entry: KeyringEntry, value: str, tools: Collection[str] = ()) -> bool:
        """Add or replace a value; ``tools`` may read it. False: only this process has it. Raises EntryRefused."""
        self._check(entry)
        if not value or len(value) > MAX_SECRET:
            raise EntryRefused(f"A secret has 1 to {MAX_SECRET:,} characters.")
        if self.is_foreign(entry) and await self._is_there(entry):
            raise EntryRefused(
                f"Another program keeps {entry} already.", next_step="Change it there, or choose another name."
            )
        await self._write(own={entry}, agreed={(entry, tool) for tool in tools})
        return await self._secrets.keep(entry.service, entry.user, value)

    async def _is_there(self, entry: KeyringEntry) -> bool:
        try:
            return await self._secrets.lookup(entry.service, entry.user) is not None
        except SecretsUnavailable:
            return False

    async def delete(self, entry: KeyringEntry) -> None:
        """Forget the value and who may read it. Raises EntryRefused, and SecretsUnavailable when the keyring may still
        have it."""
        self._check(entry)
        if self.is_foreign(entry):
            raise EntryRefused(f"Another program keeps {entry}.", next_step="Delete it there.")
        await self._secrets.drop(entry.service, entry.user)
        await self._write(gone=entry)

    async def agree(self, entry: KeyringEntry, tools: Collection[str]) -> None:
        """A person agrees that these tools read this entry."""
        self._check(entry)
        await self._write(agreed={(entry, tool) for tool in tools})

    async def disagree(self, entry: KeyringEntry) -> None:
        """No tool reads this entry of another program any more."""
        if self.is_foreign(entry):
            await self._write(gone=entry)

    def _check(self, entry: KeyringEntry) -> None:
        if entry.problem:
            raise EntryRefused(f"This name cannot be used in a keyring: {entry.problem}.")
        if self.is_provider_key(entry):
            raise EntryRefused(f"{entry} is the key of a provider.", next_step="Choose another name.")
        if own := self.of_assent(entry):
            raise EntryRefused(f"{entry} is {own}.", next_step="Choose another name.")

    async def _write(
        self,
        *,
        own: Collection[KeyringEntry] = (),
        agreed: Collection[tuple[KeyringEntry, str]] = (),
        gone: KeyringEntry | None = None,
    ) -> None:
        """Add these, forget one; it holds once it is on the disk."""
        async with self._writing:
            mine = {entry for entry in (*self._own, *own) if entry != gone}
            theirs = {(entry, tool) for entry, tool in (*self._agreed, *agreed) if entry != gone}
            if max(len(mine), len(theirs)) > MAX_ENTRIES:
                raise EntryRefused(f"There are more than {MAX_ENTRIES:,} entries.")
            value = {
                "own": [[entry.service, entry.user] for entry in sorted(mine)],
                "agreed": [[entry.service, entry.user, tool] for entry, tool in sorted(theirs)],
            }
            await self._kept.put(key=STATE, value=value)
            self._own, self._agreed = frozenset(mine), frozenset(theirs)


def _rows(value: object, width: int) -> list[list[str]]:
    rows = value if isinstance(value, list) else []
    good = [row for row in rows if isinstance(row, list) and len(row) == width]
    return [row for row in good if all(isinstance(part, str) for part in row)]


def _entry(names: list[str]) -> KeyringEntry:
    return KeyringEntry(names[0], names[1])
