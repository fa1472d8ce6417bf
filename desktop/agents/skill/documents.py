"""What a model is told of its tools where it calls them from code, and the schemas of the agent's own two
tools. Everything in a stable order, so that prompts are cached (R-DSC-10)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from desktop.agents.skill.discovery import Visible
from desktop.agents.skill.result_contract import DeclaredResult
from desktop.domain.tools import Tool
from desktop.pipeline.pipeline import Pipeline
from desktop.pipeline.skills.code_mode import FINISH, INVOKE, PARAMS

MAX_DESCRIPTION = 2_000

_HOW = """# Calling tools from code

Your tool is `invoke`. Its `code` is JavaScript, the body of an async function: top-level `await` works, and so do \
loops, `try`/`catch` and `Promise.all`. There are no modules, no network, no files: \
everything goes through `ctx.manager`.

- `await ctx.manager.invoke(name, args)` calls a tool by its name and gives its value, or throws.
- `ctx.manager.finish(value)` records the result and ends the task after this round.
- `return value` shows you the value; `console.log(...)` is shown too. What you do not return you do not see.
- `memory` is an object that keeps what you put into it between calls; `args` are the arguments of the task.
- Some calls ask a person first; a refused one throws with the reason."""

_MIDDLEWARE = """# Middleware

These stand around a call when you switch them on for it:
`await ctx.manager.invoke(name, args, {frontmatter: {"<middleware>": <its parameters>}})`"""


def described(tool: Tool, visible: Visible, pipeline: Pipeline) -> dict[str, Any]:
    """The native schema of a tool, with what its calls have to fit here (R-DSC-5)."""
    schema, limits = pipeline.schema(tool.spec), limits_in_words(visible.limits.get(tool.spec.name, ()))
    return {**schema, "description": f"{schema['description']}\n{limits}".strip()} if limits else schema


def limits_in_words(limits: Sequence[str]) -> str:
    """What a list demands of each call of a tool, for a model; "" for nothing."""
    fit = [text for text in limits if "$deny" not in text]
    not_fit = [text for text in limits if "$deny" in text]
    said = [f"Allowed here only as {' and as '.join(fit)}."] if fit else []
    return " ".join([*said, *([f"Refused here: {'; '.join(not_fit)}."] if not_fit else [])])


def code_tool() -> dict[str, Any]:
    """The schema of ``invoke`` (R-COD-1)."""
    description = "Runs JavaScript that calls the documented tools through ctx.manager.invoke(name, args)."
    return {"name": INVOKE, "description": description, "parameters": json.loads(json.dumps(PARAMS))}


def finish_tool(declared: DeclaredResult) -> dict[str, Any]:
    """The schema of the native ``finish`` (R-RET-5)."""
    return {"name": FINISH, "description": "Gives the result and ends the task.", "parameters": declared.parameters}


def document(visible: Visible, pipeline: Pipeline) -> str:
    """The section on code with every inlined tool: name, description, parameters (R-DSC-6); middleware apart with how
    to switch it on (R-DSC-7)."""
    parts = [_HOW]
    if visible.inlined:
        parts.append("# Tools\n\n" + "\n\n".join(_entry(tool, visible, pipeline) for tool in visible.inlined))
    if visible.discovery:
        parts.append("There are more: `skill-list` finds them, `skill-describe` explains one.")
    if visible.middleware:
        ordered = sorted(visible.middleware, key=lambda tool: tool.spec.name)
        parts.append(_MIDDLEWARE + "\n\n" + "\n\n".join(_entry(tool, visible, pipeline) for tool in ordered))
    return "\n\n".join(parts) + "\n"


def _entry(tool: Tool, visible: Visible, pipeline: Pipeline) -> str:
    spec, limits = tool.spec, limits_in_words(visible.limits.get(tool.spec.name, ()))
    params = json.dumps(pipeline.validator.schema(spec), ensure_ascii=False, sort_keys=True, default=str)
    said = "\n".join(text for text in (spec.description[:MAX_DESCRIPTION], limits) if text)
    return f"## {spec.name}\n{said}\nParameters: {params}"
