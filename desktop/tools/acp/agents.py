"""The agents of other makers on this computer: found, switched on by a person, started confined.

``AcpAgents`` knows them and what was agreed to; ``sessions.py`` beside it holds those that are at work.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from desktop.domain.errors import ConfigurationError, KnownError, NotFound, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, ProcessSpec
from desktop.files.temporary import TemporaryFolder
from desktop.tools.acp.finding import UNREAD, Program, changed_since, found_on, program_of, read_registry, search_path
from desktop.tools.acp.known import KNOWN, AcpAgent
from desktop.tools.acp.services import AcpServices
from desktop.tools.acp.terms import KEY, MAX_ADDED, AcpTerms, Kept, from_plain, to_plain

_log = logging.getLogger(__name__)
CACHE = "acp-"
"""How the names of agents' caches begin."""
LOG_LINES = 200
AcpStanding = Literal["on", "new", "changed", "off", "missing"]
"""``new``: nobody has looked at it; ``changed``: its program is another one than the one that was looked at."""


@dataclass(frozen=True, slots=True)
class AcpRow:
    """One agent as it stands now."""

    agent: AcpAgent
    """What would run."""
    program: Program | None
    """Its program on this computer; None: it is not here."""
    terms: AcpTerms
    """What the person agreed to."""
    standing: AcpStanding
    """Whether it may be used."""
    problem: str = ""
    """Why it did not start the last time, or ""."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How an agent is started: what the ACP host gets, what holds it, and the folder of its pipes."""

    params: dict[str, Any]
    """The command with its sandbox, its environment, its folder."""
    sentence: str
    """What confines it, for a person."""
    door: TemporaryFolder
    """The folder in which it reaches our tools; whoever started it removes it."""
    bounds: tuple[Any, ...]
    """What of the settings it is bound by."""
    confined: bool = True
    """Whether anything holds it."""


class AcpAgents:
    """``changed`` listeners are called on the loop after every change."""

    def __init__(self, services: AcpServices) -> None:
        self.services = services
        self.confined = True
        """Whether anything on this computer confines them; known when ``opened``."""
        self._kept = Kept()
        self._found: list[tuple[AcpAgent, Program | None]] = []
        self._listeners: list[Callable[[], None]] = []
        self._problems: dict[str, str] = {}
        self._opened = asyncio.Event()
        self._lock = asyncio.Lock()
        self.logs: dict[str, tuple[str, ...]] = {}
        self.looked_at = 0.0
        self.registry: tuple[AcpAgent, ...] = ()
        self.registry_problem = ""

    # -- what there is ------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Read what was agreed to, and look."""
        self._kept = from_plain(await self.services.store.get(key=KEY))
        report = await asyncio.to_thread(self.services.confinement.probe)
        self.confined = report.kind != "none"
        await self._look(lambda name: (self._kept.of(name).stamp, self._kept.of(name).digest))
        if self._kept.registry:
            await self._read_registry(self._kept.registry)
        self._opened.set()

    async def opened(self) -> None:
        """Wait until it is known what was agreed to."""
        await self._opened.wait()

    async def look(self) -> None:
        """Look along the PATH again, and read what is found; nothing is started."""
        await self._look(None)

    async def _look(self, known: Callable[[str], tuple[str, str]] | None) -> None:
        path = search_path(await self.services.environment.build({}))
        self._found = await asyncio.to_thread(found_on, path, self._kept.added, known)
        self.looked_at = time.time()
        self._tell()

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Called after every change; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    @property
    def rows(self) -> tuple[AcpRow, ...]:
        """The agents in their order."""
        return tuple(self._row(agent, program) for agent, program in self._found)

    def _row(self, agent: AcpAgent, program: Program | None) -> AcpRow:
        terms = self._kept.of(agent.name)
        return AcpRow(agent, program, terms, _standing(program, terms), self._problems.get(agent.name, ""))

    def row(self, name: str) -> AcpRow:
        """One agent. Raises NotFound."""
        found = next((row for row in self.rows if row.agent.name == name), None)
        if found is None:
            raise NotFound(
                f"There is no agent {name!r} on this computer.", next_step="Look under Settings, Other agents."
            )
        return found

    # -- what a person decides ----------------------------------------------------------------------------------------

    async def agree(self, name: str, terms: AcpTerms, digest: str) -> None:
        """These are the terms from now on, for the program of this ``digest``, which is what was looked at. Raises
        KnownError where it is another one by now."""
        row = await self._looked_again(name)
        if terms.on and digest == UNREAD:
            raise KnownError(
                "The program is still being read.", next_step="Switch it on again in a moment.", code="acp.unread"
            )
        if terms.on and (row.program is None or not row.program.digest or row.program.digest != digest):
            raise KnownError(
                "The program has changed since it was shown." if row.program else "The program is not here.",
                next_step="Look at it again.",
                code="acp.changed_again",
            )
        stamp = row.program.stamp if row.program is not None else ""
        seen = replace(terms, digest=digest, stamp=stamp, seen_at=time.time())
        await self._keep(self._kept.with_terms(name, seen))

    async def switch_off(self, name: str) -> None:
        """It is not used any more; what was agreed to is kept for the next time."""
        await self._keep(self._kept.with_terms(name, replace(self._kept.of(name), on=False)))

    async def add(self, agent: AcpAgent) -> None:
        """One more, switched off. Raises ConfigurationError: the name is taken, or there are too many."""
        taken = {one.name for one in (*KNOWN, *self._kept.added)}
        if agent.name in taken:
            raise ConfigurationError(f"There is an agent named {agent.name} already.", next_step="Choose another name.")
        if len(self._kept.added) >= MAX_ADDED:
            raise ConfigurationError(f"There are {MAX_ADDED} added agents already.", next_step="Remove one first.")
        await self._keep(replace(self._kept, added=(*self._kept.added, agent)))
        await self.look()

    async def remove(self, name: str) -> None:
        """Forget an agent that was added, with what was agreed to."""
        added = tuple(one for one in self._kept.added if one.name != name)
        terms = {key: value for key, value in self._kept.terms.items() if key != name}
        await self._keep(replace(self._kept, added=added, terms=terms))
        await self.look()

    async def choose_registry(self, path: str) -> None:
        """Show the agents of a saved registry file. Raises KnownError for a file that is none."""
        self.registry, self.registry_problem = tuple(await asyncio.to_thread(read_registry, path)), ""
        await self._keep(replace(self._kept, registry=path))

    @property
    def registry_path(self) -> str:
        """The registry file that was chosen, or ""."""
        return self._kept.registry

    async def _read_registry(self, path: str) -> None:
        try:
            self.registry, self.registry_problem = tuple(await asyncio.to_thread(read_registry, path)), ""
        except KnownError as error:
            self.registry, self.registry_problem = (), error.advice
        self._tell()

    async def _keep(self, kept: Kept) -> None:
        async with self._lock:
            await self.services.store.put(key=KEY, value=to_plain(kept))
            self._kept = kept
        self._tell()

    # -- starting -----------------------------------------------------------------------------------------------------

    async def _looked_again(self, name: str) -> AcpRow:
        """The agent with its program as it is on the disk at this moment. Raises NotFound."""
        agent = self.row(name).agent
        path = search_path(await self.services.environment.build({}))
        program = await asyncio.to_thread(program_of, agent, path)
        self._found = [(one, program if one.name == name else before) for one, before in self._found]
        return self._row(agent, program)

    async def usable(self, name: str) -> AcpRow:
        """The agent, if the person has switched on exactly this program. Raises ToolFailure saying why not."""
        await self.opened()
        row = await self._looked_again(name)
        if row.standing == "on":
            return row
        self._tell()
        raise ToolFailure(
            f"{row.agent.title} {_WHY_NOT[row.standing]}.",
            code="acp.not_allowed",
            next_step="Settings, Other agents, says what it may do and has its switch.",
        )

    def bounds(self, *, grants: bool, project: str = "") -> tuple[Any, ...]:
        """What of the settings an agent that is started now is bound by; not ``grants``: without the folders that are
        open for this session only. ``project``: the folder of its chat."""
        now = self.services.settings()
        opened = now.granted if grants else ()
        return (now.workspace, now.allowed, now.denied, opened, now.environment_allowlist, project, grants)

    async def still_the_same(self, row: AcpRow) -> bool:
        """Whether the files that were looked at, and those of their package, are what they were just before they were
        read: they have been in use since, and nobody can have put others there for a moment."""
        return row.program is not None and not await asyncio.to_thread(changed_since, row.program, row.agent)

    async def launch(self, row: AcpRow, *, grants: bool, project: str = "") -> Launch:
        """How it is started, with the sandbox as its terms and the settings are now. In a chat that works in a project
        it starts there, whatever folder its terms name. Raises ToolFailure."""
        services = self.services
        agent = row.agent
        declared = {**agent.env, **(agent.asking if row.terms.writes else agent.leaving)}
        environment = await services.environment.build(declared, admin=True, tool=f"acp-{agent.name}")
        try:
            return await asyncio.to_thread(self._launch, row, environment, grants=grants, project=project)
        except KnownError as error:
            self.failed(agent.name, error.advice)
            raise

    def _launch(self, row: AcpRow, environment: dict[str, str], *, grants: bool, project: str) -> Launch:
        services, terms, program = self.services, row.terms, row.program
        assert program is not None
        settings, bounds = services.settings(), self.bounds(grants=grants, project=project)
        at = WorkPlace(project)
        start = project or os.path.expanduser(terms.folder) or settings.workspace
        place = services.policy.within(at).explain(start, Access.LIST)
        if not place.allowed:
            raise ToolFailure(place.sentence, code="denied.boundary")
        door = TemporaryFolder("acp")
        own = [door.path, *(self._own_folders(row.agent) if terms.folders else ())]
        try:
            spec = services.confinement.within(at).wrap(
                ProcessSpec((program.path, *row.agent.args), place.resolved, environment),
                network=terms.network,
                writes=terms.writes,
                grants=grants,
                cache=f"{CACHE}{row.agent.name} {row.agent.command}",
                own=tuple(own),
            )
            report = services.confinement.probe()
        except BaseException:
            door.close()
            raise
        spec = services.hold(spec)
        params = {"argv": list(spec.argv), "cwd": spec.cwd, "env": dict(spec.env), "folder": place.resolved}
        return Launch({**params, "door": door.path}, report.sentence, door, bounds, report.kind != "none")

    def _own_folders(self, agent: AcpAgent) -> Sequence[str]:
        """Where it keeps what is its own; folders are made, because nothing can be let in that is not there."""
        found = []
        for name in agent.folders:
            path = os.path.expanduser(name)
            if not os.path.lexists(path) and not os.path.splitext(path)[1]:
                try:
                    os.makedirs(path, mode=0o700, exist_ok=True)
                except OSError as error:
                    _log.info("a folder of %s could not be made: %s", agent.name, error)
            if os.path.lexists(path) and not os.path.islink(path):
                found.append(os.path.realpath(path))
        return found

    # -- what happened ------------------------------------------------------------------------------------------------

    def failed(self, name: str, problem: str) -> None:
        """It did not start, or ended by itself; "" when it did start."""
        if self._problems.get(name, "") != problem:
            self._problems[name] = problem
            self._tell()

    def note(self, name: str, text: str) -> None:
        """More of its log; the last lines are kept, without secrets."""
        lines = self.said(text).splitlines()
        kept = tuple(line[:500] for line in lines if line.strip())
        self.logs[name] = (*self.logs.get(name, ()), *kept)[-LOG_LINES:]

    def said(self, text: str) -> str:
        """What an agent says, for a person: without secrets, and without what steers a terminal."""
        return self.services.redactor.redact_text(self.services.clean(text))


_WHY_NOT = {
    "new": "is off: nobody has switched it on yet",
    "off": "is off",
    "changed": "is off: its program has changed since you looked at it",
    "missing": "is not on this computer any more",
}


def _standing(program: Program | None, terms: AcpTerms) -> AcpStanding:
    if program is None or not program.digest:
        return "missing"
    if not terms.digest:
        return "new"
    if terms.digest != program.digest:
        return "changed"
    return "on" if terms.on else "off"
