"""What skills that run outside this process have in common: the text that was approved, and what they see (R-SK-14)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from desktop.domain.errors import ToolFailure
from desktop.domain.skills import SkillDef
from desktop.pipeline.skill_context import Context
from desktop.pipeline.skill_tool import content_id

AGENT = "agent"
"""Of ``ctx.locals``: the trace of an agent that the code called (R-TRC-2)."""

MAX_SOURCE = 1_000_000
"""Characters of a file that runs."""
KEPT = frozenset({"host", "permissions", "failure", "prompt", "config", "internals"})
"""Keys of locals and nonlocals that belong to the app: neither shown to a worker nor taken from it."""

SourceOf = Callable[[SkillDef], str]
"""Reads a skill's file; of a pinned one only what was seen. Blocks."""


def approved(source_of: SourceOf, definition: SkillDef, context: Context) -> str:
    """The text that was approved, and no other. Blocks; raises ToolFailure when the file is another by now."""
    path = definition.path
    identity = context.call.check.identity.get(path, "") if context.call.check is not None else ""
    source = source_of(definition)
    if definition.source != "library" and content_id(source.encode("utf-8", "surrogatepass")) != identity:
        raise ToolFailure(f"{path} changed after the call was allowed.", code="denied.permission")
    if len(source) > MAX_SOURCE:
        raise ToolFailure(f"{path} is larger than {MAX_SOURCE} characters.")
    return source


def view_of(context: Context, target: Context | None = None) -> dict[str, Any]:
    """What a worker sees of a context: JSON data, without what belongs to the app."""
    spec = context.run.tool
    view: dict[str, Any] = {
        "id": context.envelope.id,
        "args": plain(dict(context.args)),
        "tool": {"name": spec.name, "description": spec.description, "category": spec.category.value},
        "origin": context.run.origin,
        "frontmatter": plain(dict(context.run.frontmatter)),
        "locals": plain({key: value for key, value in context.locals.items() if key not in KEPT - {"config"}}),
        "nonlocals": plain(without_app_values(context.nonlocals)),
        "trigger": context.trigger,
        "wraps": context.wraps,
    }
    if target is not None and target is not context:
        view["target"] = view_of(target)
    return view


def without_app_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a worker says of locals or nonlocals, or is told of them, without what belongs to the app."""
    return {key: value for key, value in values.items() if key not in KEPT}


def plain(value: Any) -> Any:
    """The value as JSON data; what has no JSON form becomes its type's name in brackets, and keys that are no text are
    left out."""
    return json.loads(json.dumps(value, default=lambda odd: f"[{type(odd).__name__}]", skipkeys=True))
