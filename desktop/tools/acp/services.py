"""What agents of other makers are run with, of other rooms."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.processes import Child
from desktop.domain.safety import Confinement, EnvironmentBuilder, PathPolicy, ProcessSpec, Redactor, SettingsProvider
from desktop.tools.acp.asks import OpenRequests

Spawn = Callable[[Coroutine[Any, Any, None], str], "asyncio.Task[None]"]


class AcpStore(Protocol):
    """Where small JSON values are kept."""

    def get(self, *, key: str, default: Any = None) -> Awaitable[Any]:
        """The value, or ``default``."""
        ...

    def put(self, *, key: str, value: Any) -> Awaitable[None]:
        """Store a value under a key."""
        ...


@dataclass(frozen=True, slots=True)
class AcpServices:
    """What agents of other makers need of other rooms."""

    child: Child
    """The ACP host."""
    policy: PathPolicy
    """Judges paths."""
    confinement: Confinement
    """Confines the agents."""
    environment: EnvironmentBuilder
    """Makes their environment."""
    settings: SettingsProvider
    """Reads the settings."""
    hold: Callable[[ProcessSpec], ProcessSpec]
    """Adds what ends a process with its parent where nothing else does."""
    spawn: Spawn
    """Starts an owned task."""
    redactor: Redactor
    """Takes secrets out of what agents say."""
    clean: Callable[[str], str]
    """Takes what steers a terminal, and turns text round, out of it."""
    store: AcpStore
    """Keeps what a person agreed to, and which session a chat has."""
    requests: OpenRequests
    """The agents' requests for permission that are not taken back."""
