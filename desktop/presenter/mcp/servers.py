"""The settings page of mcp.yaml: servers and how they are, what they offer, what of it the person has agreed to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from desktop.domain.errors import KnownError
from desktop.domain.keyring import KeyringEntry
from desktop.domain.lazy_dataclass import dataclass
from desktop.presenter.mcp.example import EXAMPLE
from desktop.presenter.mcp.keeping import keep_pasted
from desktop.presenter.mcp.secrets import PastedSecret
from desktop.presenter.settings.declared import DeclaredViewModel
from desktop.presenter.skills.forms import FormField, fields_of
from desktop.presenter.skills.words import table_of
from desktop.skills.catalogue.pins import Difference, FileDifference
from desktop.yaml_text.change import with_item

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.presenter.skills.trying import SkillTrials
    from desktop.safety.secrets.tool_secrets import ToolSecrets
    from desktop.tools.mcp.servers import McpServers, McpState, ServerFacts, ToolFacts

MAX_AT_ONCE = 40
"""Tools that are looked at, and so agreed to, in one go: as many as are shown."""


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
    params: tuple[tuple[str, str, str], ...] = ()
    """What it takes, in words."""
    schema: str = ""
    """What it takes, as JSON."""


@dataclass(frozen=True, slots=True)
class McpInstructions:
    """How a server wants to be used, in its own words. ``off`` why models are not told, or ""; ``unseen`` as of a
    tool."""

    text: str
    off: str
    unseen: bool
    server_name: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class McpRow:
    """The row of one server."""

    name: str
    """Its name."""
    state: str
    """off | starting | running | waiting | failed."""
    reason: str
    """Why, in a sentence."""
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

    @property
    def unseen(self) -> int:
        """How many of its tools wait to be looked at."""
        return sum(tool.unseen for tool in self.tools)

    @property
    def unseen_instructions(self) -> bool:
        """Whether its instructions wait to be looked at."""
        return self.instructions is not None and self.instructions.unseen

    @property
    def on(self) -> int:
        """How many of its tools can be called."""
        return sum(not tool.off for tool in self.tools)


class McpServersViewModel(DeclaredViewModel):
    """The servers of mcp.yaml. ``difference`` is what is looked at, and ``accept`` agrees to exactly that."""

    _state: McpState
    difference_ready = Signal(object)
    secrets_kept = Signal(object)
    secrets_refused = Signal(str)

    def __init__(self, service: McpServers, trials: SkillTrials, keyring: ToolSecrets, bridge: Bridge) -> None:
        super().__init__(service, trials, bridge, example=EXAMPLE, holds="servers")
        self._service = service
        self._keyring = keyring
        self._looked_at: tuple[str, dict[str, str]] = ("", {})
        self._difference: Difference | None = None

    # -- what there is ------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> tuple[McpRow, ...]:
        """The servers in force, in the order of the file."""
        return tuple(_row(server) for server in self._state.servers)

    # -- what a person does -------------------------------------------------------------------------------------------

    def restart(self, name: str) -> None:
        """Start a server anew, ending it first if it runs."""
        self._spawn(self._service.restart(name), f"restart MCP server {name}")

    def stop(self, name: str) -> None:
        """End it until it is started by hand, or Assent anew."""
        self._spawn(self._service.stop(name), f"stop MCP server {name}")

    @property
    def difference(self) -> Difference | None:
        """The difference that the person is looking at."""
        return self._difference

    def look_at(self, name: str) -> None:
        """Show what is new or changed in its tools: ``difference_ready`` follows."""
        self._look_at(name, [tool for tool in self._state.server(name).judged if tool.standing in ("new", "changed")])

    def look_at_all(self, name: str) -> None:
        """The same for every tool that could be on and is not."""
        self._look_at(name, [tool for tool in self._state.server(name).judged if tool.off and not tool.barred])

    def switch(self, name: str, shown: McpToolRow | McpInstructions, on: bool) -> None:
        """The person put one on or off. What is shown of a tool on the page counts as looked at; what changed since it
        was on is shown beside what it was, first, and so are instructions, of which the page shows the beginning."""
        if not on:
            self.switch_off(name, (shown.server_name,))
            return
        tool = next((t for t in self._state.server(name).judged if t.offered.raw == shown.server_name), None)
        if tool is None:
            return
        other = tool.standing == "changed" or (tool.standing == "off" and tool.seen_text != tool.offered.text)
        if other or isinstance(shown, McpInstructions):
            self._look_at(name, [tool])
        else:
            self._spawn(self._service.accept(name, {shown.server_name: shown.digest}), f"switch on a tool of {name}")

    def switch_off(self, name: str, tools: Sequence[str] = ()) -> None:
        """Switch off tools, by the server's names for them, or all of the server."""
        every = [tool.offered.raw for tool in self._state.server(name).judged if not tool.barred]
        self._spawn(self._service.switch_off(name, tools or every), f"switch off tools of {name}")

    def _look_at(self, name: str, tools: Sequence[ToolFacts]) -> None:
        unseen = tools[:MAX_AT_ONCE]
        self._looked_at = (name, {tool.offered.raw: tool.offered.digest for tool in unseen})
        self._difference = compared(name, [(t.offered.name, t.seen_text or None, t.offered.text) for t in unseen])
        self.difference_ready.emit(self._difference)

    def accept(self) -> None:
        """The person has seen exactly what was shown last, and takes it."""
        name, digests = self._looked_at
        self._difference = None
        self._spawn(self._service.accept(name, digests), f"accept tools of {name}")

    def put_in(self, entry: Mapping[str, object]) -> None:
        """Write a server into the text, which is checked and not saved yet; ``opened`` follows."""
        self.edited(with_item(self.shown, "servers", entry))
        self.opened.emit()

    def keep_secrets(self, secrets: Sequence[PastedSecret]) -> None:
        """Store the secrets in the keyring. ``secrets_kept`` follows, (secret, entry) of each, or ``secrets_refused``
        with why not."""
        self._bridge.spawn(self._keep_secrets(secrets), name="keyring")

    async def _keep_secrets(self, secrets: Sequence[PastedSecret]) -> None:
        kept: list[tuple[PastedSecret, KeyringEntry]] = []
        trouble = ""
        try:
            for secret in secrets:
                kept.append((secret, await keep_pasted(self._keyring, secret)))
        except KnownError as error:
            trouble = error.advice
        if kept:
            self.secrets_kept.emit(tuple(kept))
            self.changed.emit()
        if trouble:
            self.secrets_refused.emit(trouble)

    # -- trying -------------------------------------------------------------------------------------------------------

    def tool(self, name: str) -> McpToolRow | None:
        """The tool of this name of ours, if it can be called."""
        return next((tool for row in self.rows for tool in row.tools if tool.name == name and not tool.off), None)

    def fields(self, name: str) -> tuple[FormField, ...] | None:
        """The form of a tool's arguments; None where no form can hold them."""
        found = [t.offered for s in self._state.servers for t in s.tools if t.offered.name == name]
        return fields_of(found[0].schema) if found else None


def compared(server: str, tools: Sequence[tuple[str, str | None, str]]) -> Difference:
    """Tools of a server as they were seen (None: never) and as they are."""
    return Difference(server, "", tuple(FileDifference(*tool) for tool in tools))


def _row(server: ServerFacts) -> McpRow:
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
    )


def _instructions(said: ToolFacts | None) -> McpInstructions | None:
    if said is None:
        return None
    offered = said.offered
    return McpInstructions(offered.text, said.off, said.standing in ("new", "changed"), offered.raw, offered.digest)


def _tool_row(tool: ToolFacts) -> McpToolRow:
    offered = tool.offered
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
        table_of(offered.schema),
        json.dumps(offered.schema, indent=2, ensure_ascii=False),
    )
