"""A connection's secrets while a request is made: read from the keyring for each, never stored (R-SEC-3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection, SecretStore
from desktop.models.providers import provider_info


@dataclass(frozen=True, slots=True)
class Credentials:
    """``key`` is the main secret or ""; ``more`` the others by field, as ``access_key_id``."""

    key: str = field(default="", repr=False)
    more: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def values(self) -> tuple[str, ...]:
        """Every secret, to be kept out of texts."""
        return tuple(value for value in (self.key, *self.more.values()) if value)

    def params(self) -> dict[str, Any]:
        """The fields of a request to the model host that carry the key."""
        return {"key": self.key, "more": dict(self.more)}


async def credentials(secrets: SecretStore, connection: Connection) -> Credentials:
    """What the keyring has for a connection. Raises SecretsUnavailable."""
    names = provider_info(connection.provider).secret_names(connection.secret_name)
    found = {field: value for field, name in names.items() if (value := await secrets.get(name))}
    main = next(iter(names), "")
    return Credentials(found.pop(main, ""), found)
