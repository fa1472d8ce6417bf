"""How connections are read and kept: in the settings, their keys in the keyring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from desktop.app.wiring.services import Services
from desktop.domain.errors import SecretsUnavailable
from desktop.domain.models import Connection
from desktop.presenter.settings.connections.trials import Saved
from desktop.safety.secrets.keyring import KeyringSecrets


def saved_models(services: Services) -> Saved:
    """Connections to models."""
    settings = services.settings

    async def keep_connections(connections: Sequence[Connection]) -> None:
        await settings.update("models.connections", tuple(connections))

    async def keep_default(ref: str) -> None:
        await settings.update("models.default", ref)

    return Saved(
        connections=lambda: settings.current.models.connections,
        keep_connections=keep_connections,
        default_model=lambda: settings.current.models.default,
        keep_default_model=keep_default,
        keyring_note=partial(_note, services.secrets),
        key_place=services.secrets.place_of,
        keyring_waiting=lambda: services.secrets.waiting,
        keyring_there=partial(_there, services.secrets),
    )


def saved_searches(services: Services) -> Saved:
    """Search services."""
    settings = services.settings

    async def keep(connections: Sequence[Connection]) -> None:
        await settings.update("web.search", tuple(connections))

    return replace(saved_models(services), connections=lambda: settings.current.web.search, keep_connections=keep)


async def _note(secrets: KeyringSecrets) -> str:
    if secrets.waiting:
        return (
            "Your keyring has not taken the key yet: your system may be asking for a password. Until it is "
            "answered, the key is forgotten when Assent is closed."
        )
    report = await secrets.probe()
    return "" if report.usable else f"{report.sentence} Keys are forgotten when Assent is closed."


async def _there(secrets: KeyringSecrets) -> str:
    try:
        await secrets.backend_name()
    except SecretsUnavailable as error:
        return f"{error} Keys are forgotten when Assent is closed."
    return ""
