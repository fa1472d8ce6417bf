"""The boundary of the running app, as the settings draw it, and the tools that live inside it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from desktop.app.wiring.keys import KeyServices
from desktop.domain.approval.rule_book import RuleBook
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import SafetySettings
from desktop.domain.web.proxies import proxies_of
from desktop.safety.boundary.consents import Consents
from desktop.safety.boundary.opening import BoundaryFiles
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.boundary.searching import BoundarySearch
from desktop.safety.boundary.session_grants import SessionGrants
from desktop.safety.changes.apply import JournaledApplier
from desktop.safety.confinement.environment import AllowlistEnvironment
from desktop.safety.confinement.memory_limit import limit_of
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.program_cache import FOLDER as CACHES
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.confinement.shut_in import code_sandbox_profile, drawing_profile, launcher_file
from desktop.safety.outcomes.here import FOLDER as COPIES
from desktop.safety.outcomes.here import Copies
from desktop.safety.secrets.key_files import holds_keys
from desktop.safety.shell.lazy import LazyShellReader
from desktop.services.changes.reads import ReadsKeeper
from desktop.services.changes.recording import Keeping, KeepingRecorder, KeepLimits, Spawn
from desktop.services.results.reading import ResultReader
from desktop.services.results.service import ResultService
from desktop.services.skills.files import FilesWithSkills
from desktop.services.skills.world import SkillWorld
from desktop.settings import SettingsService
from desktop.store import Store
from desktop.tools.builtin.edit_file import EditFile
from desktop.tools.builtin.edits.versions import ReadVersions
from desktop.tools.builtin.files import ListDirectory, ReadFile, WriteFile
from desktop.tools.builtin.finding import FindFiles, FindText
from desktop.tools.builtin.rehearsals import CommandsInCopies
from desktop.tools.builtin.search_services import SearchServices
from desktop.tools.builtin.shell import Bash
from desktop.tools.builtin.web_fetch import WebFetch
from desktop.tools.builtin.web_search import WebSearch
from desktop.tools.cli.services import CliServices
from desktop.tools.documents.reader import DocumentReader
from desktop.tools.pictures.reader import PictureReader
from desktop.tools.registry import ToolRegistry
from desktop.workers.child import ChildProcess
from desktop.workers.document_child import document_host, result_host
from desktop.workers.file_search_child import file_search
from desktop.workers.picture_child import picture_host
from desktop.workers.web_child import web_host

CHANGES = "data/changes"
"""Where in the home the journals of changes are."""


def safety_of(settings: SettingsService, home: Path, grants: SessionGrants) -> Callable[[], SafetySettings]:
    """The settings as safety reads them, anew at each call (R-FS-12), with the folders opened for this session."""

    def now() -> SafetySettings:
        at = settings.current
        return SafetySettings(
            workspace=str(home / "workspace"),
            allowed=at.security.allowed_paths,
            denied=at.security.denied_paths,
            granted=grants.folders,
            tool_timeouts=dict(at.tools.timeouts),
            environment_allowlist=at.tools.env_allowlist,
            tool_timeout_s=at.tools.bash.timeout_s,
            output_limit=at.tools.output_limit_bytes,
            memory_limit=limit_of(at.tools.memory_gb),
            relax_plain_rm=at.security.rm_without_recursion == "ask",
            blocked_patterns=at.security.blocklist_extra,
            auto_approve_workspace_writes=at.security.auto_approve_workspace_writes,
            auto_approve_reading_commands=at.security.auto_approve_reading_commands,
            shell_network=at.tools.bash.network,
            bash_path=at.tools.bash.path,
            commands_first=at.tools.commands_first,
            approval_timeout_s=at.security.approval_timeout_s or None,
            own_hosts=tuple(host.strip().lower() for host in at.tools.own_hosts),
        )

    return now


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """How much of changed files is kept, as the settings say it now."""

    settings: SettingsService

    @property
    def most_bytes(self) -> int:
        """Bytes on the disk that it may take."""
        return self.settings.current.changes.keep_mb * 1_000_000

    @property
    def keep_s(self) -> float:
        """Seconds for which it is kept."""
        return self.settings.current.changes.keep_days * 86_400.0


@dataclass(frozen=True, slots=True)
class BoundaryServices:
    """The boundary with the tools that live inside it."""

    policy: BoundaryPolicy
    """Judges paths."""
    files: BoundaryFiles
    """Opens files."""
    confinement: SystemConfinement
    """Confines processes."""
    tools: ToolRegistry
    """The registry, with the built-in tools in it."""
    cli: CliServices
    """What tools of tools.yaml are made with."""
    reading: FilesWithSkills
    """Allows reading in the folders of skills in use."""
    consents: Consents
    """Consents that tools read denied folders."""
    recorder: KeepingRecorder
    """Makes changes of files, and keeps what was there."""
    versions: ReadVersions
    """Which version of a file each thread has read."""
    documents: DocumentReader
    """Opens documents, each in a process of its own."""
    results: ResultService
    """Shows what calls wrote, each in a process of its own."""
    pictures: PictureReader
    """Opens pictures, each in a process of its own."""


async def open_boundary(
    home: Path, safety: Callable[[], SafetySettings], keys: KeyServices, store: Store, limits: KeepLimits, spawn: Spawn
) -> BoundaryServices:
    """The boundary and the tools that live inside it."""
    policy = BoundaryPolicy(str(home), safety)
    files = BoundaryFiles(policy)
    applier = JournaledApplier(policy, str(home / CHANGES))
    await asyncio.to_thread(applier.recover)

    def kept_nowhere(path: str, content: bytes) -> bool:
        return holds_keys(path, content) or keys.redactor.contains_known(content.decode("utf-8", "replace"))

    keeping = Keeping(store.changes, store.kept_files, applier, files, limits, kept_nowhere)
    recorder = KeepingRecorder(keeping, spawn)
    await recorder.settle()
    confinement = SystemConfinement(policy, safety, caches=str(home / CACHES))
    environment = AllowlistEnvironment(
        safety,
        keyring=keys.secrets.lookup,
        may_read=keys.tools.refusal,
        give=keys.tools.give,
        is_secret=keys.redactor.contains_known,
    )
    reader, runner = LazyShellReader(policy, safety), GroupRunner(mask=keys.redactor.mask_known)
    copies = Copies(str(home / CACHES / COPIES), confinement, policy)
    await asyncio.to_thread(copies.clear)
    in_copies = CommandsInCopies(copies, confinement, runner, recorder, safety)
    bash = Bash(reader, policy, confinement, environment, runner, safety, in_copies)
    reading = FilesWithSkills(files)
    keeper = ReadsKeeper(store.reads, spawn, kept_nowhere)
    versions = ReadVersions(keeper)
    keeper.known = versions.to_keep
    confined = code_sandbox_profile(in_a_loop=True)
    documents = DocumentReader(lambda handle: document_host(handle, confined=confined))
    pictures = PictureReader(lambda handle: picture_host(handle, confined=confined))
    drawing = drawing_profile()
    showing = ResultReader(lambda handle: result_host(handle, confined=drawing))
    results = ResultService(store.changes, store.kept_files, showing, pictures, files)
    reads, lists = ReadFile(reading, safety, versions, documents, pictures), ListDirectory(reading)
    writes, edits = WriteFile(files, recorder, versions), EditFile(files, recorder, versions)
    tools = ToolRegistry([reads, lists, writes, edits, bash])
    consents = Consents(policy, store.state)
    await consents.load()
    cli = CliServices(reader, policy, confinement, environment, runner, safety, consents, in_copies)
    return BoundaryServices(
        policy, files, confinement, tools, cli, reading, consents, recorder, versions, documents, results, pictures
    )


def add_finding(boundary: BoundaryServices, safety: Callable[[], SafetySettings], rules: RuleBook) -> ChildProcess:
    """The tools that search trees, which heed a person's rules; the process for it, which runs while somebody does."""
    search = file_search()
    shared = BoundarySearch(boundary.policy), search, safety, rules
    boundary.tools.register(FindText(*shared, boundary.versions))
    boundary.tools.register(FindFiles(*shared))
    return search


@dataclass(frozen=True, slots=True)
class WebServices:
    """The tools of the web."""

    child: ChildProcess
    """The process that reads pages and searches, which runs while somebody does."""
    searches: SearchServices
    """The search services that the person has connected."""


def add_web(
    tools: ToolRegistry, safety: Callable[[], SafetySettings], keys: KeyServices, settings: SettingsService
) -> WebServices:
    """The tools that read pages and search; a search is offered while a service for it is connected."""
    proxies = proxies_of(os.environ)
    web = web_host(launcher=launcher_file, secrets=keys.redactor.values)
    tools.register(WebFetch(web, safety, proxies))
    searches = SearchServices(
        web, keys.secrets, lambda: settings.current.web.search, lambda: settings.current.tools.own_hosts
    )
    offer = WebSearch(searches, proxies)
    if searches.in_use is not None:
        tools.register(offer)
    settings.subscribe(lambda _settings, _keys: _offer(tools, offer, searches))
    return WebServices(web, searches)


def _offer(tools: ToolRegistry, search: WebSearch, searches: SearchServices) -> None:
    """Search is there if there is something to search with."""
    is_there = tools.find(search.spec.name) is search
    if searches.in_use is not None and not is_there:
        tools.register(search)
    elif searches.in_use is None and is_there:
        tools.unregister(search.spec.name)


def follow_searches(settings: SettingsService, skills: SkillWorld) -> None:
    """Whoever lists tools hears when a search is there, or no longer."""

    def changed(_settings: object, keys: frozenset[str]) -> None:
        if "web.search" in keys:
            skills.shown.refresh()

    settings.subscribe(changed)
