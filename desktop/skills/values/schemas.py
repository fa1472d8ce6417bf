"""JSON Schemas that say where in the context to find the real one (S-RES-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.skills.values.contexts import ContextView
from desktop.skills.values.kinds import PathError
from desktop.skills.values.paths import path_get

RESOLVE = "$resolve"


def resolve_json_schema(schema: Mapping[str, Any] | None, ctx: ContextView) -> Mapping[str, Any] | None:
    """The mapping at the path ``schema["$resolve"]`` of the context, else ``schema`` unchanged.

    The path sees ``args``, ``locals``, ``nonlocals``, ``globals`` and ``run.frontmatter``. What is not there, no
    mapping, or no path at all leaves the static schema in force.
    """
    expr = None if schema is None else schema.get(RESOLVE)
    if not isinstance(expr, str):
        return schema
    try:
        found = path_get(_view(ctx), expr)
    except PathError:
        return schema
    return found if isinstance(found, Mapping) else schema


def _view(ctx: ContextView) -> dict[str, Any]:
    return {
        "args": ctx.args,
        "run": {"frontmatter": ctx.run.frontmatter},
        "locals": ctx.locals,
        "nonlocals": ctx.nonlocals,
        "globals": ctx.globals,
    }
