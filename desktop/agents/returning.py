"""What an agent has promised to return: the schema it is told, asked for and held to (semantics.md 12)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from desktop.domain.errors import ValidationFailure
from desktop.domain.tools import Category, ToolSpec
from desktop.pipeline.skill_context import Context
from desktop.pipeline.validation import Validator
from desktop.skills.values.schemas import resolve_json_schema

FINISH = "finish"
MAX_REMINDERS = 3


@dataclass(slots=True)
class Promise:
    """``schema`` is what the value has to fit. ``problem`` is what was wrong with the last one that was offered."""

    schema: Mapping[str, Any]
    name: str
    validator: Validator
    problem: str = ""
    reminders: int = 0

    @classmethod
    def of(cls, returns: Any, served: Context, validator: Validator) -> Promise | None:
        """None where nothing is promised. ``$resolve`` may take the schema from the context (R-RET-8)."""
        if not isinstance(returns, Mapping):
            return None

        return cls(resolve_json_schema(returns, served) or returns, served.run.tool.name, validator)

    @property
    def wrapped(self) -> bool:
        """Whether the native tool takes ``{value}``, because the root of the schema is no object (R-RET-6)."""
        return self.schema.get("type") != "object"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the native ``finish`` tool (R-RET-5)."""
        if not self.wrapped:
            return dict(self.schema)
        return {
            "type": "object", "properties": {"value": dict(self.schema)}, "required": ["value"],
            "additionalProperties": False,
        }  # fmt: skip

    async def check(self, value: Any) -> None:
        """Raises ValidationFailure, which is also remembered for the next reminder (R-RET-3)."""
        spec = ToolSpec(self.name, "", {}, Category.READ, returns=self.schema)
        try:
            await self.validator.check_result(spec, value)
        except ValidationFailure as failure:
            self.problem = str(failure)
            raise

    def words(self, mode: str) -> str:
        """What the system text says about it."""
        how = "ctx.manager.finish(value) in your code" if mode == "code" else f"the tool {FINISH}"
        if mode == "both":
            how += " or ctx.manager.finish(value) in your code"
        return f"When you are done, give the result with {how}. It has to fit this JSON Schema:\n{self._text()}"

    def reminder(self, mode: str) -> str:
        """Asked for once more, with what was wrong (R-RET-2)."""
        self.reminders += 1
        wrong = f"\nWhat you gave was not accepted: {self.problem}" if self.problem else ""
        return f"There is no result yet. {self.words(mode)}{wrong}"

    def _text(self) -> str:
        return json.dumps(dict(self.schema), ensure_ascii=False, default=str)


def json_of(text: str) -> tuple[bool, Any]:
    """(is one, the JSON value that a text is, also inside one fenced block)."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped[3:-3].partition("\n")[2].strip()
    try:
        return True, json.loads(stripped)
    except (ValueError, RecursionError):
        return False, None
