"""A secret that was pasted into the form of a server goes into the keyring, under a name that no other secret has."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from desktop.domain.errors import SecretsUnavailable
from desktop.domain.keyring import KeyringEntry
from desktop.presenter.settings.keys import cleaned

if TYPE_CHECKING:
    from desktop.presenter.mcp.secrets import PastedSecret
    from desktop.safety.secrets.tool_secrets import ToolSecrets

AWAY = "Your keyring cannot save it now, so nothing was changed here."


async def keep_pasted(keyring: ToolSecrets, secret: PastedSecret) -> KeyringEntry:
    """Where it is kept from now on. Raises SecretsUnavailable when only this process would have it, which keeps nothing
    of it, and EntryRefused."""
    entry = _free(keyring, secret.entry)
    value, _ = cleaned(secret.value)
    if await keyring.keep(entry, value) or keyring.place(entry) == "waiting":
        return entry
    await keyring.delete(entry)
    raise SecretsUnavailable(AWAY, next_step="Look under Settings, Keyring, what is wrong with it, then try again.")


def _free(keyring: ToolSecrets, wanted: KeyringEntry) -> KeyringEntry:
    """This name, or the first with a number that nothing is kept under: another server's secret is never replaced."""
    names = (wanted if n == 1 else KeyringEntry(wanted.service, f"{wanted.user}-{n}") for n in count(1))
    return next(name for name in names if name not in keyring.own and not keyring.is_provider_key(name))
