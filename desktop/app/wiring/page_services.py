"""Services that are made when their page is first shown: the reach explorer, and repositories of skills."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from desktop.app.wiring.boundary import safety_of
from desktop.app.wiring.services import Services
from desktop.app.wiring.skills import project_of, roots_of
from desktop.presenter.mcp.paste import PastedServer, read_pasted
from desktop.safety.boundary.reach import ProvenFiles, Prover
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.permission.audit import RedactedLog
from desktop.services.reach.service import ReachService, ReachServices
from desktop.services.skills.repositories.git import Git
from desktop.services.skills.repositories.service import SkillRepositories
from desktop.skills.repositories.offers import DeclaredServer
from desktop.skills.repositories.shelf import Shelf
from desktop.tools.mcp.entries import TakeBack, change_entries, declared_names
from desktop.tools.mcp.servers import McpServers

DECIDING = ("security.", "tools.bash.network", "tools.own_hosts", "web.search")
"""Settings on which depends what can be reached."""


def reach_service(services: Services) -> ReachService:
    """For the page of the boundary; reads nothing yet."""
    safety = safety_of(services.settings, services.home, services.grants)

    def changes(listener: Callable[[], None]) -> Callable[[], None]:
        def told(_settings: object, keys: frozenset[str]) -> None:
            if any(key.startswith(DECIDING) for key in keys):
                listener()

        return services.settings.subscribe(told)

    return ReachService(
        ReachServices(
            policy=services.policy,
            settings=safety,
            rules=services.rules.book,
            agents=services.agents,
            skills=services.skills,
            confinement=services.confinement,
            log=RedactedLog(services.store.audit, services.redactor),
            activity=services.store.audit,
            prover=Prover(services.policy, ProvenFiles(services.policy), services.confinement, GroupRunner(), safety),
            changes=changes,
            search=lambda: services.searches.in_use,
            profile=lambda place: services.confinement.profile(place=place),
        )
    )


# -- repositories ------------------------------------------------------------------------------------------------------


class McpFile:
    """mcp.yaml as repositories use it: a ``ServerFile``."""

    def __init__(self, servers: McpServers) -> None:
        self._servers = servers

    def names(self) -> frozenset[str]:
        """The servers in it; while nothing of it can be read, those that are in force."""
        state = self._servers.state
        return declared_names(self._servers) or frozenset(one.definition.name for one in state.servers if state.kept)

    def change(self, add: Sequence[Mapping[str, object]], without: Iterable[str]) -> TakeBack:
        """Take some out, and add these at its end, switched off. Raises KnownError, and then changes nothing."""
        return change_entries(self._servers, [{**entry, "enabled": False} for entry in add], without)


def declared_servers(text: str) -> tuple[DeclaredServer, ...]:
    """The servers of a plugin's declaration, read as what a person pastes is."""
    return tuple(_declared(one) for one in read_pasted(text).servers)


def _declared(one: PastedServer) -> DeclaredServer:
    runs = " ".join((one.command, *one.args)) if one.command else one.url
    problem = ""
    if one.secrets:
        names = ", ".join(secret.name for secret in one.secrets[:5])
        problem = f"A secret stands in it ({names}). Add the server by hand in Settings, MCP servers."
    elif one.wants:
        names = ", ".join(one.wants[:5])
        problem = f"It wants secrets of your keyring ({names}). Add the server by hand in Settings, MCP servers."
    host = urlsplit(one.url).hostname if one.url else None
    apart, wanted = one.apart()
    return DeclaredServer(one.name, apart.entry(), runs, problem, (host,) if host else (), wanted)


def skill_repositories(services: Services) -> SkillRepositories:
    """For the Skills page; reads nothing yet."""
    fabric, settings = services.skills.fabric, services.settings
    library = next((root.path for root in fabric.roots if root.source == "library"), os.devnull)

    def follow() -> None:
        roots = roots_of(settings, services.home, Path(library))
        fabric.set_roots(roots, project=project_of(roots))

    return SkillRepositories(
        Shelf(services.home),
        services.skills,
        Git(services.confinement, GroupRunner(mask=services.redactor.mask_known)),
        McpFile(services.mcp),
        declared_servers,
        follow,
    )
