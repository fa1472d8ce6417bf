"""Which model client answers: the demo model, a script, or the model host; and where connections are looked up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

from desktop.domain.models import Connection, LocalServer, ModelClient, ModelRequest, StreamItem
from desktop.domain.runs.meta import RunMeta
from desktop.models.providers import DEMO, SCRIPTED, LocalAddresses


class Connections:
    """The person's connections, and one under its kind's name for each local server, where it was found."""

    def __init__(self, saved: Callable[[], Sequence[Connection]], addresses: LocalAddresses) -> None:
        self._saved = saved
        self._local = {c.connection_id: c for c in addresses.connections()}
        self.addresses = addresses

    def saved(self) -> tuple[Connection, ...]:
        """The person's connections as they are now."""
        return tuple(self._saved())

    def find(self, connection_id: str) -> Connection | None:
        """A saved one first, then a local server's."""
        for connection in self._saved():
            if connection.connection_id == connection_id:
                return connection
        return self._local.get(connection_id)

    def found(self, server: LocalServer) -> None:
        """Remember where a local server answered."""
        known = self._local.get(server.kind)
        if known is not None and server.running:
            self._local[server.kind] = replace(known, base_url=server.base_url)

    def look_first(self, kind: str, base: str) -> None:
        """Look for a kind of server there before its usual places."""
        known = self.addresses.addresses
        others = tuple(one for one in known.get(kind, ()) if one != base)
        self.addresses = LocalAddresses({**known, kind: (base, *others)})


class ModelRouter:
    """Implements ``ModelClient`` by handing each request to the client of its connection."""

    def __init__(self, host: ModelClient, demo: ModelClient, scripted: ModelClient | None = None) -> None:
        self._host = host
        self._special: dict[str, ModelClient] = {DEMO: demo}
        if scripted is not None:
            self._special[SCRIPTED] = scripted

    @property
    def special(self) -> frozenset[str]:
        """The connections that need no set-up."""
        return frozenset(self._special)

    def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncIterator[StreamItem]:
        return self._special.get(request.model.connection_id, self._host).stream(request, meta)
