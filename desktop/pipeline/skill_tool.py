"""A skill as a tool: what gates and models see of it, and what it is allowed to start as."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import Denied, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.skills import SkillDef
from desktop.domain.text.places import FormatError
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.skills.formats.category import effective_category
from desktop.skills.formats.loader import read_bytes

MAX_GIVEN = 20_000
AGENT_LIMIT_S = 3600.0
"""Seconds for a markdown skill: an agent works in it, whose own limits come first."""

PASSING_ON = "skill-invoke"
FAN_OUT = "agent-fan-out"

_REASONS = {
    "untrusted": ("is in a project folder that is not trusted", "Trust the folder on the Skills page first."),
    "changed": ("is new or has changed since it was looked at", "Look at the difference on the Skills page first."),
    "broken": ("has problems that keep it from running", "The Skills page says which."),
}


class SkillRunner(Protocol):
    """Runs skills of every kind."""

    async def run(self, definition: SkillDef, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Raises ToolFailure for what the model should read."""
        ...

    async def refusal(self, definition: SkillDef) -> ToolFailure | None:
        """Why it cannot run on this computer, whoever would allow it."""
        ...

    async def shown(self, definition: SkillDef) -> Mapping[str, str]:
        """What its request says of what holds it."""
        ...


def category_of(definition: SkillDef) -> Category:
    """The effective category (Q-2), raised where the file's own word does not count.

    Code that came from elsewhere (``shared``, ``project``) never starts without a person, whatever it declares: a file
    may not grant itself anything. Code that asks for the network is admin: allowing the call allows that.
    """
    own = definition.source in ("library", "program")
    if definition.is_code and not own and definition.wants_network:
        return Category.ADMIN
    found = effective_category(definition)
    elsewhere = definition.is_code and definition.source in ("shared", "project", "mcp")
    return Category.WRITE if elsewhere and found is Category.READ else found


def spec_of(definition: SkillDef) -> ToolSpec:
    """The declaration of a skill as gates and models know it."""
    place = f"{definition.path}#{definition.entry}" if definition.path else ""
    return ToolSpec(
        definition.name,
        definition.description,
        definition.params or _default_params(definition),
        category_of(definition),
        tags=definition.tags,
        visibility=definition.visibility if definition.model_invocable else "hidden",
        source=definition.source,
        returns=definition.returns,
        timeout_s=_limit_of(definition),
        version=f"{definition.state} {place} {definition.stamp}" if place else "",
        nests="calls" if _only_calls(definition) else "",
        gives="outside" if definition.wants_network or definition.source == "mcp" else "calls",
    )


@lru_cache(maxsize=256)
def _words_params(hint: str) -> Mapping[str, Any]:
    told = f" It expects: {hint}" if hint else ""
    given = {"type": "string", "maxLength": MAX_GIVEN, "description": f"What the skill is to work on.{told}"}
    return {"type": "object", "properties": {"arguments": given}, "additionalProperties": False}


def _default_params(definition: SkillDef) -> Mapping[str, Any]:
    """A folder of the Agent Skills format takes one text, as elsewhere; every other skill says what it takes."""
    own = definition.kind == "folder" and definition.source != "library"
    return _words_params(definition.argument_hint) if own else {}


def _only_calls(definition: SkillDef) -> bool:
    """Whether it can do nothing to the world but make calls: prompts, agents in code, JavaScript without the network,
    the fan-out."""
    if definition.kind in ("markdown", "folder") or definition.role == "agent":
        return True
    if definition.name == FAN_OUT and definition.source == "library":
        return True
    return definition.kind == "javascript" and definition.metadata.get("network") is not True


def _limit_of(definition: SkillDef) -> float | None:
    """Seconds, or None for the person's setting. Inside an agent its own limits hold, so that neither the agent, nor
    its provider, nor what lies between them has one; a persistent one works until it is stopped (R-PER-1). What only
    passes a call on has none beside that call's own."""
    name, model = definition.name, definition.metadata.get("model")
    if name == "agent" or name.startswith("agent-") or (name == PASSING_ON and definition.source == "library"):
        return math.inf
    if definition.role == "agent":
        return math.inf  # it may sleep for days; what it asks of models and tools has limits
    if definition.kind in ("markdown", "folder"):
        return math.inf if isinstance(model, Mapping) and model.get("persistent") is True else AGENT_LIMIT_S
    if definition.level in ("agent", "chat"):
        return math.inf  # what it stands around has limits of its own
    return AGENT_LIMIT_S if definition.role == "middleware" else None


class SkillTool:
    """A skill as a tool. There is one for each definition, because gates compare schemas by identity."""

    def __init__(self, definition: SkillDef, runner: SkillRunner) -> None:
        self.definition = definition
        self.spec = spec_of(definition)
        self._runner = runner

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Gate 9: only what is ready runs (R-SK-15); code from a file is bound to that file as it was approved. What is
        remembered about a skill in a file is about this file, as it is, for these arguments (R-PRM-3)."""
        definition = self.definition
        category = self.spec.category
        if definition.state != "ready":
            what, then = _REASONS[definition.state]
            refusal = Denied(f"The skill {definition.name} {what}.", code="denied.permission", next_step=then)
            return PreCheck(category, denied=refusal)
        if not definition.path or definition.source == "library":
            return PreCheck(category)
        if not definition.is_code:
            return PreCheck(category, constraint=_object(definition.path, definition.stamp, args))
        seen = await asyncio.to_thread(identity_of, definition.path)
        return PreCheck(
            category,
            paths=(definition.path,),
            identity={definition.path: seen},
            constraint=_object(definition.path, seen, args),
            preview={
                "kind": "skill",
                "path": definition.path,
                "source": definition.source,
                "network": definition.wants_network,
                **await self._runner.shown(definition),
            },
            denied=await self._runner.refusal(definition),
        )

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Run the skill."""
        return await self._runner.run(self.definition, args, context)


def _object(path: str, identity: str, args: Mapping[str, Any]) -> str:
    """What the call is about, as memory and rules compare it."""
    return json.dumps({"skill": path, "is": identity, "for": args}, sort_keys=True, default=str)


def identity_of(path: str) -> str:
    """A file by its content (stamps can be set back), or ``absent`` when it cannot be read. Blocks."""
    try:
        data, _ = read_bytes(path)
    except FormatError:
        return "absent"
    return content_id(data)


def content_id(data: bytes) -> str:
    """How a code skill's file is known to approvals."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
