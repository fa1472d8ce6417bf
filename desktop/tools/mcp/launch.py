"""How a server is started: its command confined as every other tool, its keys looked up, what it is offered."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from desktop.domain.errors import ToolFailure
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, ProcessSpec, SafetySettings
from desktop.tools.mcp.definitions import McpDefinition
from desktop.tools.mcp.fetching import FetchWatch, StartWatch, fetch_variables, fetcher_of
from desktop.tools.mcp.headers import headers_of
from desktop.tools.mcp.services import CACHE, McpServices

GREETING_S = 180.0
"""Until the first answer: npx and uvx fetch what they run at the first start."""
_ON_THE_NET = "It runs elsewhere: nothing on this computer holds what it does with these arguments."


@dataclass(frozen=True, slots=True)
class ServerConfinement:
    """How it was started: the settings then, the sentence for a person ("": it is not known yet), and why its calls are
    admin whatever was configured (its program can be changed by agents), or ""."""

    settings: tuple[Any, ...] = ()
    sentence: str = ""
    kind: str = ""
    network: bool = True
    weak: str = ""


class ServerLaunch:
    """Prepares the starts of one server; ``refused`` are the folders that it was not offered the last time."""

    def __init__(self, definition: McpDefinition, services: McpServices) -> None:
        self._definition, self._services = definition, services
        self.refused: tuple[str, ...] = ()

    @property
    def caller(self) -> str:
        """The name by which the keyring knows that this server wants a value."""
        return f"mcp-{self._definition.name}"

    @property
    def cache(self) -> str:
        """The name of the server's cache. It names the command, too: another program under the server's name does not
        find what this one fetched."""
        definition = self._definition
        return f"{CACHE}{definition.name} {definition.command} {' '.join(definition.args)}"

    @property
    def elsewhere(self) -> ServerConfinement:
        """What confines a server at an address: nothing here."""
        return ServerConfinement(self.settings, _ON_THE_NET)

    @property
    def settings(self) -> tuple[Any, ...]:
        """What of the settings it would be bound by now."""
        return confinement_settings(self._services.settings())

    @property
    def network(self) -> bool:
        """Whether the program has the network: as it says, else as commands have it."""
        chosen = self._definition.network
        return self._services.settings().shell_network == "always" if chosen is None else chosen

    def watch(self, changed: Callable[[], None]) -> StartWatch:
        """What explains a start of it."""
        fetcher = fetcher_of(self._definition.command, self._definition.args)
        return StartWatch(FetchWatch(fetcher, network=self.network) if fetcher is not None else None, changed)

    async def prepared(self) -> tuple[dict[str, Any], ServerConfinement]:
        """(what the MCP host needs to start it, what confines it). Raises KnownError: a variable, a program or a
        folder is not there."""
        definition, services = self._definition, self._services
        base: dict[str, Any] = {"timeout": GREETING_S, "elicitation": list(services.elicitation)}
        if definition.url:
            environment = services.environment
            headers, secrets = await headers_of(definition.headers, definition.bearer, environment, self.caller)
            return {**base, "url": definition.url, "headers": headers, "secrets": secrets}, self.elsewhere
        made = await services.environment.build(definition.env, admin=True, tool=self.caller)
        if (fetcher := fetcher_of(definition.command, definition.args)) is not None:
            made |= fetch_variables(fetcher, network=self.network, present=made)
        spec, confined, roots = await asyncio.to_thread(self._confined, made)
        return {**base, "argv": list(spec.argv), "cwd": spec.cwd, "env": dict(spec.env), "roots": roots}, confined

    def _confined(self, environment: dict[str, str]) -> tuple[ProcessSpec, ServerConfinement, list[dict[str, str]]]:
        """The command confined as shell commands are (C-33). Blocks; raises ToolFailure."""
        definition, services = self._definition, self._services
        settings = services.settings()
        place = services.policy.explain(os.path.expanduser(definition.cwd) or settings.workspace, Access.LIST)
        if not place.allowed:
            raise ToolFailure(place.sentence, code="denied.boundary")
        folders = environment.get("PATH", os.defpath).split(os.pathsep)
        path = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))
        program = shutil.which(os.path.expanduser(definition.command), path=path or os.defpath)
        if program is None:
            raise ToolFailure(
                f"{definition.command} was not found on the tool PATH.",
                code="tool.absent",
                next_step="Install it, or correct command in mcp.yaml.",
            )
        plain_spec = ProcessSpec((program, *definition.args), place.resolved, environment)
        spec = services.confinement.wrap(plain_spec, network=definition.network, cache=self.cache)
        report = services.confinement.probe()
        network = self.network
        said = "" if report.kind == "none" else f" The network is {'on' if network else 'off'}."
        weak = self._weak(place.resolved, program)
        sentence = report.sentence + said
        confined = ServerConfinement(confinement_settings(settings), sentence, report.kind, network, weak)
        return services.hold(spec), confined, self._roots()

    def _roots(self) -> list[dict[str, str]]:
        """The folders that it is offered: those of its ``roots`` that tools may list."""
        places = [self._services.policy.explain(os.path.expanduser(one), Access.LIST) for one in self._definition.roots]
        self.refused = tuple(place.sentence for place in places if not place.allowed)
        folders = [Path(place.resolved) for place in places if place.allowed]
        return [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]

    def _weak(self, folder: str, program: str) -> str:
        """Whether an agent can change what it runs: then its calls are admin, whatever was configured."""
        words = [program, *(os.path.join(folder, os.path.expanduser(word)) for word in self._definition.args)]
        for path in words:
            if os.path.isfile(path) and self._services.policy.explain(path, Access.WRITE).allowed:
                return f"{path} lies where the agent itself can write"
        return ""


def confinement_settings(settings: SafetySettings) -> tuple[Any, ...]:
    """What of the settings a started process is bound by."""
    return (
        settings.workspace,
        settings.allowed,
        settings.denied,
        settings.granted,
        settings.environment_allowlist,
        settings.shell_network,
    )
