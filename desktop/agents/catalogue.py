"""What skill-list and skill-describe answer, and why a key of the cascade has its value (R-VIS-4, R-DSC-8).

The library's skills of these names are thin files over these functions. What a caller may not call is neither listed
nor described to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from desktop.agents.discovery import NOT_TOOLS
from desktop.domain.errors import ToolFailure
from desktop.domain.skills import SkillDef
from desktop.domain.tools import Tool
from desktop.pipeline.names import AllowedTools
from desktop.pipeline.skill_context import Context
from desktop.pipeline.skill_tool import SkillTool
from desktop.skills.cascade.cascade import Cascade
from desktop.skills.names import is_bare_name, normal_tags

MAX_ROWS = 500


async def list_for(
    ctx: Context, query: str = "", tags: Sequence[str] = (), include_hidden: bool = False
) -> list[dict[str, Any]]:
    """Rows of what the caller may call, tags joined by AND; at most 500."""
    allowed = ctx.call.request.caller.allowed
    tools = await asyncio.to_thread(ctx.globals["tools"].tools)
    found = [tool for tool in _visible(tools, allowed, include_hidden) if matches(tool.spec, query, tags)]
    return [_row(tool) for tool in found[:MAX_ROWS]]


def matches(spec: Any, query: str, tags: Iterable[str]) -> bool:
    """All words of ``query`` in name, description or tags, and all of ``tags``."""
    if not set(normal_tags(tags)) <= set(spec.tags):
        return False
    text = f"{spec.name} {spec.description} {' '.join(spec.tags)}".casefold()
    return all(word in text for word in query.casefold().split())


def _visible(tools: Iterable[Tool], allowed: AllowedTools, include_hidden: bool) -> list[Tool]:
    found = []
    for tool in tools:
        name = tool.spec.name
        definition = tool.definition if isinstance(tool, SkillTool) else None
        if definition is not None and (definition.state != "ready" or definition.role in NOT_TOOLS):
            continue
        if name == "agent" or name.startswith("agent-") or not allowed.offers(tool.spec):
            continue
        if tool.spec.visibility == "hidden" and not include_hidden and not allowed.names(name):
            continue
        found.append(tool)
    return found


def _row(tool: Tool) -> dict[str, Any]:
    spec = tool.spec
    return {
        "name": spec.name,
        "description": spec.description,
        "tags": list(spec.tags),
        "category": spec.category.value,
        "source": spec.source,
    }


async def describe_for(ctx: Context, name: str) -> dict[str, Any]:
    """Everything a caller needs to know to call one tool. Raises ToolFailure when there is none that it may call."""
    allowed = ctx.call.request.caller.allowed
    tool = await _named(ctx, name)
    if tool is None or not _visible([tool], allowed, True):
        raise ToolFailure(f"There is no tool named {name[:64]!r}. skill-list shows what there is.")
    spec = tool.spec
    described: dict[str, Any] = {
        **_row(tool),
        "params": dict(spec.params),
        "returns": dict(spec.returns) if spec.returns is not None else None,
        "visibility": spec.visibility or "shown",
    }
    constraints = getattr(allowed, "constraints", None)
    if constraints is not None and (bound := list(constraints(spec))):
        described["constraints"] = bound
    return described


async def explain_key(ctx: Context, key: str, name: str) -> Mapping[str, Any]:
    """The value of a frontmatter key that is in force for a skill, and which skill set it (R-INV-12)."""
    cascades, tool = ctx.globals["cascades"], await _named(ctx, name)
    definition: SkillDef | None = getattr(tool, "definition", None)
    if definition is None:
        raise ToolFailure(f"There is no skill named {name[:64]!r}.")
    found: Cascade = await asyncio.to_thread(cascades.of, definition, {})
    return {"skill": name, "key": key, "value": found.metadata.get(key), "from": found.origins.get(key, "")}


async def _named(ctx: Context, name: str) -> Tool | None:
    """By name only: describing a path would load it (C-3, Q-3)."""
    if not is_bare_name(name.replace("_", "-")):
        return None
    table = ctx.globals["tools"]
    await table.bring(name)
    found: Tool | None = table.find(name)
    return found
