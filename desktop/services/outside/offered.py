"""Which skills and agents a person offers to other programs, and how these see them (R-MSV-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any

from desktop.domain.errors import NotFound
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.tools import Tool
from desktop.pipeline.skill_tool import SkillTool
from desktop.services.delegation.tools import SOURCE as AGENT
from desktop.services.skills.world import SkillWorld

NOT_OFFERED = "outside.not_offered"
MESSAGE: Mapping[str, Any] = {
    "type": "object",
    "properties": {"message": {"type": "string", "maxLength": 200_000, "description": "What it is to do."}},
    "additionalProperties": False,
}
"""What a skill in words takes that declares nothing."""
_NO_PARAMS: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
_BESIDE = frozenset({"middleware", "main"})
"""Roles of skills that stand around others, and are nothing to call by themselves."""


@dataclass(frozen=True, slots=True)
class Offerable:
    """Something that can be offered. ``kind``: agent | skill."""

    name: str
    kind: str
    description: str
    category: str
    source: str


class OutsideTools:
    """``chosen`` gives the names that a person has switched on; nothing else is there for other programs."""

    def __init__(self, world: SkillWorld, chosen: Callable[[], Collection[str]]) -> None:
        self._world = world
        self._chosen = chosen

    async def offerable(self) -> tuple[Offerable, ...]:
        """All that a person can choose among, agents first."""
        return await asyncio.to_thread(self._offerable)

    def _offerable(self) -> tuple[Offerable, ...]:
        found = [
            Offerable(spec.name, kind, spec.description, spec.category.value, spec.source)
            for tool in self._world.table.tools()
            if (kind := kind_of(tool)) and (spec := tool.spec).visibility != "hidden"
        ]
        return tuple(sorted(found, key=lambda one: (one.kind, one.source == "library", one.name)))

    async def offered(self) -> list[dict[str, Any]]:
        """The tools that are on and there now, as a program is told of them."""
        tools = [await self._named(name) for name in sorted(self._chosen())]
        return [_told(tool) for tool in tools if tool is not None]

    async def find(self, name: str) -> Tool:
        """The tool of this name. Raises NotFound for one that is not offered, whether it is there or not."""
        chosen = next((one for one in self._chosen() if name in (one, outside_name(one))), "")
        tool = await self._named(chosen) if chosen else None
        if tool is None:
            raise NotFound(
                f"Assent offers no tool of the name {name[:80]!r}.",
                next_step="A person chooses what is offered: Settings, Assent for other apps.",
                code=NOT_OFFERED,
            )
        return tool

    def is_on(self, name: str) -> bool:
        """Whether a tool with this canonical name is offered now."""
        return name in self._chosen()

    async def _named(self, name: str) -> Tool | None:
        await self._world.side.bring(name)
        tool = self._world.table.find(name)
        return tool if tool is not None and tool.spec.name == name and kind_of(tool) else None


def kind_of(tool: Tool) -> str:
    """agent | skill, or "" for what is not to be offered: Assent's own tools, those of servers, and what only stands
    around other skills."""
    if tool.spec.source == AGENT:
        return AGENT
    if not isinstance(tool, SkillTool):
        return ""
    skill = tool.definition
    machinery = skill.source in ("library", "mcp", "program") and skill.is_code and skill.role != "agent"
    fits = skill.state == "ready" and skill.model_invocable and skill.role not in _BESIDE
    return "skill" if fits and not machinery else ""


def outside_name(name: str) -> str:
    """The name as programs outside know it, and as models do: letters, digits and ``_`` alone."""
    return "".join(one if one.isascii() and one.isalnum() else "_" for one in name)[:64]


def speaks(tool: Tool) -> bool:
    """Whether it takes a message, because it is in words and declares nothing."""
    return isinstance(tool, SkillTool) and not tool.definition.is_code and not tool.spec.params.get("properties")


def _told(tool: Tool) -> dict[str, Any]:
    spec = tool.spec
    params = MESSAGE if speaks(tool) else spec.params
    returns = spec.returns if isinstance(spec.returns, Mapping) and spec.returns.get("type") == "object" else None
    return {
        "name": outside_name(spec.name),
        "kind": kind_of(tool),
        "description": spec.description,
        "params": dict(params) if params.get("type") == "object" else dict(_NO_PARAMS),
        "returns": dict(returns) if returns is not None else None,
        "category": spec.category.value,
    }
