"""Search services that a person has connected: the first is the one that agents search with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from desktop.domain.models import SecretStore
from desktop.domain.text.words import count_words
from desktop.presenter.settings.connections.page import ConnectionsViewModel
from desktop.presenter.settings.connections.trials import Saved

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.tools.builtin.search_services import SearchResult, SearchServices


class SearchesViewModel(ConnectionsViewModel["SearchResult"]):
    """The page *Web search* of the settings."""

    def __init__(self, services: SearchServices, secrets: SecretStore, bridge: Bridge, saved: Saved) -> None:
        super().__init__(services, secrets, bridge, saved, found_results)

    @property
    def in_use(self) -> str:
        """The id of the service that agents search with, or ""."""
        return next((one.connection_id for one in self.connections), "")

    def use(self, connection_id: str) -> None:
        """Search with this one from now on."""
        self._bridge.spawn(self._use(connection_id), name="choose search service")

    async def _use(self, connection_id: str) -> None:
        chosen = self._find(connection_id)
        if chosen is not None:
            rest = [one for one in self.connections if one.connection_id != connection_id]
            await self._saved.keep_connections([chosen, *rest])
            self.changed.emit()


def found_results(results: Sequence[SearchResult]) -> str:
    """What a test found, in words."""
    return count_words(len(results), "result") if results else "it answered, and found nothing"
