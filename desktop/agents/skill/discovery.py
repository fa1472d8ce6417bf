"""What a model gets to see: one function for agents, skill-list and the app's "what can this agent use" (R-DSC-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from desktop.agents.skill.offers import Room
from desktop.agents.skill.settings import PROVIDER
from desktop.domain.approval.judgement import CommandPart
from desktop.domain.estimates import CHARACTERS_PER_TOKEN
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.tools import Tool, ToolSpec
from desktop.pipeline.names import AllowedTools, ToolTable
from desktop.pipeline.skill_tool import SkillTool
from desktop.pipeline.skills.overrides import activatable

EXPLORING = ("skill-list", "skill-describe", "skill-invoke")
"""What discovery mode adds, so that everything else stays reachable through the same gates (R-DSC-4, R-DSC-9)."""

DECLARED = ("library", "tools.yaml", "mcp", "agent")
"""The sources of tools that are no skills, in the order in which they are offered where there is room for some."""

NOT_TOOLS = frozenset({"middleware", "context", "main"})
"""Roles that are no work of their own: middleware has a section of its own, a context skill is text (S-SK-4)."""


@dataclass(frozen=True, slots=True)
class Visible:
    """``usable`` is everything that may be called, ``inlined`` what is shown with its schema, in a stable order
    (R-DSC-10); ``middleware`` what may be activated (R-DSC-7); ``discovery``: the rest is found by skill-list.
    ``limits`` are what the list demands of the calls of those that are shown (R-DSC-5)."""

    usable: tuple[Tool, ...]
    inlined: tuple[Tool, ...]
    middleware: tuple[Tool, ...] = ()
    discovery: bool = False
    limits: Mapping[str, Sequence[str]] = field(default_factory=dict)


def resolve_visible_tools(
    tools: Iterable[Tool], allowed: AllowedTools, *, serving: str = "", hidden: bool = False, room: Room | None = None
) -> Visible:
    """The tools of an agent whose list is ``allowed`` and that works in the skill ``serving`` (R-DSC-2 … R-DSC-5).

    Hidden ones need their exact name in the list (R-VIS-1), and so do the skill itself (R-AG-8), the agent and its
    providers (R-AG-7). ``hidden``: hidden ones too, for whoever asks for them. Without a list, or with a bare ``*``,
    what is declared is offered as far as there is ``room``, after what the list names; skills are found by skill-list.
    """
    permitted = [tool for tool in tools if allowed.offers(tool.spec) and _ready(tool)]
    calls = [tool for tool in permitted if _role(tool) not in NOT_TOOLS or is_words(tool)]
    usable = [tool for tool in calls if _shown(tool, allowed, serving, hidden=hidden)]
    usable.sort(key=lambda tool: tool.spec.name)
    middleware = tuple(tool for tool in permitted if activatable(tool, allowed))
    named = _in_list_order([tool for tool in usable if allowed.names(tool.spec.name)], allowed)
    if not allowed.discovers:
        rest = [tool for tool in usable if tool not in named]
        return _limited(Visible(tuple(usable), (*named, *rest), middleware), allowed)
    exploring = [tool for tool in permitted if tool.spec.name in EXPLORING and tool not in named]
    exploring.sort(key=lambda tool: EXPLORING.index(tool.spec.name))
    declared = [tool for tool in usable if tool not in named and _is_declared(tool)]
    fitting = _fitting(declared, named, room or Room())
    return _limited(Visible(tuple(usable), (*named, *fitting, *exploring), middleware, discovery=True), allowed)


def _limited(visible: Visible, allowed: AllowedTools) -> Visible:
    shown = (tool.spec for tool in (*visible.inlined, *visible.middleware))
    return replace(visible, limits={spec.name: found for spec in shown if (found := allowed.constraints(spec))})


def is_words(tool: Tool) -> bool:
    """A skill whose text is all there is to it: calling it gives that text (S-SK-4)."""
    return isinstance(tool, SkillTool) and tool.definition.is_words


def _is_declared(tool: Tool) -> bool:
    """A built-in, of tools.yaml, of an MCP server that a person has looked at, an exposed agent: no skill."""
    return not isinstance(tool, SkillTool) and tool.spec.source in DECLARED


def _fitting(declared: Sequence[Tool], named: Sequence[Tool], room: Room) -> list[Tool]:
    """The first of them that there is room for, so that the same ones are offered each time (R-DSC-10)."""
    ordered = sorted(declared, key=lambda tool: (DECLARED.index(tool.spec.source), tool.spec.name))
    number, tokens = len(named), sum(map(_tokens, named))
    found: list[Tool] = []
    for tool in ordered:
        number, tokens = number + 1, tokens + _tokens(tool)
        if number > room.tools or (room.tokens is not None and tokens > room.tokens):
            break
        found.append(tool)
    return found


def _tokens(tool: Tool) -> float:
    spec = tool.spec
    return (len(spec.name) + len(spec.description) + len(str(spec.params))) / CHARACTERS_PER_TOKEN


@dataclass(frozen=True, slots=True)
class OwnCalls:
    """What an agent may call itself: ``allowed``, which is ``own`` and what is permitted above it.

    Whether it named itself, an agent or a provider is for its own list to say (R-AG-7, R-AG-8): those above have no
    reason to. A list that names the ``provider`` which the agent is worked on by says that it may do that, and not that
    the model may call it.
    """

    allowed: AllowedTools
    own: AllowedTools
    serving: str
    provider: str = PROVIDER

    def offers(self, spec: ToolSpec) -> bool:
        return self._not_itself(spec) and self.allowed.offers(spec)

    def permits(self, spec: ToolSpec, arguments: Mapping[str, Any], parts: Sequence[CommandPart] = ()) -> bool:
        return self._not_itself(spec) and self.allowed.permits(spec, arguments, parts)

    def names(self, name: str) -> bool:
        """Whether the lists name a tool; the skill itself and agents have to be named by its own list."""
        return self.own.names(name) if name == self.serving or is_agent(name) else self.allowed.names(name)

    def _not_itself(self, spec: ToolSpec) -> bool:
        if spec.name == self.provider != PROVIDER:
            return False
        return spec.name != self.serving or self.own.names(self.serving)

    def denies(self, spec: ToolSpec) -> bool:
        return self.allowed.denies(spec)

    def constraints(self, spec: ToolSpec) -> Sequence[str]:
        return self.allowed.constraints(spec)

    @property
    def discovers(self) -> bool:
        return self.allowed.discovers

    @property
    def exact_names(self) -> Sequence[str]:
        return self.allowed.exact_names


def not_itself(allowed: AllowedTools, serving: str) -> AllowedTools:
    """The list of an agent with nobody above it: it may call its own skill only by an exact name (R-AG-8)."""
    return OwnCalls(allowed, allowed, serving)


@dataclass(frozen=True, slots=True)
class _ProviderCall(OwnCalls):
    """Under what an agent's provider is called: ``own``, where what the app brings along needs no mention, and no
    denial above. ``by`` is the list of the model that chose it, None where a file did."""

    by: AllowedTools | None = None

    def permits(self, spec: ToolSpec, arguments: Mapping[str, Any], parts: Sequence[CommandPart] = ()) -> bool:
        if self.allowed.denies(spec) or self.own.denies(spec):
            return False
        if spec.name == PROVIDER:
            return True
        if self.by is not None and not self.by.names(spec.name):
            return False
        return spec.source == "library" or self.own.permits(spec, arguments)


def provider_call(allowed: AllowedTools, own: AllowedTools, by: AllowedTools | None) -> AllowedTools:
    """The list for the call of an agent's provider: that of the skill that it works on (D-11). A model's own choice
    has to be named in the model's list (R-AG-7)."""
    return _ProviderCall(allowed, own, "", by=by)


def is_agent(name: str) -> bool:
    """Whether this is the agent or a provider by its name (S-PRV-2)."""
    return name == "agent" or name.startswith("agent-")


async def visible_tools(table: ToolTable, allowed: AllowedTools, *, serving: str, room: Room) -> Visible:
    """``resolve_visible_tools`` over a whole table, in a thread: a list may be held against thousands of tools."""
    return await asyncio.to_thread(lambda: resolve_visible_tools(table.tools(), allowed, serving=serving, room=room))


def _in_list_order(tools: Sequence[Tool], allowed: AllowedTools) -> list[Tool]:
    """The tools, those that the list names exactly first and in its order."""
    rank = {name: at for at, name in enumerate(allowed.exact_names)}
    return sorted(tools, key=lambda tool: rank.get(tool.spec.name, len(rank)))


def _ready(tool: Tool) -> bool:
    return not isinstance(tool, SkillTool) or tool.definition.state == "ready"


def _role(tool: Tool) -> str:
    return tool.definition.role if isinstance(tool, SkillTool) else ""


def _shown(tool: Tool, allowed: AllowedTools, serving: str, *, hidden: bool) -> bool:
    name = tool.spec.name
    agent = is_agent(name) and not is_words(tool)
    by_name_alone = agent or name == serving or (tool.spec.visibility == "hidden" and not hidden)
    return allowed.names(name) if by_name_alone else True
