"""Connections are tried before they are kept: added, changed, given another key.

A key passes through here once on its way to the keyring; it is in no attribute, log or error text.
"""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from desktop.domain.errors import KnownError, SecretsUnavailable
from desktop.domain.keyring import KeyPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection, ProviderInfo, SecretStore
from desktop.domain.text.scrub import scrub

NAME_MAX = 60
NOT_KEPT = " No keyring could save the key, so it is forgotten when Assent is closed."
NOT_KEPT_YET = (
    " The key is saved as soon as your keyring takes it: your system may be asking for a password. Until then it is "
    "forgotten when Assent is closed."
)
_ABOUT_KEY = ("model.key_refused", "model.no_access", "search.key")
_ABOUT_ADDRESS = (
    "model.unreachable",
    "model.redirected",
    "model.unknown",
    "model.unreadable",
    "model.bad_request",
    "search.address",
    "search.no_json",
    "search.redirected",
    "search.signed_in",
    "search.unreadable",
    "web.failed",
    "web.private",
    "web.slow",
    "web.unknown_host",
    "web.unreachable",
)
Given = TypeVar("Given", covariant=True)
Found = TypeVar("Found")


async def _unasked() -> str:
    return ""


async def _nowhere(_refs: Sequence[str]) -> None:
    """Connections of another kind have no such list."""


class Tries(Protocol[Given]):
    """Asks whatever a connection leads to. Raises KnownError for what does not work."""

    @property
    def problems(self) -> Mapping[str, KnownError]:
        """What is wrong with connections, by their id, as far as that was seen."""
        ...

    def providers(self) -> tuple[ProviderInfo, ...]:
        """The kinds of connections, with the fields each needs."""
        ...

    def addresses_to_try(self, provider: str, address: str) -> Sequence[str]:
        """What a typed address may mean, the likeliest first."""
        ...

    def test(
        self, connection: Connection, key: str, more: Mapping[str, str] | None = None
    ) -> Awaitable[Sequence[Given]]:
        """One request with this key, and what it gives."""
        ...

    def test_saved(self, connection_id: str) -> Awaitable[Sequence[Given]]:
        """The same for a connection that is kept."""
        ...

    def forget(self, connection_id: str) -> Awaitable[None]:
        """A connection or its key changed or went."""
        ...


@dataclass(frozen=True, slots=True)
class Saved:
    """How connections and the default model are read and kept: the settings, wired by ``app``."""

    connections: Callable[[], Sequence[Connection]]
    """Reads the connections."""
    keep_connections: Callable[[Sequence[Connection]], Awaitable[None]]
    """Stores them."""
    default_model: Callable[[], str]
    """Reads the default model."""
    keep_default_model: Callable[[str], Awaitable[None]]
    """Stores it."""
    keyring_note: Callable[[], Awaitable[str]]
    """What is wrong with the keyring, or ""."""
    key_place: Callable[[str], KeyPlace]
    """Where a secret of this name lies."""
    keyring_waiting: Callable[[], bool]
    """Whether the system may be asking the person about one."""
    keyring_there: Callable[[], Awaitable[str]] = _unasked
    """What is wrong where there is no keyring at all, or "". It asks nobody for a password."""
    fallbacks: Callable[[], Sequence[str]] = tuple
    """Reads which models are asked instead of one that cannot answer, in order."""
    keep_fallbacks: Callable[[Sequence[str]], Awaitable[None]] = _nowhere
    """Stores them."""
    corrections: Callable[[], Sequence[str]] = tuple
    """Reads what the person knows better of models."""
    keep_corrections: Callable[[Sequence[str]], Awaitable[None]] = _nowhere
    """Stores it."""


class ConnectionTrials(Generic[Found]):
    """Raises KnownError for what does not work; then nothing has changed. ``words`` says what a test found."""

    def __init__(
        self, catalogue: Tries[Found], secrets: SecretStore, saved: Saved, words: Callable[[Sequence[Found]], str]
    ) -> None:
        self._catalogue = catalogue
        self._words = words
        self._secrets = secrets
        self._saved = saved

    async def add(self, info: ProviderInfo, fields: dict[str, str]) -> tuple[str, Connection, list[Found]]:
        """Make one request with what was typed, and keep it; in words, and what is new."""
        _complete(info, fields)
        secrets = {name: value for name in info.secrets if (value := fields.pop(name, "").strip())}
        title = fields.pop("name", "").strip()
        connection = self._new_connection(info, fields, bool(secrets), title)
        connection, models = await self._tried(info, connection, secrets)
        kept = await self._keep(info, connection, secrets)
        await self._saved.keep_connections([*self._saved.connections(), connection])
        title = connection.title
        found = f"{title} works: {self._words(models)}." if models else f"{title} works."
        return found + self._unkept(kept), connection, models

    async def replace_key(self, info: ProviderInfo, connection: Connection, secrets: Mapping[str, str]) -> str:
        """Test other secrets; the old ones stay until the new ones work."""
        models = await self._ask(info, connection, secrets)
        kept = await self._keep(info, connection, secrets)
        await self._catalogue.forget(connection.connection_id)
        return f"The new key works: {self._words(models)}." + self._unkept(kept)

    async def edit(self, info: ProviderInfo, connection: Connection, fields: dict[str, str]) -> str:
        """Change what is given; a secret that is empty stays as it is."""
        given = {name: value for name in info.secrets if (value := fields.pop(name, "").strip())}
        title = fields.pop("name", "").strip()[:NAME_MAX] or connection.title
        address = fields.pop("base_url", connection.base_url).strip()
        options = {**connection.options, **{k: v.strip() for k, v in fields.items()}}
        wanted = replace(
            connection,
            title=title,
            base_url=address,
            options={k: v for k, v in options.items() if v},
            secret_name=connection.secret_name or (f"connection/{connection.connection_id}" if given else ""),
        )
        if replace(wanted, title="") == replace(connection, title="") and not given:
            await self._replace(wanted)
            return f"It is called {title} now."
        kept = await self._kept_secrets(info, connection)
        _complete(info, {**fields, **options, "base_url": address, **kept, **given})
        wanted, models = await self._tried(info, wanted, {**kept, **given})
        saved = await self._keep(info, wanted, {**kept, **given})
        await self._catalogue.forget(connection.connection_id)
        await self._replace(wanted)
        return f"It works: {self._words(models)}." + self._unkept(saved)

    def _unkept(self, kept: bool) -> str:
        if kept:
            return ""
        return NOT_KEPT_YET if self._saved.keyring_waiting() else NOT_KEPT

    async def _kept_secrets(self, info: ProviderInfo, connection: Connection) -> dict[str, str]:
        names = info.secret_names(connection.secret_name)
        found = {field: await self._secrets.get(name) for field, name in names.items()}
        return {field: value for field, value in found.items() if value}

    async def _replace(self, wanted: Connection) -> None:
        same, now = wanted.connection_id, self._saved.connections()
        await self._saved.keep_connections([wanted if c.connection_id == same else c for c in now])

    async def _tried(
        self, info: ProviderInfo, connection: Connection, secrets: Mapping[str, str]
    ) -> tuple[Connection, list[Found]]:
        """The connection with the address that answered, and its models. Raises what is wrong with the likeliest one;
        a key that is refused is not taken elsewhere."""
        first: KnownError | None = None
        for address in self._catalogue.addresses_to_try(info.provider, connection.base_url):
            tried = replace(connection, base_url=address)
            try:
                return tried, await self._ask(info, tried, secrets)
            except KnownError as error:
                first = first or error
                if error.code not in _ABOUT_ADDRESS:
                    raise
        raise first or KnownError("There is no address to try.")

    async def _ask(self, info: ProviderInfo, connection: Connection, secrets: Mapping[str, str]) -> list[Found]:
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

    def _new_connection(
        self, info: ProviderInfo, fields: Mapping[str, str], has_key: bool, title: str = ""
    ) -> Connection:
        taken = {c.connection_id for c in self._saved.connections()}
        name = next(n for n in (info.provider, *(f"{info.provider}-{i}" for i in range(2, 10_000))) if n not in taken)
        options = {k: v.strip() for k, v in fields.items() if k != "base_url" and v.strip()}
        usual = info.title if name == info.provider else f"{info.title} {name.rpartition('-')[2]}"
        return Connection(
            connection_id=name,
            provider=info.provider,
            title=title[:NAME_MAX] or usual,
            base_url=fields.get("base_url", "").strip(),
            secret_name=f"connection/{name}" if has_key else "",
            options=options,
        )


class FieldProblem(KnownError):
    """Something is wrong with one field."""

    def __init__(self, field: str, message: str, next_step: str) -> None:
        super().__init__(message, next_step=next_step)
        self.field = field


def wrong_field(error: KnownError, info: ProviderInfo | None) -> str:
    """The field that a test's failure is about, or ""."""
    if isinstance(error, FieldProblem):
        return error.field
    if info is None:
        return ""
    if error.code in _ABOUT_KEY:
        return info.secrets[0]
    return "base_url" if error.code in _ABOUT_ADDRESS and "base_url" in info.needs else ""


def _complete(info: ProviderInfo, fields: Mapping[str, str]) -> None:
    """Raises KnownError for the first thing that the provider needs and nobody has filled in."""
    missing = next((name for name in info.needs if not name.endswith("?") and not fields.get(name, "").strip()), "")
    if missing == "key":
        raise FieldProblem("key", "There is no key yet.", f"Paste the key that {info.title} gave you.")
    if fields.get("base_url", "") and not _plain_address(fields["base_url"].strip()):
        raise FieldProblem(
            "base_url",
            "The address holds a key or a password.",
            "Take it out there, and put it into the field for keys.",
        )
    if missing:
        raise FieldProblem(missing, f"The {_WORDS.get(missing, missing)} is missing.", f"{info.title} needs it.")


def _plain_address(address: str) -> bool:
    """No name, password or key in it: addresses are kept in config.yaml, and quoted in errors."""
    try:
        parts = urllib.parse.urlsplit(address)
        return "@" not in parts.netloc and not parts.query and not parts.fragment and scrub(address) == address
    except ValueError:
        return False


_WORDS = {
    "base_url": "address",
    "api_version": "API version",
    "access_key_id": "access key ID",
    "secret_access_key": "secret access key",
}
