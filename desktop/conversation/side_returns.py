"""What a side has promised to return: the native ``finish``, its reminders, its value (semantics.md 12, R-AAT-3).

For agents that a person talks to or another agent calls, whose prompt declares ``metadata.returns``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from desktop.agents.returning import FINISH, MAX_REMINDERS, Promise
from desktop.domain.errors import ValidationFailure
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.skills import SkillDef
from desktop.pipeline.validation import Validator


@dataclass(slots=True)
class SideReturns:
    """The promise of one turn. ``done``: a value was accepted; ``value`` is that."""

    promise: Promise
    done: bool = False
    value: Any = None

    @classmethod
    def of(cls, skill: SkillDef, mode: str, validator: Validator) -> SideReturns | None:
        """None where nothing is promised; in code mode the code itself finishes."""
        if skill.returns is None or mode == "code":
            return None
        return cls(Promise(skill.returns, skill.name, validator))

    def takes(self, call: ToolCallBlock) -> bool:
        """Whether a call is the one that gives the result."""
        return call.tool == FINISH

    async def take(self, call: ToolCallBlock) -> ToolResultBlock:
        """Accept the value, or say what is wrong with it (R-RET-3)."""
        given = call.arguments
        value = given.get("value") if self.promise.wrapped and isinstance(given, Mapping) else given
        try:
            await self.promise.check(value)
        except ValidationFailure as failure:
            facts = {"state": "failed", "code": failure.code}
            return ToolResultBlock(call.call_id, call.tool, str(failure), True, None, facts)
        self.done, self.value = True, value
        return ToolResultBlock(call.call_id, call.tool, "Accepted.", False, value, {"state": "done", "code": ""})

    @property
    def reminder(self) -> str:
        """What is asked once more, "" when it was asked often enough (R-RET-2, S-RET-1)."""
        return "" if self.promise.reminders >= MAX_REMINDERS else self.promise.reminder("direct")

    @property
    def unmet(self) -> str:
        """Why there is no result."""
        wrong = f": {self.promise.problem}" if self.promise.problem else ""
        return f"There is no valid result{wrong}"
