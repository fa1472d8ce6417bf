"""What calls of skills need beside the gates: looking them up, their cascade (step 4) and directives (step 5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.errors import Denied
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef
from desktop.pipeline.context import CallContext
from desktop.pipeline.skill_tool import SkillTool
from desktop.pipeline.skills.overrides import check_overrides, middleware
from desktop.pipeline.table import SkillTable
from desktop.pipeline.validation import Validator
from desktop.skills.cascade.effective import Cascades, Promotions

Prompt = Callable[[SkillDef, Mapping[str, Any], CallContext], Awaitable[str]]
"""A markdown skill's body with its directives expanded once (R-SK-12). Raises ToolFailure."""


@dataclass(slots=True)
class SkillSide:
    """``prompt`` reads and expands bodies; ``promoted`` are the main skill's promotions, asked for at each call."""

    table: SkillTable
    cascades: Cascades
    prompt: Prompt
    promoted: Callable[[], Promotions] = Promotions

    async def check_overrides(self, call: CallContext, validator: Validator) -> None:
        """What the call adds to the skill's frontmatter may be added. Raises Denied and ValidationFailure."""
        if call.request.overrides:
            base = await asyncio.to_thread(self.cascades.once, _base(call), call.arguments or {})
            await check_overrides(call, self.table, base, validator)
            await self._check_switches(call)

    async def _check_switches(self, call: CallContext) -> None:
        """What a person has switched off is not left out in silence."""
        for key in call.request.overrides:
            tool = await middleware(key, self.table)
            definition = tool.definition if isinstance(tool, SkillTool) else None
            if definition is not None and definition.level == "call" and not self.cascades.wanted(definition):
                raise Denied(f"{key} is switched off in Settings, Middleware.", code="denied.untrusted_ref")

    async def bring(self, ref: str) -> None:
        """Have a reference in memory before it is looked up."""
        await self.table.bring(ref)

    async def configure(self, call: CallContext) -> None:
        """Steps 4 and 5. Raises ConfigurationError for a cascade that cannot be made."""
        target = call.target
        definition = target.definition if isinstance(target, SkillTool) else None
        arguments = call.arguments or {}
        if call.request.overrides:
            call.cascade = await asyncio.to_thread(self._overridden, call, arguments)
        elif definition is not None:
            found = self.cascades.known(definition, arguments)
            if found is None:
                found = await asyncio.to_thread(self.cascades.of, definition, arguments)
            call.cascade = found
        promoted = self.promoted()
        if promoted.local:
            call.invocation.local.update(promoted.local)
        text = definition is not None and definition.kind in ("markdown", "folder") and definition.state == "ready"
        if definition is not None and text:
            call.invocation.local["prompt"] = await self.prompt(definition, arguments, call)

    def _overridden(self, call: CallContext, arguments: Mapping[str, Any]) -> Any:
        """The cascade with middleware that this one call adds; never kept."""
        base = _base(call)
        return self.cascades.once(replace(base, metadata={**base.metadata, **call.request.overrides}), arguments)


def _base(call: CallContext) -> SkillDef:
    """The skill on top of which the overrides of a call come."""
    if isinstance(call.target, SkillTool):
        return call.target.definition
    spec = call.definition
    return SkillDef(spec.name, spec.description, "program", "program")
