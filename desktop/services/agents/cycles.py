"""Agents that can come to call themselves, by the exact names in lists of prompts and skills (R-RES-13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from desktop.domain.skills import SkillDef
from desktop.services.skills.world import SkillWorld
from desktop.skills.resolution.peers import components


def agent_cycles(
    world: SkillWorld, agents: Mapping[str, Sequence[SkillDef]], skills: Iterable[SkillDef]
) -> dict[str, tuple[str, ...]]:
    """For each agent in a cycle, by its name as a tool: the others in it; itself alone where its own list names it.
    ``agents`` are those that can be called, with their prompts. Blocks."""
    edges = {skill.name: _named(world, (skill,)) for skill in skills if skill.allowed_tools is not None}
    edges |= {tool: _named(world, prompts) for tool, prompts in agents.items()}
    found: dict[str, tuple[str, ...]] = {}
    for group in components(edges):
        for tool in agents.keys() & set(group):
            others = tuple(sorted(name for name in group if name != tool))
            if others or tool in edges[tool]:
                found[tool] = others or (tool,)
    return found


def _named(world: SkillWorld, prompts: Sequence[SkillDef]) -> list[str]:
    lists = [world.allowed_of(prompt) for prompt in prompts if prompt.allowed_tools is not None]
    return [name for allowed in lists for name in allowed.exact_names]
