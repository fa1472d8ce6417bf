"""The search services that a person has connected: their own SearXNG, or Brave, Tavily, Exa with a key.

A key is read from the keyring for each search and goes to the child with it; it is in no attribute, log or error text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from desktop.domain.errors import ChildDied, KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection, ProviderInfo, SecretStore
from desktop.domain.processes import Child, ChildRefused
from desktop.domain.web.addresses import BadWebAddress, WebAddress, read_address
from desktop.domain.web.nearness import Nearness, is_local_address

SEARXNG = "searxng"
SERVICES: tuple[ProviderInfo, ...] = (
    ProviderInfo(SEARXNG, "SearXNG", ("base_url",), locality="local", address="http://127.0.0.1:8888"),
    ProviderInfo("brave-search", "Brave Search", ("key",), "api-dashboard.search.brave.com"),
    ProviderInfo("tavily-search", "Tavily", ("key",), "app.tavily.com"),
    ProviderInfo("exa-search", "Exa", ("key",), "dashboard.exa.ai/api-keys"),
)
"""The kinds, with what a person fills in."""
_HOMES: Mapping[str, str] = {
    "brave-search": "https://api.search.brave.com/res/v1/web/search",
    "tavily-search": "https://api.tavily.com/search",
    "exa-search": "https://api.exa.ai/search",
}
_BY_NAME = {info.provider: info for info in SERVICES}
DEADLINE_S = 45.0
"""Seconds after which the child is not waited for: it has limits of its own, all of them shorter."""
TRIED = "weather"
"""What is searched for when a person tests a connection."""
_SETTINGS = "Settings, Web search"
_JSON = "Whoever runs it adds json to search.formats in its settings.yml and starts it again."
_WORDS: Mapping[str, tuple[str, str]] = {
    "search.key": ("{title} does not accept this key{number}.{quote}", f"Replace it in {_SETTINGS}."),
    "search.plain": ("The key of {title} is not sent to {host}, which is not encrypted.", "Use https://."),
    "search.spent": ("The plan of this key at {title} is used up{number}.{quote}", "Look at the plan there."),
    "search.rate_limited": ("{title} has had too many searches{number}.{quote}", "{wait}"),
    "search.no_json": ("{title} at {host} does not give results as JSON{number}.", _JSON),
    "search.signed_in": ("{title} at {host} asks for a sign-in{number}, which Assent cannot do there.", ""),
    "search.redirected": (
        "{title} sends requests on to {said}, which was not followed.",
        "If that is the right place, make it the address.",
    ),
    "search.unreadable": ("The answer of {title} cannot be used: {said}.", "Check its address."),
    "search.server": ("{title} failed on its side{number}.{quote}", "Try again in a moment."),
    "search.refused": ("{title} refused the search{number}.{quote}", "Try other words."),
    "search.address": ("The address of {title} cannot be used. {said}", f"Change it in {_SETTINGS}."),
    "web.unreachable": ("{title} at {host} cannot be reached.", "Check that it runs, and its address."),
    "web.unknown_host": ("There is no host {host}, or no network.", "Check the address of {title}."),
    "web.slow": ("{title} did not answer in time.", "Try again."),
}
"""By the code of the child: what happened, and the next step."""


class SearchFailed(KnownError):
    """A search that did not work; the text says why and what to do."""

    code = "search.failed"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result as the service gave it, cleaned."""

    title: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a search found. ``odd`` results led to no page of the web, ``silent`` engines of a SearXNG said nothing."""

    rows: tuple[SearchResult, ...]
    odd: int = 0
    silent: int = 0


def service_info(kind: str) -> ProviderInfo:
    """What is known of a kind of service."""
    return _BY_NAME.get(kind) or ProviderInfo(kind, kind)


def address_of(connection: Connection) -> WebAddress:
    """Where a service is asked. Raises BadWebAddress."""
    return read_address(connection.base_url or _HOMES.get(connection.provider, ""))


class SearchServices:
    """Asks them through ``child``. ``connections`` are those that the person made, the first is the one in use;
    ``own_hosts`` the hosts of their network that they named beside."""

    def __init__(
        self,
        child: Child,
        secrets: SecretStore,
        connections: Callable[[], Sequence[Connection]],
        own_hosts: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._child = child
        self._secrets = secrets
        self._connections = connections
        self._own_hosts = own_hosts
        self.problems: Mapping[str, KnownError] = {}

    @property
    def in_use(self) -> Connection | None:
        """The service that searches go to."""
        known = (one for one in self._connections() if one.provider in _BY_NAME)
        return next(known, None)

    def providers(self) -> tuple[ProviderInfo, ...]:
        """The kinds of services."""
        return SERVICES

    def addresses_to_try(self, provider: str, address: str) -> Sequence[str]:
        """What a typed address may mean, the likeliest first: in one's own network nobody has certificates."""
        address = address.strip().rstrip("/").removesuffix("/search")
        if "://" in address or not address:
            return (address,)
        schemes = ("http", "https") if is_local_address(f"//{address}") else ("https", "http")
        return [f"{scheme}://{address}" for scheme in schemes]

    async def test(
        self, connection: Connection, key: str, more: Mapping[str, str] | None = None
    ) -> Sequence[SearchResult]:
        """Search once with this key. Raises SearchFailed."""
        return (await self._asked(connection, key, TRIED, 3)).rows

    async def test_saved(self, connection_id: str) -> Sequence[SearchResult]:
        """The same with what is kept."""
        found = next((one for one in self._connections() if one.connection_id == connection_id), None)
        if found is None:
            raise SearchFailed(f"There is no search service named {connection_id}.")
        return (await self.search(found, TRIED, 3)).rows

    async def forget(self, connection_id: str) -> None:
        """A connection or its key changed: nothing of it is kept here."""

    async def search(self, connection: Connection, query: str, count: int) -> SearchResults:
        """Search with the key from the keyring. Raises SearchFailed, and SecretsUnavailable."""
        key = await self._secrets.get(connection.secret_name) if connection.secret_name else ""
        if key is None:
            title = connection.title
            raise SearchFailed(
                f"The key of {title} is missing.", next_step=f"Enter it in {_SETTINGS}.", code="search.key"
            )
        return await self._asked(connection, key, query, count)

    async def _asked(self, connection: Connection, key: str, query: str, count: int) -> SearchResults:
        try:
            address = address_of(connection)
        except BadWebAddress as error:
            raise _failed(connection, "", "search.address", {"said": str(error)}) from None
        wrote_it = [address.host] if connection.base_url else []
        asked = {
            "service": connection.provider,
            "url": address.text,
            "key": key,
            "query": query,
            "count": count,
            "allowed": [*wrote_it, *self._own_hosts()],
        }
        try:
            found = await self._child.call("search", asked, timeout=DEADLINE_S)
        except ChildRefused as error:
            said = {**error.data, "said": error.data.get("said") or str(error)}
            raise _failed(connection, address.host, error.code, said) from None
        except TimeoutError:
            raise _failed(connection, address.host, "web.slow", {}) from None
        except ChildDied:
            raise SearchFailed(
                "The process that searches ended before the results came.", next_step="Try again."
            ) from None
        return _read(found)


def _read(found: Any) -> SearchResults:
    rows = tuple(SearchResult(str(row["title"]), str(row["url"]), str(row["text"])) for row in found["results"])
    return SearchResults(rows, int(found["odd"]), int(found["silent"]))


def _failed(connection: Connection, host: str, code: str, data: Mapping[str, Any]) -> SearchFailed:
    """What a code of the child means, for a person."""
    said, wait = str(data.get("said") or ""), data.get("retry_after")
    if code not in _WORDS:  # such as an address that leads inside: the child's own sentence
        return SearchFailed(said or f"{connection.title} could not be asked.", code=code)
    sentence, step = _WORDS[code]
    words = {
        "title": connection.title or service_info(connection.provider).title,
        "host": host,
        "said": said,
        "number": f" ({status})" if isinstance(status := data.get("status"), int) else "",
        "quote": f" It says: {said}" if said else "",
        "wait": f"It asks to wait {wait:,} s." if isinstance(wait, int) else "Wait a moment, then try again.",
    }
    return SearchFailed(sentence.format(**words), next_step=step.format(**words), code=code)


def is_own(connection: Connection) -> bool:
    """Whether its address says that it lies in the person's own network."""
    try:
        return address_of(connection).near not in (None, Nearness.PUBLIC)
    except BadWebAddress:
        return False
