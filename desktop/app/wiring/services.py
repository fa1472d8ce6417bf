"""What the view-models need of the runtime, as one record. ``runtime`` makes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.app.wiring.agents import AgentServices
from desktop.app.wiring.code import CodeSandbox
from desktop.app.wiring.rules import RuleServices
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.processes import Child
from desktop.domain.safety import ConfinementReport
from desktop.models.client import ModelServices
from desktop.safety.boundary.opening import BoundaryFiles
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.boundary.session_grants import SessionGrants
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.secrets.keyring import KeyringSecrets
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.safety.secrets.tool_secrets import ToolSecrets
from desktop.services.changes.service import ChangesService
from desktop.services.chats.inboxes import Inboxes
from desktop.services.chats.service import ConversationService
from desktop.services.chats.traces import TraceService
from desktop.services.chats.tree_actions import RunTreeService
from desktop.services.debates.service import DebateService
from desktop.services.definitions.book import AgentBook
from desktop.services.documents.service import DocumentService
from desktop.services.fences.service import FenceService
from desktop.services.local_servers.service import LocalServerService
from desktop.services.outside.calls import OutsideCalls
from desktop.services.projects.service import ProjectService
from desktop.services.results.service import ResultService
from desktop.services.schedules.service import JobService
from desktop.services.skills.world import SkillWorld
from desktop.services.threads.context import ContextService
from desktop.services.threads.modes import ThreadModes
from desktop.services.turns.agent_choices import Efforts, ToolModes
from desktop.services.turns.known_windows import KnownWindows
from desktop.services.turns.token_scales import TokenScales
from desktop.settings import SettingsService
from desktop.skills.catalogue.watch import FolderWatch
from desktop.store import Store
from desktop.supervision.askers import Askers
from desktop.supervision.bus import Bus
from desktop.supervision.tasks import TaskOwner
from desktop.tools.acp.sessions import AcpSessions
from desktop.tools.builtin.search_services import SearchServices
from desktop.tools.cli.tools import CliTools
from desktop.tools.mcp.servers import McpServers
from desktop.tools.pictures.reader import PictureReader
from desktop.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from desktop.services.skills.editing import SkillService


@dataclass(frozen=True, kw_only=True)
class Services:
    """What the view-models need of the runtime."""

    home: Path
    """The app's home folder."""
    settings: SettingsService
    """The settings, read and changed."""
    store: Store
    """The database."""
    bus: Bus
    """Publishes the events of runs."""
    owner: TaskOwner
    """Owns the tasks of runs."""
    secrets: KeyringSecrets
    """The keyring's secrets."""
    tool_secrets: ToolSecrets
    """The entries of the keyring that tools may have."""
    redactor: SecretRedactor
    """Takes known secrets out of texts."""
    confinement: SystemConfinement
    """Confines processes."""
    policy: BoundaryPolicy
    """Judges paths by the boundary."""
    files: BoundaryFiles
    """Opens files inside the boundary."""
    tools: ToolRegistry
    """The registry of tools."""
    cli: CliTools
    """The tools of tools.yaml."""
    mcp: McpServers
    """The servers of mcp.yaml."""
    others: AcpSessions
    """The agents of other makers."""
    person_files: FolderWatch
    """Follows config.yaml, tools.yaml and mcp.yaml on the disk."""
    child: Child
    """The model host."""
    search: Child
    """The process that searches trees."""
    web: Child
    """The process that reads pages of the web, and searches."""
    searches: SearchServices
    """What agents search the web with."""
    fences: FenceService
    """Colours of code, and drawings."""
    code: CodeSandbox
    """The sandbox of code that models write."""
    modes: ToolModes
    """How each agent calls its tools."""
    efforts: Efforts
    """How much the model of each agent thinks."""
    thread_modes: ThreadModes
    """Whether calls of a thread ask each time, or only at the edge of its folder."""
    windows: KnownWindows
    """The known context windows of models."""
    token_scales: TokenScales
    """How many of each model's tokens an estimated one is."""
    models: ModelServices
    """The model client, the catalogue and the connections."""
    local_servers: LocalServerService
    """Model servers of this computer that are started from here."""
    agents: AgentBook
    """The agent definitions in force."""
    agent_services: AgentServices
    """Reads, watches and edits agent definitions."""
    skills: SkillWorld
    """The skills."""
    gate: PermissionGate
    """Decides on calls, or asks a person."""
    askers: Askers
    """Threads whose questions a program outside answers."""
    grants: SessionGrants
    """Folders opened for this session."""
    rules: RuleServices
    """The rule book and the service of its page."""
    chats: ConversationService
    """Chats."""
    projects: ProjectService
    """The folders that chats work in."""
    inboxes: Inboxes
    """The inboxes of persistent agents at work."""
    debates: DebateService
    """Debates."""
    traces: TraceService
    """The traces of runs."""
    jobs: JobService
    """Scheduled jobs."""
    context: ContextService
    """Pins and summaries of threads."""
    results: ResultService
    """What calls of a chat wrote, as they wrote it."""
    documents: DocumentService
    """Documents that people attached."""
    pictures: PictureReader
    """Opens pictures, each in a process of its own."""
    changes: ChangesService
    """What calls changed of files, and undoing it."""
    run_trees: RunTreeService
    """The agents of runs, for the Run panel."""
    outside: OutsideCalls
    """What other programs may call."""
    make_skill_service: Callable[[], SkillService]
    """Makes the service of the Skills page, when it is first needed."""

    @cached_property
    def skill_service(self) -> SkillService:
        """Where skills are made, changed and tried; its code is imported when it is first asked for."""
        return self.make_skill_service()

    async def confinement_report(self) -> ConfinementReport:
        """What holds shell commands on this machine; probed once, in a thread."""
        return await asyncio.to_thread(self.confinement.probe)

    async def stop_children(self) -> None:
        """End the processes that outlive a call."""
        await asyncio.gather(
            self.child.stop(),
            self.local_servers.close(),
            self.search.stop(),
            self.web.stop(),
            self.fences.stop(),
            self.mcp.close(),
            self.others.close(),
            self.secrets.close(),
            self.code.close(),
        )

    async def close(self) -> None:
        """After the runs are over: write and close the database."""
        await asyncio.to_thread(self.person_files.stop)
        await self.owner.close()
        await asyncio.to_thread(self.agent_services.close)
        await asyncio.to_thread(self.skills.close)
        await self.rules.book.flush()
        await self.store.close()
        await asyncio.to_thread(self.confinement.close)
