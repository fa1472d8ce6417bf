"""The prompt of a side: the skill that it names, or one made of the text that is written in its place.

Such a text is what a markdown skill's body would be (its directives are expanded alike), with no frontmatter: the list
of tools, where there is one, stands beside it. Relative paths in it begin in the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.skills import SkillDef
from desktop.services.skills.world import SkillWorld


def in_place(
    text: str, shown: str, tools: str | None = None, model: Mapping[str, Any] | None = None
) -> SkillDef | None:
    """A prompt that is written in place; None for no text. ``shown`` is whose it is; its name can be that of no skill
    and no tool; ``model`` is what a frontmatter would say of its model."""
    if not text.strip():
        return None
    name = f"the prompt of {shown}"
    metadata = {"model": dict(model)} if model else {}
    return SkillDef(name, name, "markdown", "program", allowed_tools=tools, text=text, metadata=metadata)


def in_place_of(agent: AgentDefinition, side: SideDefinition) -> SkillDef | None:
    """The skill made of a prompt that is written in place; None where the side names a skill."""
    return None if side.prompt else in_place(side.prompt_text, agent.shown, side.allowed_tools, side.model)


async def prompt_skill(skills: SkillWorld, agent: AgentDefinition, side: SideDefinition) -> SkillDef | None:
    """What a side works by; None when the skill that it names is not there."""
    return in_place_of(agent, side) or await skills.find(side.prompt)


def prompt_skill_now(skills: SkillWorld, agent: AgentDefinition, side: SideDefinition) -> SkillDef | None:
    """The skill that is a side's prompt: the one written in place, or the one it names. Blocks."""
    return in_place_of(agent, side) or skills.fabric.find_tool(side.prompt)


def as_list(tools: Sequence[str] | None) -> str | None:
    """Patterns as one list of allowed tools."""
    return None if tools is None else " ".join(tools)
