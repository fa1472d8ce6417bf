"""What one call may set for the skill that it calls, through ``{frontmatter: …}`` (R-INV-15, D-11).

====================================  =================================================  =============================
who calls                             keys that it may give                              never
====================================  =================================================  =============================
a model's code, and code of skills    middleware that it sees and may call, that has     any other key, known or not;
that are not one's own                ``params`` and whose author said ``activatable:    what the called skill sets or
                                      true``, with a value that fits those               removes itself, or inherits
the library and skills of one's own   any other key                                      ``KERNEL``
====================================  =================================================  =============================

What comes with a call only adds to it, so it never widens what the called skill, or its provider, may call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.errors import Denied, ToolFailure
from desktop.domain.skills import SkillDef
from desktop.domain.tools import Tool
from desktop.pipeline.context import CallContext
from desktop.pipeline.names import AllowedTools
from desktop.pipeline.skill_tool import SkillTool
from desktop.pipeline.table import SkillTable
from desktop.pipeline.validation import Validator
from desktop.skills.cascade.effective import CONFIGURING, Cascade
from desktop.skills.names import is_bare_name

KERNEL = frozenset(
    {*(CONFIGURING - {"model", "returns"}), "allowed-tools", "metadata", "delegate", "activatable", "order", "hook"}
)
"""Keys that say what a skill is, its lists and its gates. ``delegate`` is among them because it makes the called skill
call another, with the called skill's list instead of the caller's own (R-INV-3)."""

_SHAPE = "frontmatter must be a mapping of middleware keys."


def overrides_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that a call's options set, flat or below ``metadata``, where nothing may stand beside that.

    Raises ToolFailure for what is no mapping, Denied ``denied.untrusted_ref`` for keys of the kernel.
    """
    given = options.get("frontmatter")
    if given is None:
        return {}
    if isinstance(given, Mapping) and set(given) == {"metadata"}:
        given = given["metadata"]
    if not isinstance(given, Mapping):
        raise ToolFailure(_SHAPE)
    for key in given:
        if not isinstance(key, str) or key in KERNEL or key.startswith("$"):
            raise Denied(f"{str(key)[:64]!r} cannot be set for a single call.", code="denied.untrusted_ref")
    return dict(given)


def activatable(tool: Tool, allowed: AllowedTools) -> bool:
    """Whether whoever has this list may stand the tool around a call: the one answer for the prompt that tells of it
    and for the gate."""
    if not isinstance(tool, SkillTool) or not _opened(tool.definition):
        return False
    spec = tool.spec
    return allowed.offers(spec) and (spec.visibility != "hidden" or allowed.names(spec.name))


def _opened(definition: SkillDef) -> bool:
    """By its author, who knows that a stranger's values do no harm in it."""
    said = definition.level == "call" and definition.metadata.get("activatable") is True
    kernel = definition.name in KERNEL or definition.name in CONFIGURING
    return said and not kernel and definition.state == "ready" and definition.params is not None


async def check_overrides(call: CallContext, table: SkillTable, base: Cascade, validator: Validator) -> None:
    """The gate for what a call adds; ``base`` is what the called skill's own frontmatter comes to.

    Raises Denied ``denied.untrusted_ref`` for what may not be added, ValidationFailure for values that do not fit.
    """
    caller = call.request.caller
    if caller.origin == "skill":
        return
    for key, value in call.request.overrides.items():
        tool = await middleware(key, table)
        if tool is None or not activatable(tool, caller.allowed):
            raise Denied(f"{key[:64]!r} cannot be activated for a call here.", code="denied.untrusted_ref")
        if key in base.metadata or key in base.removed:
            raise Denied(f"{call.tool} says itself what {key} is to do.", code="denied.untrusted_ref")
        config = {} if value is True else value
        await validator.check(tool.spec, config)
        if not caller.allowed.permits(tool.spec, config):
            raise Denied(f"{key} is not allowed here with this value.", code="denied.allowed_tools")


async def middleware(key: str, table: SkillTable) -> Tool | None:
    """By its own plain name: a key is looked up like a reference, and a path or an alias would load something else."""
    if not is_bare_name(key):
        return None
    await table.bring(key)
    found = table.find(key)
    return found if found is not None and found.spec.name == key else None
