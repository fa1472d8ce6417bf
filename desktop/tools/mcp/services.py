"""What servers of mcp.yaml are made with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from desktop.domain.lazy_dataclass import dataclass
from desktop.domain.processes import Child
from desktop.domain.safety import Confinement, EnvironmentBuilder, PathPolicy, ProcessSpec, Redactor, SettingsProvider
from desktop.tools.mcp.pins import McpPins

if TYPE_CHECKING:
    from desktop.tools.mcp.offered import SchemaCheck

CACHE = "mcp-"
"""How the names of servers' caches begin."""

Spawn = Callable[[Coroutine[Any, Any, None], str], "asyncio.Task[None]"]


@dataclass(frozen=True, slots=True)
class McpServices:
    """What servers need of other rooms."""

    child: Child
    """The MCP host."""
    policy: PathPolicy
    """Judges paths."""
    confinement: Confinement
    """Confines the server."""
    environment: EnvironmentBuilder
    """Makes its environment."""
    settings: SettingsProvider
    """Reads the settings."""
    hold: Callable[[ProcessSpec], ProcessSpec]
    """Adds what ends a process with its parent where nothing else does."""
    check_schema: SchemaCheck
    """Checks the schemas of tools."""
    pins: McpPins
    """What a person has seen of tools."""
    spawn: Spawn
    """Starts an owned task."""
    redactor: Redactor
    """Takes secrets out of what servers say of themselves and their tools."""
    clean: Callable[[str], str]
    """Takes what steers a terminal, and turns text round, out of what they answer."""
    first_pause_s: float = 1.0
    """Seconds before a second start, doubled for each one after."""
    idle_s: float = 90.0
    """How long after the start leftovers are looked for, in seconds."""
