"""Settings, Other agents: agents of other makers that are here, what each may do, and its switch (R-ACP-1)."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words
from desktop.presenter.common.words import clock
from desktop.services.definitions.others import name_of
from desktop.tools.acp.known import FETCHERS, AcpAgent

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.tools.acp.agents import AcpAgents, AcpRow
    from desktop.tools.acp.finding import Program

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_MAX_TOOLS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherAgentRow:
    """An agent of another maker as the page shows it."""

    name: str
    """What it is kept under."""
    title: str
    """What a person reads."""
    version: str
    """What its package says, or ""."""
    command: str
    """What would run."""
    standing: str
    """on | off | new | changed | missing."""
    on: bool
    """Whether it is switched on."""
    said: str
    """How it stands, in words."""
    problem: str
    """Why it did not start the last time, or ""."""
    digest: str
    """The program that is shown; what is agreed to holds for it."""
    writes: bool
    """Whether its own processes may write."""
    network: bool
    """Whether they have the network."""
    confined: bool
    """Whether anything on this computer confines them."""
    folders: bool
    """Whether they have the places in ``places``."""
    places: str
    """Where it keeps what is its own; "" for nowhere that is known."""
    tools: tuple[str, ...]
    """Skills and tools that it is offered."""
    folder: str
    """Where it works; "": the workspace."""
    added: bool
    """Whether it can be removed."""
    signs_in: bool
    """Whether it said the last time that nobody is signed in."""
    log: tuple[str, ...]
    """The last lines that it wrote."""


@dataclass(frozen=True, slots=True)
class RegistryRow:
    """An agent of the registry file."""

    name: str
    """Its name there."""
    title: str
    """What a person reads."""
    command: str
    """What would run."""
    note: str
    """What has to be known before."""
    there: bool
    """Whether it stands among the agents already."""


class OtherAgentsViewModel(QObject):
    """``changed`` when anything of it did; ``refused`` with a reason; ``added`` with the name of a new one."""

    changed = Signal()
    refused = Signal(str)
    added = Signal(str)

    def __init__(self, agents: AcpAgents, bridge: Bridge) -> None:
        super().__init__()
        self._agents, self._bridge = agents, bridge
        end = agents.on_change(self.changed.emit)
        self.destroyed.connect(end)

    @property
    def rows(self) -> tuple[OtherAgentRow, ...]:
        """The agents, those in use first, in the order in which they are known."""
        return tuple(_row(row, self._agents) for row in self._agents.rows)

    @property
    def looked(self) -> str:
        """When the PATH was looked along, in words; "" before the first time."""
        at = self._agents.looked_at
        return f"looked along the PATH at {clock(at)}, nothing was started" if at else ""

    @property
    def registry(self) -> tuple[RegistryRow, ...]:
        """The agents of the registry file that was chosen."""
        here = {row.agent.name for row in self._agents.rows}
        return tuple(
            RegistryRow(one.name, one.title, _command(one), one.note, one.name in here) for one in self._agents.registry
        )

    @property
    def registry_words(self) -> tuple[str, str]:
        """(the name of the registry file, what there is to say of it)."""
        path = self._agents.registry_path
        if not path:
            return "", ""
        count = len(self._agents.registry)
        said = self._agents.registry_problem or f"{count} agents, nothing is fetched from here"
        return os.path.basename(path), said

    # -- what a person does -------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Look along the PATH again."""
        self._do(self._agents.look, "look for agents of other makers")

    def switch(self, row: OtherAgentRow, on: bool) -> None:
        """The person has seen what it may do, for exactly the program that ``row`` shows."""
        if on:
            self.agree(row, on=True)
        else:
            self._do(lambda: self._agents.switch_off(row.name), f"switch off {row.name}")

    def agree(self, row: OtherAgentRow, **terms: Any) -> None:
        """Other terms, for the program that ``row`` shows."""
        given: Mapping[str, Any] = {"on": row.on, **terms}  # what changed is off, whatever was agreed to before

        async def work() -> None:
            now = self._agents.row(row.name).terms
            await self._agents.agree(row.name, replace(now, **given), row.digest)

        self._do(work, f"terms of {row.name}")

    def offer(self, row: OtherAgentRow, text: str) -> None:
        """The names of skills and tools that it is offered, separated by blanks or commas."""
        names = tuple(dict.fromkeys(re.findall(r"[A-Za-z0-9_.-]+", text)))[:_MAX_TOOLS]
        self.agree(row, tools=names)

    def work_in(self, row: OtherAgentRow, folder: str) -> None:
        """Where it works; "": the workspace."""
        self.agree(row, folder=folder.strip())

    def add(self, name: str, line: str, places: str = "") -> None:
        """One more, by its command line; it stays switched off."""
        try:
            words = shlex.split(line)
        except ValueError:
            words = []
        if not words:
            self.refused.emit("This is no command line: a quotation mark is not closed, or the program is missing.")
        elif not _NAME.fullmatch(name):
            self.refused.emit("A name is made of small letters, digits and hyphens, such as my-agent.")
        else:
            folders = tuple(one.strip() for one in places.split(",") if one.strip())
            title = name.replace("-", " ").capitalize()
            self._add(AcpAgent(name, title, words[0], tuple(words[1:]), folders=folders, origin="added"))

    def add_from_registry(self, name: str) -> None:
        """One of the registry file; it stays switched off."""
        found = next((one for one in self._agents.registry if one.name == name), None)
        if found is not None:
            self._add(found)

    def _add(self, agent: AcpAgent) -> None:
        async def work() -> None:
            await self._agents.add(agent)
            self.added.emit(agent.name)

        self._do(work, f"add {agent.name}")

    def remove(self, name: str) -> None:
        """Forget one that was added."""
        self._do(lambda: self._agents.remove(name), f"remove {name}")

    def choose_registry(self, path: str) -> None:
        """Show the agents of a saved registry file."""
        self._do(lambda: self._agents.choose_registry(path), "read a registry of agents")

    def _do(self, action: Callable[[], Awaitable[object]], name: str) -> None:
        async def work() -> None:
            try:
                await action()
            except KnownError as error:
                self.refused.emit(error.advice)
            self.changed.emit()

        self._bridge.spawn(work(), name=name)


def chat_agent(name: str) -> str:
    """The agent of chats by which one of another maker works."""
    return name_of(name)


def _day(at: float) -> str:
    then = time.localtime(at)
    return f"{then.tm_mday} {time.strftime('%B', then)}"


def _command(agent: AcpAgent) -> str:
    """What would be run, with the variables that it is given."""
    given = [f"{name}={shlex.quote(value)}" for name, value in sorted(agent.env.items())]
    return " ".join([*given, shlex.join((agent.command, *agent.args))])


def _pinned(agent: AcpAgent, program: Program | None) -> str:
    """What a yes holds for beside the program itself."""
    if os.path.basename(agent.command) in FETCHERS:
        return "; what it fetches can be another thing each time"
    if program is None or not program.beside:
        return ""
    return f"; holds for {count_words(program.beside, 'file')} of its package, too"


def _row(row: AcpRow, agents: AcpAgents) -> OtherAgentRow:
    agent, program, terms = row.agent, row.program, row.terms
    seen = (f", looked at {_day(terms.seen_at)}" if terms.seen_at else "") + _pinned(agent, program)
    said = {
        "on": f"on{seen}",
        "off": f"off{seen}",
        "new": "new: off until you switch it on",
        "changed": "program changed, off again",
        "missing": (program.problem if program is not None else "") or "not on this computer",
    }[row.standing]
    return OtherAgentRow(
        name=agent.name,
        title=agent.title,
        version=program.version if program is not None else "",
        command=_command(agent),
        standing=row.standing,
        on=row.standing == "on",
        said=said,
        problem=row.problem,
        digest=program.digest if program is not None else "",
        writes=terms.writes,
        network=terms.network,
        confined=agents.confined,
        folders=terms.folders,
        places=", ".join(agent.folders),
        tools=terms.tools,
        folder=terms.folder,
        added=agent.origin != "known",
        signs_in="not signed in" in row.problem,
        log=agents.logs.get(agent.name, ()),
    )
