"""Secrets in the running app: the keyring's process, who may read what of it, and who knows what must never appear."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection
from desktop.models.providers import provider_info
from desktop.safety.secrets.keyring import KeyringSecrets
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.safety.secrets.tool_secrets import SmallValues, ToolSecrets
from desktop.workers.keyring_child import keyring_host


@dataclass(frozen=True, slots=True)
class KeyServices:
    """The services for secrets, made once; ``redactor`` hears every value that passes through ``secrets``."""

    redactor: SecretRedactor
    secrets: KeyringSecrets
    tools: ToolSecrets


async def open_keys(kept: SmallValues, connections: Callable[[], Sequence[Connection]]) -> KeyServices:
    """Make the services for secrets. The keyring is not asked for anything yet."""
    redactor = SecretRedactor()
    redactor.remember_environment(os.environ)
    secrets = KeyringSecrets(keyring_host(secrets=redactor.values), on_value=redactor.remember)
    tools = ToolSecrets(secrets, kept, lambda: provider_keys(connections()))
    await tools.load()
    return KeyServices(redactor, secrets, tools)


def provider_keys(connections: Sequence[Connection]) -> set[str]:
    """The names under which connections' keys lie in the own service."""
    return {name for at in connections for name in provider_info(at.provider).secret_names(at.secret_name).values()}
