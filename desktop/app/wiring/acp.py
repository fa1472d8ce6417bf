"""The agents of other makers in the running app: what they are started with, and the two tools that ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.files.work_place import WorkPlace
from desktop.domain.tools import StandsFor
from desktop.pipeline.gates import judged_as
from desktop.safety.confinement.output import upright
from desktop.safety.confinement.process import held
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.definitions.book import AgentBook
from desktop.services.definitions.others import definitions_of
from desktop.settings import SettingsService
from desktop.supervision.tasks import TaskOwner
from desktop.tools.acp.agents import AcpAgents
from desktop.tools.acp.asks import AgentAsks, AgentDid, OpenRequests
from desktop.tools.acp.services import AcpServices, AcpStore
from desktop.tools.acp.sessions import AcpSessions
from desktop.tools.cli.services import CliServices
from desktop.tools.registry import ToolRegistry
from desktop.workers.acp_child import acp_host


def other_agents(
    registry: ToolRegistry,
    cli: CliServices,
    owner: TaskOwner,
    store: AcpStore,
    redactor: SecretRedactor,
    book: AgentBook,
    settings: SettingsService,
) -> AcpSessions:
    """The agents of other makers; what a person agreed to is read in the background, and no agent starts before a chat
    needs it."""
    requests = OpenRequests()

    async def judge(tool: str, arguments: Mapping[str, Any], place: WorkPlace) -> StandsFor | None:
        found = registry.find(tool)
        return await judged_as(found, arguments, place) if found is not None else None

    registry.register(AgentAsks(cli.policy, cli.confinement, judge, requests))
    registry.register(AgentDid(cli.confinement))
    services = AcpServices(
        child=acp_host(secrets=redactor.values),
        policy=cli.policy,
        confinement=cli.confinement,
        environment=cli.environment,
        settings=cli.settings,
        hold=held,
        spawn=owner.spawn,
        redactor=redactor,
        clean=upright,
        store=store,
        requests=requests,
    )
    agents = AcpAgents(services)
    agents.on_change(lambda: book.put_others(definitions_of(agents.rows)))
    owner.spawn(agents.open(), "agents of other makers: found")
    sessions = AcpSessions(agents)
    settings.subscribe(lambda _settings, keys: sessions.recheck() if any(map(_binds, keys)) else None)
    return sessions


def _binds(key: str) -> bool:
    """Whether a setting is one that an agent is started under."""
    return key.startswith(("security.", "tools."))
