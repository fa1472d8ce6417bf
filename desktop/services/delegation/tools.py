"""Agents as tools: what an exposed definition is called as, what it takes, and how much it may do (R-AAT-1, R-AAT-7).

``AgentTools`` keeps the registry in step with the book of agents and with the skills; the calls themselves are carried
out by ``AgentCalls``. Looking through lists of tools blocks: use a thread.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from desktop.domain.agent_names import alias_of, tool_name_of
from desktop.domain.approval.judgement import Category
from desktop.domain.definitions import AgentDefinition, DefinitionProblem
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.skills import SkillDef
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.pipeline.skill_tool import AGENT_LIMIT_S
from desktop.services.agents.cycles import agent_cycles
from desktop.services.definitions.book import AgentBook
from desktop.services.skills.side_prompt import prompt_skill_now
from desktop.services.skills.world import SkillWorld
from desktop.tools.registry import ToolRegistry

SOURCE = "agent"
MESSAGE: Mapping[str, Any] = {
    "type": "object",
    "properties": {"message": {"type": "string", "minLength": 1, "description": "What it is to do."}},
    "required": ["message"],
    "additionalProperties": False,
}
_PASSES = 8
"""How often categories are worked out anew for agents that call agents."""
_TRUSTED = ("library", "mine")
"""Whose word about a category counts: a file from elsewhere may not lower its own."""

Carry = Callable[[AgentDefinition, Mapping[str, Any], ToolCallContext], Awaitable[ToolResult]]


class AgentTool:
    """An exposed agent as a tool. ``carry`` runs it."""

    def __init__(self, definition: AgentDefinition, spec: ToolSpec, carry: Carry) -> None:
        self.definition = definition
        self.spec = spec
        self._carry = carry

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Gate 9: the call is as grave as anything that the agent itself may do."""
        return PreCheck(self.spec.category)

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Run the agent in a new thread; its result for the caller (R-AAT-2)."""
        return await self._carry(self.definition, args, context)


class AgentTools:
    """``reserved`` says who has a name that is not free, or ""; ``problems`` are agents that cannot be tools now,
    ``cycles`` those that can come to call themselves, with the names by way of which."""

    def __init__(
        self,
        book: AgentBook,
        world: SkillWorld,
        registry: ToolRegistry,
        carry: Carry,
        reserved: Callable[[str], str] = lambda _name: "",
    ) -> None:
        self._book = book
        self._world = world
        self._registry = registry
        self._carry = carry
        self._reserved = reserved
        self._lock = threading.Lock()
        self._now: dict[str, AgentTool] = {}
        self._names: dict[str, str] = {}
        self.problems: Mapping[str, DefinitionProblem] = {}
        self.cycles: Mapping[str, tuple[str, ...]] = {}

    def refresh(self) -> None:
        """Put the exposed agents of the book in force. Blocks."""
        with self._lock:
            problems: dict[str, DefinitionProblem] = {}
            exposed = [one for _, one in sorted(self._book.agents.items()) if one.expose_as_tool]
            self._names = {one.name: tool_name_of(one.name) for one in exposed}
            free = [one for one in exposed if self._is_free(one, problems)]
            categories = self._categories(free)
            tools = {self._names[one.name]: self._tool(one, categories[one.name]) for one in free}
            self._registry.replace_source(SOURCE, tools.values())
            self._now, self.problems, self.cycles = tools, problems, self._cycles(free)
        self._world.shown.refresh()

    def _cycles(self, agents: list[AgentDefinition]) -> dict[str, tuple[str, ...]]:
        prompts: dict[str, list[SkillDef]] = {}
        for agent in agents:
            sides = filter(None, (agent.side_a, agent.side_b))
            found = (prompt_skill_now(self._world, agent, side) for side in sides)
            prompts[self._names[agent.name]] = [prompt for prompt in found if prompt is not None]
        ways = agent_cycles(self._world, prompts, self._world.fabric.list_tools())
        return {agent.name: ways[tool] for agent in agents if (tool := self._names[agent.name]) in ways}

    def _is_free(self, agent: AgentDefinition, problems: dict[str, DefinitionProblem]) -> bool:
        """Whether nothing else has its name or alias; an agent never takes a tool's place (R-DEF-17). Of two agents
        whose tools would be called the same, neither is one: a rule for the one would let the other through."""
        tool = self._names[agent.name]
        twin = next((name for name, its in self._names.items() if its == tool and name != agent.name), "")
        for name in (tool, alias_of(tool)):
            other = self._registry.find(name)
            owner = f"the tool {other.spec.name}" if other is not None and other.spec.source != SOURCE else ""
            owner = owner or self._reserved(name) or (f"the agent {twin} as well" if twin else "")
            if owner:
                text = f"as a tool it would be called {tool}, which is {owner}"
                problems[agent.name] = DefinitionProblem("name", "tool.taken", text)
                return False
        return True

    def _tool(self, agent: AgentDefinition, category: Category) -> AgentTool:
        """The one that is there already as long as nothing about it changed, so that approvals stay valid."""
        params = self._params(agent)
        version = hashlib.sha256(repr((agent, category, params)).encode()).hexdigest()
        tool = self._names[agent.name]
        known = self._now.get(tool)
        if known is not None and known.spec.version == version:
            return known
        spec = ToolSpec(
            tool,
            agent.tool_description,
            params,
            category,
            alias=alias_of(tool),
            tags=("agent",),
            source=SOURCE,
            timeout_s=AGENT_LIMIT_S,
            version=version,
            nests="thread",
            gives="calls",
        )
        return AgentTool(agent, spec, self._carry)

    def _params(self, agent: AgentDefinition) -> Mapping[str, Any]:
        skill = prompt_skill_now(self._world, agent, agent.side_a)
        own = skill.params if skill is not None else None
        return own if own and own.get("properties") and agent.type == "ai_human" else MESSAGE

    # -- how much it may do (R-AAT-7) ---------------------------------------------------------------------------------

    def _categories(self, agents: list[AgentDefinition]) -> dict[str, Category]:
        """The category of each agent, by its name. Agents may call each other: worked out until nothing rises any
        more."""
        specs = [tool.spec for tool in self._world.table.tools() if tool.spec.source != SOURCE]
        found = {agent.name: Category.READ for agent in agents}
        for _ in range(_PASSES):
            others = [
                ToolSpec(name, "", {}, found[agent.name], alias=alias_of(name), tags=("agent",), gives="calls")
                for agent in agents
                if (name := self._names[agent.name])
            ]
            now = {agent.name: self._category(agent, [*specs, *others]) for agent in agents}
            if now == found:
                break
            found = now
        return found

    def _category(self, agent: AgentDefinition, specs: list[ToolSpec]) -> Category:
        sides = [side for side in (agent.side_a, agent.side_b) if side is not None]
        prompts = [prompt_skill_now(self._world, agent, side) for side in sides]
        return max((self._of_prompt(prompt, agent, specs) for prompt in prompts), key=lambda one: one.rank)

    def _of_prompt(self, prompt: SkillDef | None, agent: AgentDefinition, specs: list[ToolSpec]) -> Category:
        if prompt is None:
            return Category.ADMIN  # it cannot run; should its prompt come back, this is worked out anew
        if prompt.category and prompt.source in _TRUSTED:
            return Category(prompt.category)
        allowed = self._world.allowed_of(prompt)
        own = (self._names[agent.name], prompt.name)
        maximum = (spec.category for spec in specs if spec.name not in own and allowed.offers(spec))
        return max(maximum, key=lambda one: one.rank, default=Category.READ)
