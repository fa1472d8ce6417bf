"""What skill-list and skill-describe answer, and why a key of the cascade has its value (R-VIS-4, R-DSC-8).

The library's skills of these names are thin files over these functions. What a caller may not call is neither listed
nor described to it.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from desktop.agents.skill.discovery import is_words, resolve_visible_tools
from desktop.domain.errors import ToolFailure
from desktop.domain.skills import SkillDef
from desktop.domain.tools import Tool
from desktop.pipeline.names import AllowedTools
from desktop.pipeline.skill_context import Context
from desktop.pipeline.skill_tool import SkillTool
from desktop.skills.cascade.effective import Cascade
from desktop.skills.formats.folder import folder_files
from desktop.skills.names import is_bare_name

MAX_ROWS = 500


async def list_for(
    ctx: Context, query: str = "", tags: Sequence[str] = (), include_hidden: bool = False
) -> list[dict[str, Any]]:
    """Rows of what the caller may call, filtered as on the Skills page (R-VIS-7); at most 500."""
    return await asyncio.to_thread(_listed, ctx, query, tags, include_hidden)


def _listed(ctx: Context, query: str, tags: Sequence[str], include_hidden: bool) -> list[dict[str, Any]]:
    allowed, fabric = ctx.call.request.caller.allowed, ctx.globals["skills"]
    visible = resolve_visible_tools(ctx.globals["tools"].tools(), allowed, hidden=include_hidden)
    usable = {tool.spec.name: tool for tool in visible.usable}
    named = [row["name"] for row in fabric.catalog().skill_list(tags, query, include_hidden=True)]
    found = (usable[name] for name in named if name in usable)
    return [_row(tool, allowed) for tool in itertools.islice(found, MAX_ROWS)]


def _row(tool: Tool, allowed: AllowedTools) -> dict[str, Any]:
    spec, limits = tool.spec, allowed.constraints(tool.spec)
    return {
        "name": spec.name,
        "description": spec.description,
        "tags": list(spec.tags),
        "category": spec.category.value,
        "source": spec.source,
        **({"constraints": list(limits)} if limits else {}),
    }


async def describe_for(ctx: Context, name: str) -> dict[str, Any]:
    """Everything a caller needs to know to call one tool. Raises ToolFailure when there is none that it may call."""
    allowed = ctx.call.request.caller.allowed
    tool = await _named(ctx, name)
    if tool is None or not resolve_visible_tools([tool], allowed, hidden=True).usable:
        raise ToolFailure(f"There is no tool named {name[:64]!r}. skill-list shows what there is.")
    spec = tool.spec
    described: dict[str, Any] = {
        **_row(tool, allowed),
        **await asyncio.to_thread(_words, tool),
        "params": dict(spec.params),
        "returns": dict(spec.returns) if spec.returns is not None else None,
        "visibility": spec.visibility or "shown",
    }
    return described


def _words(tool: Tool) -> dict[str, Any]:
    """What is to be known of a skill in words beside the rest: how its text is got, and its files. Blocks."""
    if not isinstance(tool, SkillTool) or not is_words(tool):
        return {}
    files = [file.path for file in folder_files(tool.definition).files]
    return {"use": "Calling it gives its text, with where its files are.", **({"files": files} if files else {})}


async def explain_key(ctx: Context, key: str, name: str) -> Mapping[str, Any]:
    """The value of a frontmatter key that is in force for a skill, and which skill set it (R-INV-12)."""
    cascades, tool = ctx.globals["cascades"], await _named(ctx, name)
    definition: SkillDef | None = getattr(tool, "definition", None)
    if definition is None:
        raise ToolFailure(f"There is no skill named {name[:64]!r}.")
    found: Cascade = await asyncio.to_thread(cascades.of, definition, {})
    return {"skill": name, "key": key, "value": found.metadata.get(key), "from": found.origins.get(key, "")}


async def _named(ctx: Context, name: str) -> Tool | None:
    """The tool of a bare name; None for a path, because describing a path would load it (C-3, Q-3)."""
    if not is_bare_name(name.replace("_", "-")):
        return None
    table = ctx.globals["tools"]
    await table.bring(name)
    found: Tool | None = table.find(name)
    return found
