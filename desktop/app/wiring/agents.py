"""The agents of the running app: their folders, kept current in the background, their tools, and their editor."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.agents.skill.offers import Offers
from desktop.app.wiring.cli_tools import reserved_by
from desktop.app.wiring.skills import PinFile
from desktop.domain.definitions import AgentDefinition
from desktop.domain.errors import BugError, KnownError
from desktop.domain.loading.lazy import lazy_module, load
from desktop.domain.runs.limits import USUAL_ROUNDS, Limit
from desktop.domain.tools import ToolCallContext, ToolResult
from desktop.recovery.resume import conclude_settled
from desktop.services.agents.editing import AgentService
from desktop.services.chats.service import ConversationService
from desktop.services.definitions.book import AgentFiles, AgentFolder
from desktop.services.delegation.retention import forget_children, forget_deleted
from desktop.services.delegation.tools import AgentTools
from desktop.services.skills.world import SkillWorld
from desktop.services.turns.runtime import THREAD_LIMIT, Runtime
from desktop.settings import SettingsService
from desktop.skills.catalogue.pins import Pins
from desktop.skills.catalogue.watch import FolderWatch
from desktop.supervision.tasks import TaskOwner
from desktop.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from desktop.services.debates import calls as debates_calls
    from desktop.services.delegation import calls as delegation_calls
    from desktop.services.delegation.calls import AgentCalls
else:
    debates_calls = lazy_module("desktop.services.debates.calls")
    delegation_calls = lazy_module("desktop.services.delegation.calls")

FOLDER = "agents"
PINS = "agent-pins.json"
SETTLE_S = 5.0
"""Seconds to wait until the folders are watched."""
PROJECT_FOLDERS = (".agent/agents", ".agents/agents")
BOUNDS_ARE = "Settings, Chats"
"""Where a person finds what a run may use."""

_log = logging.getLogger(__name__)


def folders_of(settings: SettingsService, home: Path, library: Path) -> tuple[AgentFolder, ...]:
    """The person's own, the app's, those of trusted projects: a project takes no name away from either."""
    trusted = (os.path.expanduser(path) for path in settings.current.skills.trusted_projects)
    places = [os.path.join(path, *name.split("/")) for path in trusted for name in PROJECT_FOLDERS]
    projects = [AgentFolder(place, "project") for place in places]
    return (AgentFolder(str(home / FOLDER)), AgentFolder(str(library), "library"), *projects)


async def open_agents(settings: SettingsService, home: Path, library: Path) -> AgentFiles:
    """Read all definitions, in a thread."""

    def read() -> AgentFiles:
        pins = Pins(PinFile(home / "data" / PINS))
        files = AgentFiles(folders_of(settings, home, library), pins=pins)
        files.reload()
        return files

    return await asyncio.to_thread(read)


class _LazyCalls:
    """Stands for ``AgentCalls``, whose code is imported in a thread with the first call of an agent."""

    def __init__(self, make: Callable[[], AgentCalls]) -> None:
        self._make = make

    @cached_property
    def _calls(self) -> AgentCalls:
        return self._make()

    async def carry(self, agent: AgentDefinition, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """See ``AgentCalls.carry``."""
        await asyncio.to_thread(load, debates_calls)
        return await self._calls.carry(agent, args, context)


class AgentServices:
    """``begin`` once everything is there; ``close`` ends the watching. ``forgotten``: after threads are gone for
    good."""

    def __init__(
        self,
        files: AgentFiles,
        settings: SettingsService,
        registry: ToolRegistry,
        skills: SkillWorld,
        owner: TaskOwner,
        forgotten: Callable[[], Awaitable[None]],
    ) -> None:
        self.files = files
        self._folders: Callable[[], tuple[AgentFolder, ...]] = lambda: files.folders
        self._settings = settings
        self._registry = registry
        self._skills = skills
        self._owner = owner
        self._forgotten = forgotten
        self._lock = threading.Lock()
        self._watch: FolderWatch | None = None
        self._closed = False
        self._ends: list[Callable[[], None]] = []
        self.tools: AgentTools | None = None
        self._service: AgentService | None = None

    @property
    def service(self) -> AgentService:
        """The service behind the Agents page. Raises BugError before ``open``."""
        if self._service is None:
            raise BugError("the agents are not open yet")
        return self._service

    def open(self, runtime: Runtime, service: ConversationService, home: Path, library: Path) -> AgentServices:
        """Make the tools and the editor's service; what has to be read is read in the background."""
        self._folders = lambda: folders_of(self._settings, home, library)
        calls = _LazyCalls(
            lambda: delegation_calls.AgentCalls(
                lambda: runtime,
                self._owner,
                handover=service.hand_over,
                two_sides=debates_calls.CalledDebates(lambda: runtime),
                kept=lambda: self._settings.current.chat.agent_threads,
            )
        )
        self.tools = AgentTools(
            self.files.book, self._skills, self._registry, calls.carry, lambda name: reserved_by(self._skills, name)
        )
        self._service = AgentService(
            self.files,
            lambda: runtime,
            mine=home / FOLDER,
            trash=home / "data" / "deleted-agents",
            tool_problems=lambda: self.tools.problems if self.tools is not None else {},
            cycles=lambda: self.tools.cycles if self.tools is not None else {},
            changed=self.refresh,
        )
        self._ends.append(self._skills.fabric.on_change(lambda _changes: self.refresh()))
        self._settings.subscribe(self._settings_changed)
        self._owner.spawn(self._begin(runtime, time.time()), "agents: read and watch")
        return self

    async def _begin(self, runtime: Runtime, started: float) -> None:
        await asyncio.to_thread(self.refresh)
        await asyncio.to_thread(self._rewatch)
        try:
            await conclude_settled(runtime.store)
            await forget_children(runtime, before=started)
            await forget_deleted(runtime, now=started)
            await self._forgotten()
        except KnownError as error:
            _log.info("threads of earlier calls and deleted ones stay: %s", error.code)

    def refresh(self) -> None:
        """Put the agents that are there in force as tools. Blocks."""
        if self.tools is not None and not self._closed:
            self.tools.refresh()

    def _changed(self, _paths: frozenset[str] | None) -> None:
        if self._closed:
            return
        self.files.reload()
        self.refresh()

    def _settings_changed(self, _settings: object, keys: frozenset[str]) -> None:
        if "skills.trusted_projects" in keys:
            self._owner.spawn(asyncio.to_thread(self._other_folders), "agents: other folders")

    def _other_folders(self) -> None:
        self.files.set_folders(self._folders())
        self.refresh()
        self._rewatch()

    def _rewatch(self) -> None:
        with self._lock:
            if self._watch is not None:
                self._watch.stop()
            self._watch = None
            if not self._closed:
                self._watch = FolderWatch([folder.path for folder in self.files.folders], self._changed)
                self._watch.start()
                self._watch.wait_settled(SETTLE_S)
        self._changed(None)  # what came before anybody watched

    def close(self) -> None:
        """Stop watching the folders. Blocks for a moment."""
        self._closed = True
        for end in self._ends:
            end()
        with self._lock:
            if self._watch is not None:
                self._watch.stop()


def usual_rounds(settings: SettingsService) -> Limit:
    """The limit on the rounds of an answer whose agent sets none."""
    key = "chat.max_iterations"
    chosen = Limit(USUAL_ROUNDS.name, settings.current.chat.max_iterations, BOUNDS_ARE)
    return chosen if settings.is_changed(key) else USUAL_ROUNDS


def thread_rounds(settings: SettingsService) -> Limit:
    """The limit on the rounds of a chat with all of its answers."""
    where = BOUNDS_ARE if settings.is_changed("limits.thread_rounds") else THREAD_LIMIT.where
    return Limit(THREAD_LIMIT.name, settings.current.limits.thread_rounds, where)


def offers(settings: SettingsService) -> Offers:
    """How much is offered to a model beside what its list names."""
    tools = settings.current.tools
    return Offers(tools.offered, tools.offered_share / 100)
