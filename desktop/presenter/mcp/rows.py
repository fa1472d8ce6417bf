"""What the page of MCP servers shows, as records: servers, their tools, their instructions. No Qt."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.servers.mcp import McpOffers, McpTask
from desktop.domain.servers.sign_in import SignInFacts
from desktop.domain.text.json_text import read_json
from desktop.presenter.skills.words import table_of

if TYPE_CHECKING:
    from desktop.tools.mcp.servers import ServerFacts, ToolFacts

READS = "only reads"
_FIRST = (READS, "may destroy", "changes things", "destroys nothing")
"""What a tool says of itself that a person wants to know first."""


@dataclass(frozen=True, slots=True)
class McpToolRow:
    """One tool a server offers."""

    name: str
    """Our name for it."""
    server_name: str
    """The server's name for it."""
    category: str
    """Who has to agree to its calls."""
    description: str
    """What it does, in the server's words."""
    off: str
    """Why it cannot be called, or ""."""
    unseen: bool
    """Whether it waits to be looked at."""
    claims: tuple[str, ...]
    """The server's words about it, which decide nothing."""
    switchable: bool = True
    """Whether the person can put it on or off here."""
    digest: str = ""
    """Stands for what was looked at."""
    takes: Mapping[str, Any] = field(default_factory=dict)
    """The JSON Schema of what it takes."""
    problem: str = ""
    """Why nobody can use it, or ""."""
    before: str = ""
    """What was told of it when the person looked last, laid out; "": they never did, or it is the same."""
    now: str = ""
    """The same as it is now."""
    title: str = ""
    """What the server calls it for people."""
    noticed: float = 0.0
    """When its change was noticed, in seconds since the epoch; 0: it has not changed."""

    @property
    def changed_words(self) -> str:
        """That it has changed, and the day on which that was noticed: ``changed 24 Nov``."""
        if not self.noticed:
            return "changed"
        then, today = time.localtime(self.noticed), time.localtime()
        day = "today" if then[:3] == today[:3] else f"{then.tm_mday} {time.strftime('%b', then)}"
        return f"changed {day}"

    @property
    def params(self) -> tuple[tuple[str, str, str], ...]:
        """What it takes, in words."""
        return table_of(self.takes)

    @property
    def schema(self) -> str:
        """What it takes, as JSON."""
        return json.dumps(self.takes, indent=2, ensure_ascii=False)

    @property
    def changed(self) -> bool:
        """Whether the person looked at another version of it."""
        return bool(self.before)

    @property
    def reads(self) -> bool:
        """Whether it says of itself that it only reads."""
        return READS in self.claims

    @property
    def says(self) -> str:
        """What it says of itself, as half a sentence."""
        said = next((words for words in _FIRST if words in self.claims), "")
        return f"says of itself: {said}" if said else "says nothing of itself"


@dataclass(frozen=True, slots=True)
class McpInstructions:
    """How a server wants to be used, in its own words, or what it offers beside tools. ``off`` why that does not count,
    or ""; ``unseen`` as of a tool."""

    text: str
    off: str
    unseen: bool
    server_name: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class McpStart:
    """How a server is started, for a person: a program with what it is given, or an address."""

    command: str = ""
    """The program."""
    args: tuple[str, ...] = ()
    """Its arguments, each as it is handed over."""
    env: tuple[tuple[str, str], ...] = ()
    """Its variables; keys are references to the keyring."""
    cwd: str = ""
    """The folder it starts in; "": the workspace."""
    network: str = ""
    """Whether it has the network, in a word."""
    headers: tuple[tuple[str, str], ...] = ()
    """What is sent with each request to an address."""
    bearer: str = ""
    """Where the key for an address is kept."""
    timeout: str = ""
    """How long one call may take."""
    restarts: int = 0
    """How often it was started again by itself."""
    protocol: str = ""
    """The revision of the protocol that it speaks."""


@dataclass(frozen=True, slots=True)
class McpRow:
    """The row of one server."""

    name: str
    """Its name."""
    state: str
    """off | starting | running | waiting | failed | sign_in."""
    reason: str
    """Why, in a sentence; of a start what it waits for."""
    where: str
    """What it runs, or its address."""
    is_web: bool
    """Whether it is at an address."""
    enabled: bool
    """Whether it may start."""
    confinement: str
    """What confines it, in a sentence."""
    weak: str
    """Why its calls are admin whatever was configured, or ""."""
    says: str
    """What it says about itself."""
    note: str
    """What else a person should know."""
    tools: tuple[McpToolRow, ...]
    """What it offers."""
    log: tuple[str, ...]
    """The last lines of its log."""
    line: int
    """Where it stands in mcp.yaml."""
    instructions: McpInstructions | None = None
    """What it tells models; None: nothing."""
    start: McpStart = field(default_factory=McpStart)
    """How it is started."""
    sign_in: SignInFacts = SignInFacts()
    """How a person's sign-in to it stands."""

    offering: McpInstructions | None = None
    """That it offers resources or prompts; None: neither."""
    offers: McpOffers = field(default_factory=lambda: McpOffers(""))
    """Which."""
    tasks: tuple[McpTask, ...] = ()
    """Its calls that go on by themselves."""

    @property
    def host(self) -> str:
        """The host of a server at an address, or ""."""
        try:
            return urlsplit(self.where).hostname or "" if self.is_web else ""
        except ValueError:
            return ""

    @property
    def unseen(self) -> int:
        """How many of its tools wait to be looked at."""
        return sum(tool.unseen for tool in self.tools)

    @property
    def unseen_instructions(self) -> bool:
        """Whether its instructions wait to be looked at."""
        return self.instructions is not None and self.instructions.unseen

    @property
    def unseen_offering(self) -> bool:
        """Whether its resources and prompts wait to be looked at."""
        return self.offering is not None and self.offering.unseen

    @property
    def waiting(self) -> int:
        """How many things of it wait to be looked at."""
        return self.unseen + self.unseen_instructions + self.unseen_offering

    @property
    def on(self) -> int:
        """How many of its tools can be called."""
        return sum(not tool.off for tool in self.tools)


def row_of(server: ServerFacts) -> McpRow:
    """The row of a server as it is now."""
    definition, about = server.definition, server.about
    called = " ".join(part for part in (about.name, about.version) if part)
    says = f"It calls itself {called}." if called else ""
    return McpRow(
        definition.name,
        server.condition,
        server.reason,
        definition.where,
        bool(definition.url),
        definition.enabled,
        server.confinement,
        server.weak,
        says,
        about.note,
        tuple(map(_tool_row, server.tools)),
        server.log,
        definition.line,
        _instructions(server.instructions),
        _start(server),
        server.sign_in,
        _instructions(server.offering),
        server.offers or McpOffers(definition.name),
        server.tasks,
    )


def _start(server: ServerFacts) -> McpStart:
    definition = server.definition
    network = {True: "on", False: "off", None: "as for commands"}[definition.network]
    return McpStart(
        definition.command,
        definition.args,
        tuple(definition.env.items()),
        definition.cwd,
        "" if definition.url else network,
        tuple(definition.headers.items()),
        definition.bearer,
        f"{definition.timeout_s:g} s",
        server.restarts,
        server.about.protocol,
    )


def _instructions(said: ToolFacts | None) -> McpInstructions | None:
    if said is None:
        return None
    offered = said.offered
    return McpInstructions(offered.text, said.off, said.standing in ("new", "changed"), offered.raw, offered.digest)


def _tool_row(tool: ToolFacts) -> McpToolRow:
    offered = tool.offered
    other = tool.seen_text != offered.text and tool.standing != "seen"
    return McpToolRow(
        offered.name or offered.raw,
        offered.raw,
        tool.category.value,
        offered.description,
        tool.off,
        tool.standing in ("new", "changed") and not offered.problem,
        offered.claims,
        not tool.barred,
        offered.digest,
        offered.schema,
        offered.problem,
        tool.seen_text if other else "",
        offered.text,
        offered.title,
        tool.noticed,
    )


def laid_out(told: str) -> tuple[str, str]:
    """What is told of a tool (JSON of its declaration), to be read and compared line by line: its description, then the
    rest. Any other text is all description. Blocks for a large one: use a thread."""
    try:
        found = read_json(told)
    except (ValueError, RecursionError):
        return told, ""
    if not isinstance(found, dict):
        return told, ""
    description = found.pop("description", "")
    words = description if isinstance(description, str) else json.dumps(description, ensure_ascii=False)
    return words, json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False)
