"""The MCP servers of the running app: mcp.yaml in force, each server held, their tools in the one registry.

The last set that could be read is in force (R-CLI-14). ``reload``, ``check`` and ``save`` block and are for threads;
everything else is for the loop. No server starts before ``begin``, and none that is not enabled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ConfigurationError, KnownError, NotFound
from desktop.domain.loading.lazy import lazy_module, load
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.servers.sign_in import SignInFacts
from desktop.domain.skills import SkillProblem
from desktop.tools.declared.file import DeclaredFile
from desktop.tools.mcp.caches import ServerCaches
from desktop.tools.mcp.definitions import SERVERS, SOURCE, McpDefinition, McpFile, parse
from desktop.tools.mcp.services import McpServices
from desktop.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from desktop.domain.servers.mcp import McpOffers, McpTask
    from desktop.domain.tools import Tool
    from desktop.tools.mcp import entries as mcp_entries
    from desktop.tools.mcp import server as mcp_server
    from desktop.tools.mcp import task_tool as mcp_task_tool
    from desktop.tools.mcp import tasks as mcp_tasks
    from desktop.tools.mcp import tool as mcp_tool
    from desktop.tools.mcp.asking.questions import PersonQuestions
    from desktop.tools.mcp.entries import TakeBack
    from desktop.tools.mcp.offered import Offered
    from desktop.tools.mcp.pins import Standing
    from desktop.tools.mcp.reading import asking as mcp_reading
    from desktop.tools.mcp.reading import read_tool as mcp_read_tool
    from desktop.tools.mcp.reading.asking import McpReading
    from desktop.tools.mcp.server import About, Condition, McpServer
    from desktop.tools.mcp.tasks import McpTasks
else:
    mcp_entries = lazy_module("desktop.tools.mcp.entries")
    mcp_server = lazy_module("desktop.tools.mcp.server")
    mcp_tool = lazy_module("desktop.tools.mcp.tool")
    mcp_tasks = lazy_module("desktop.tools.mcp.tasks")
    mcp_task_tool = lazy_module("desktop.tools.mcp.task_tool")
    mcp_reading = lazy_module("desktop.tools.mcp.reading.asking")
    mcp_read_tool = lazy_module("desktop.tools.mcp.reading.read_tool")
_AT_WORK = (mcp_entries, mcp_server, mcp_tool, mcp_tasks, mcp_task_tool, mcp_reading, mcp_read_tool)
"""What is not loaded where no server is declared."""

MAX_CALLS = 40
"""Calls of all servers at once; the pipe takes 64."""


_STANDING = {
    "new": "new, not switched on yet",
    "changed": "it has changed since you switched it on",
    "off": "you switched it off",
}


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """One tool as the page shows it, or a server's instructions."""

    offered: Offered
    """What is offered."""
    category: Category
    """Who has to agree to its calls."""
    standing: Standing | None
    """How it stands; None: it was not looked up yet."""
    off: str = ""
    """Why it cannot be called, or ""."""
    seen_text: str = ""
    """What was seen of it."""
    barred: bool = False
    """It could not be on whatever the person says on the page."""
    noticed: float = 0.0
    """When its change was noticed, in seconds since the epoch; 0: it has not changed."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """One server as the page shows it."""

    definition: McpDefinition
    """What is declared."""
    condition: Condition
    """How it is."""
    reason: str
    """Why, in a sentence; of a start what it waits for."""
    about: About
    """What it says about itself."""
    confinement: str
    """What confines it, in a sentence."""
    weak: str
    """Why its calls are admin whatever was configured, or ""."""
    restarts: int
    """How often it was started again."""
    tools: tuple[ToolFacts, ...]
    """What it offers."""
    log: tuple[str, ...]
    """The last lines of its log."""
    instructions: ToolFacts | None = None
    """What it tells models; None: nothing."""
    offering: ToolFacts | None = None
    """That it offers resources or prompts; None: neither."""
    offers: McpOffers | None = None
    """Which."""
    tasks: tuple[McpTask, ...] = ()
    """The calls of it that go on by themselves."""
    sign_in: SignInFacts = SignInFacts()
    """How a person's sign-in to it stands."""

    @property
    def judged(self) -> tuple[ToolFacts, ...]:
        """All that a person agrees to: its instructions, what it offers beside tools, and its tools."""
        return (*(one for one in (self.instructions, self.offering) if one is not None), *self.tools)


@dataclass(frozen=True, slots=True)
class McpState:
    """``servers`` in the order of the file; ``problems`` of the file as it is now; ``kept``: it is broken, and what is
    in force is from before."""

    servers: tuple[ServerFacts, ...] = ()
    problems: tuple[SkillProblem, ...] = ()
    kept: bool = False

    def server(self, name: str) -> ServerFacts:
        """The server of this name. Raises NotFound."""
        found = next((one for one in self.servers if one.definition.name == name), None)
        if found is None:
            raise _no_server(name)
        return found


class McpServers(DeclaredFile[McpDefinition]):
    """Made on the loop. ``needs_admin`` as for tools.yaml; ``taken`` says who has a name already that this registry
    does not know (a skill), and may block; ``told`` follows every change of the set of tools."""

    def __init__(
        self,
        path: Path,
        registry: ToolRegistry,
        services: McpServices,
        *,
        needs_admin: Callable[[str], bool],
        taken: Callable[[str], str] = lambda _: "",
        told: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(path, SERVERS)
        self._registry, self._services = registry, services
        self._needs_admin = needs_admin
        self._taken, self._told = taken, told
        self._loop = asyncio.get_running_loop()
        self._caches = ServerCaches(services, self._needed_caches)
        self._slots = asyncio.Semaphore(MAX_CALLS)
        self._begun = self._closed = self._read = False
        self._servers: dict[str, McpServer] = {}
        self._leaving: set[McpServer] = set()
        self._problems: tuple[SkillProblem, ...] = ()
        self._kept = False
        self._tools: dict[str, Tool] = {}
        self._reading: McpReading | None = None
        self._tasks: McpTasks | None = None
        self._clashes: dict[str, str] = {}
        self._asked: frozenset[str] = frozenset()

    @property
    def questions(self) -> PersonQuestions:
        """What servers ask a person, and who is there to be asked."""
        return self._services.questions

    # -- for the page -------------------------------------------------------------------------------------------------

    @property
    def state(self) -> McpState:
        """Everything as it is now."""
        servers = tuple(_facts(one, self._barred, self._tasks_of(one)) for one in self._servers.values())
        return McpState(servers, self._problems, self._kept)

    @property
    def offers(self) -> tuple[McpOffers, ...]:
        """What each server offers beside tools, as it is now."""
        return tuple(server.offers for server in self._servers.values())

    @property
    def reading(self) -> McpReading:
        """Reads resources and prompts, and hears of changes. Loads code, which nobody needs without a server."""
        if self._reading is None:
            self._reading = mcp_reading.McpReading(self._one, self._services.pictures)
        return self._reading

    @property
    def tasks(self) -> McpTasks:
        """The calls that go on at servers by themselves. Loads code as ``reading`` does."""
        if self._tasks is None:
            self._tasks = mcp_tasks.McpTasks(self._one, self._rebuild)
        return self._tasks

    def _tasks_of(self, server: McpServer) -> tuple[McpTask, ...]:
        known = self._tasks.all if self._tasks is not None else ()
        return tuple(one for one in known if one.server == server.definition.name)

    def _off(self, server: McpServer, offered: Offered) -> str:
        """Why a tool is not registered, or ""."""
        return self._barred(server, offered) or _standing_words(server, offered)

    def _barred(self, server: McpServer, offered: Offered) -> str:
        """Why it could not be on whatever the person says on the page, or ""."""
        if offered.problem:
            return offered.problem
        if offered.name in (mcp_read_tool.READ_RESOURCE, mcp_task_tool.MCP_TASK):  # also while those are not there
            return f"{offered.name} is the name of a tool of Assent’s own"
        if clash := self._clashes.get(offered.name):
            return f"{offered.name} is the name of {clash}"
        if not server.definition.rule(offered.raw).enabled:
            return "switched off in mcp.yaml"
        return ""

    # -- the file -----------------------------------------------------------------------------------------------------

    def check(self, text: str) -> McpFile:
        """What a text would declare, while a person types; nothing changes."""
        return parse(text, self._needs_admin)

    def _take(self, found: McpFile) -> None:
        if found.definitions:  # their code is loaded here, in a thread: who declares no server does without
            for module in _AT_WORK:
                load(module)
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._hold, found)

    def _hold(self, found: McpFile) -> None:
        if self._closed:
            return
        self._problems, self._kept, self._read = found.problems, found.broken, True
        if not found.broken:
            before, self._servers = self._servers, {}
            for definition in found.definitions:
                self._servers[definition.name] = self._with(definition, before.pop(definition.name, None))
            for gone in before.values():
                self._let_go(gone)
        self._rebuild()

    def _with(self, definition: McpDefinition, known: McpServer | None) -> McpServer:
        """The server for a definition: the one that runs, if a start would change nothing."""
        if known is not None and known.definition.launch == definition.launch and definition.enabled:
            known.definition = definition
        else:
            if known is not None:
                self._let_go(known)
            known = mcp_server.McpServer(
                definition, self._services, self._rebuild, self.reading.updated, self._look_at_tasks
            )
        if self._begun and definition.enabled and known.condition == "off":
            self._services.spawn(self._start_when_free(known), f"MCP server {definition.name}: start")
        return known

    async def _start_when_free(self, server: McpServer) -> None:
        """Start a server after one of the same name has ended."""
        for other in [one for one in self._leaving if one.definition.name == server.definition.name]:
            await other.stop()
        if self._servers.get(server.definition.name) is server:
            server.start()

    def _let_go(self, server: McpServer) -> None:
        self._leaving.add(server)
        self._services.spawn(self._leave(server), f"MCP server {server.definition.name}: stop")

    async def _leave(self, server: McpServer) -> None:
        server.person.sign_in.close()
        await server.stop()
        self._leaving.discard(server)
        await self._caches.tidy()

    def _needed_caches(self) -> list[str] | None:
        """The caches of declared servers; None (unknown) while the file has mistakes, since a server that cannot be
        read is still meant."""
        mistakes = any(one.severity == "error" for one in self._problems)
        if self._closed or self._kept or mistakes or not self._read:
            return None
        return [server.cache for server in (*self._servers.values(), *self._leaving)]

    # -- life ---------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start what is enabled: after the first paint, and never before."""
        if not self._begun:
            self._services.spawn(self._caches.tidy_later(), "MCP: caches of servers that are gone")
        self._begun = True
        for server in self._servers.values():
            if server.definition.enabled:
                server.start()

    async def restart(self, name: str) -> None:
        """End one and begin anew. Raises NotFound."""
        await self._one(name).restart()

    async def sign_in(self, name: str, scopes: tuple[str, ...], show: Callable[[str], None]) -> None:
        """A person wants to sign in and allow this; ``show`` gets the address for their browser. Raises NotFound."""
        server = self._one(name)
        server.person.sign_in.begin(scopes, show, server.restart)

    async def cancel_sign_in(self, name: str) -> None:
        """The person does not wait for the browser any longer. Raises NotFound."""
        self._one(name).person.sign_in.cancel()

    async def look_at_sign_in(self, name: str) -> None:
        """Ask once more who wants a person to sign in. Raises NotFound."""
        self._one(name).person.sign_in.look()

    async def sign_out(self, name: str) -> None:
        """Have a sign-in taken back, and forget it. Raises NotFound, and KnownError saying what could not be done."""
        server = self._one(name)
        await server.stop()
        try:
            await server.person.signed_out()
        finally:
            server.start()

    async def remove(self, name: str) -> tuple[TakeBack, str]:
        """Take one out of mcp.yaml, as ``removed`` does. Raises KnownError, and then it is still there."""
        return await mcp_entries.removed(self, name, self._one(name).person)

    async def stop(self, name: str) -> None:
        """End one until it is started by hand, or the app anew. Raises NotFound."""
        await self._one(name).stop()

    def _one(self, name: str) -> McpServer:
        found = self._servers.get(name)
        if found is None:
            raise _no_server(name)
        return found

    def confinement_changed(self) -> None:
        """The boundaries are others: what runs inside the old ones starts anew (R-FS-12)."""
        for server in self._servers.values():
            if server.is_outdated:
                self._services.spawn(server.restart(), f"MCP server {server.definition.name}: restart")

    async def close(self) -> None:
        """End all servers: the MCP host ends the processes that it holds."""
        self._closed = True
        await asyncio.gather(*(server.stop() for server in (*self._servers.values(), *self._leaving)))
        await self._services.child.stop()

    # -- what the person agreed to ------------------------------------------------------------------------------------

    async def accept(self, name: str, digests: Mapping[str, str]) -> None:
        """The person has looked at these tools (the server's names, with what was shown; of instructions
        ``INSTRUCTIONS``). Raises KnownError when one of them has changed once more."""
        server = self._one(name)
        now = {one.raw: one for one in server.judged if not one.problem}
        chosen = [now[raw] for raw in digests if raw in now]
        if len(chosen) != len(digests) or any(one.digest != digests[one.raw] for one in chosen):
            raise KnownError("The server has changed them meanwhile.", next_step="Look at them once more.")
        await self._pin(server, self._services.pins.accept, chosen)

    async def switch_off(self, name: str, tools: Iterable[str]) -> None:
        """The person wants none of these, by the server's names."""
        await self._pin(self._one(name), self._services.pins.switch_off, tuple(tools))

    async def _pin(self, server: McpServer, change: Callable[[str, str, Any], None], tools: Any) -> None:
        await asyncio.to_thread(change, server.definition.name, server.definition.identity, tools)
        await server.look_at_pins()
        self._rebuild()

    def _look_at_tasks(self, name: str) -> None:
        """A server was started anew: it may have forgotten what it was doing."""
        if self._tasks is not None:
            self._services.spawn(self._tasks.look(name), f"MCP server {name}: its tasks")

    # -- the registry -------------------------------------------------------------------------------------------------

    def recheck(self) -> None:
        """Names may be taken by others now: a skill came or went. From any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._rebuild, True)

    def _rebuild(self, anew: bool = False) -> None:
        """Register the tools that may be called now, all at once, and tell every listener. Called after any change."""
        if self._closed:
            return
        names = frozenset(one.name for server in self._servers.values() for one in server.offered if one.name)
        names |= {one.spec.name for one in self._beside()}
        if anew or not names <= self._asked:
            self._asked = names
            self._services.spawn(self._ask_for(names), "MCP: names")
        tools: dict[str, Tool] = {}
        for server in self._servers.values():
            if server.condition != "off":
                for offered in server.offered:
                    if not self._off(server, offered) and offered.name not in tools and offered.name in self._clashes:
                        tools[offered.name] = self._tool(server, offered)
        for one in self._beside():
            if self._clashes.get(one.spec.name) == "":
                known = self._tools.get(one.spec.name)
                tools[one.spec.name] = known if known is not None and _same(known, one) else one
        if tools != self._tools:
            self._register(tools)
        self.retell()

    def _beside(self) -> list[Tool]:
        """The tools that are no server's own: for resources that may be read, and for tasks, while there are any."""
        readable = [server for server in self._servers.values() if _is_readable(server)]
        found: list[Tool] = [mcp_read_tool.ReadResource(readable, self.reading)] if readable else []
        if self._tasks is not None and self._tasks.all:
            found.append(mcp_task_tool.McpTaskTool(self._tasks, self._one))
        return found

    async def _ask_for(self, names: Iterable[str]) -> None:
        self._clashes = await asyncio.to_thread(lambda: {name: self._owner(name) for name in names})
        self._rebuild()

    def _owner(self, name: str) -> str:
        """The owner of a name or its alias, as words; "" where nobody has it (R-TOOL-8). Blocks."""
        found = filter(None, (self._registry.find(other) for other in (name, name.replace("-", "_"))))
        other = next((tool for tool in found if tool.spec.source != SOURCE), None)
        return f"a tool that is there already ({other.spec.name})" if other is not None else self._taken(name)

    def _tool(self, server: McpServer, offered: Offered) -> Tool:
        """The one that is there already, where nothing about it changed: its schema is one object (R-TOOL-7)."""
        rule, known = server.definition.rule(offered.raw), self._tools.get(offered.name)
        if isinstance(known, mcp_tool.McpTool) and known.stands_for(server, offered, rule):
            return known
        return mcp_tool.McpTool(server, offered, rule, self._slots, self.tasks)

    def _register(self, tools: dict[str, Tool]) -> None:
        try:
            self._registry.replace_source(SOURCE, tools.values())
        except ConfigurationError:  # somebody took a name meanwhile
            self._asked = frozenset()
            self._registry.replace_source(SOURCE, ())
            self._tools = {}
        else:
            self._tools = tools
        self._told()


def _no_server(name: str) -> NotFound:
    return NotFound(f"There is no server {name[:100]} in mcp.yaml now.", next_step="Choose another.")


def _same(one: Tool, other: Tool) -> bool:
    """Whether the one that is registered may stay."""
    return bool(getattr(one, "same_as", lambda made: type(one) is type(made))(other))


def _is_readable(server: McpServer) -> bool:
    """Whether agents may ask for its resources: it has some, and the person has agreed."""
    return server.condition != "off" and "resources" in server.about.has and server.offers.looked_at


def _facts(server: McpServer, barred: Callable[[McpServer, Offered], str], tasks: tuple[McpTask, ...]) -> ServerFacts:
    tools = tuple(_tool_facts(server, one, barred(server, one)) for one in server.offered)
    said, offering = (
        _tool_facts(server, one, "") if one is not None else None for one in (server.instructions, server.offering)
    )
    return ServerFacts(
        server.definition,
        server.condition,
        server.reason if server.condition != "starting" else server.start_watch.doing,
        server.about,
        server.confinement.sentence,
        server.confinement.weak,
        server.restarts,
        tools,
        server.log,
        said,
        offering,
        server.offers,
        tasks,
        server.person.sign_in.facts,
    )


def _tool_facts(server: McpServer, offered: Offered, barred: str) -> ToolFacts:
    rule = server.definition.rule(offered.raw)
    category = Category.ADMIN if server.confinement.weak else rule.category or server.definition.category
    seen = server.standings.get(offered.raw)
    off = barred or _standing_words(server, offered)
    if seen is None:
        return ToolFacts(offered, category, None, off, barred=bool(barred))
    return ToolFacts(offered, category, seen.standing, off, seen.text, bool(barred), seen.noticed)


def _standing_words(server: McpServer, offered: Offered) -> str:
    seen = server.standings.get(offered.raw)
    return _STANDING.get(seen.standing if seen is not None else "new", "")
