"""What an agent has promised to return: the schema it is told, asked for and held to.

``ResultContract`` is the one place that takes a value, for called skills, chats, sides and called agents, in every tool
mode:

=================================  ==========================  ==================================================
how the value comes                the list denies ``finish``  what happens
=================================  ==========================  ==================================================
native ``finish``                  no                          checked; offered where tools are called one by one
``ctx.manager.finish`` in code,    no                          checked
``invoke('finish', …)`` in code
``context-manager``, op finish     no                          checked
any of these                       yes                         refused; the native tool is not offered
the answer of a model that is held either                      taken; no tool is offered for it
to the schema (``by_schema``)
a last text that is JSON and fits  either                      taken: it is the answer, and no operation
=================================  ==========================  ==================================================
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from desktop.agents.skill.settings import ToolMode
from desktop.domain.approval.judgement import Category
from desktop.domain.errors import Denied, ValidationFailure
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.domain.tools import ToolSpec
from desktop.pipeline.names import AllowedTools, check_operation, may
from desktop.pipeline.skill_context import Context, ServedContext
from desktop.pipeline.skills.code_mode import FINISH, Finish
from desktop.pipeline.validation import Validator
from desktop.skills.schemas.strict import strict_form
from desktop.skills.values.schemas import resolve_json_schema

MAX_REMINDERS = 3


@dataclass(slots=True)
class DeclaredResult:
    """``schema`` is what the value has to fit. ``problem`` is what was wrong with the last one that was offered."""

    schema: Mapping[str, Any]
    name: str
    validator: Validator
    problem: str = ""
    reminders: int = 0

    @classmethod
    def of(cls, returns: Any, served: Context, validator: Validator) -> DeclaredResult | None:
        """The result that ``returns`` declares; None where it declares none. ``$resolve`` may take the schema from the
        context (R-RET-8)."""
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
            "type": "object",
            "properties": {"value": dict(self.schema)},
            "required": ["value"],
            "additionalProperties": False,
        }

    async def check(self, value: Any) -> None:
        """Raises ValidationFailure, which is also remembered for the next reminder (R-RET-3)."""
        spec = ToolSpec(self.name, "", {}, Category.READ, returns=self.schema)
        try:
            await self.validator.check_result(spec, value)
        except ValidationFailure as failure:
            self.problem = str(failure)
            raise

    @property
    def text(self) -> str:
        """The schema as a model reads it."""
        return json.dumps(dict(self.schema), ensure_ascii=False, default=str)


@dataclass(slots=True)
class ResultContract:
    """The result that one agent at work owes."""

    declared: DeclaredResult | None
    """What was promised; None: any value will do, and a text as well."""
    allowed: AllowedTools
    """The agent's list, which may deny to finish."""
    mode: ToolMode = "direct"
    """How the agent calls its tools."""
    served: ServedContext | None = None
    """Hears of the value."""
    by_schema: bool = False
    """Whether its model is held to the schema by itself (R-MOD-8)."""
    done: bool = False
    """Whether ``value`` was accepted."""
    value: Any = None
    """The result."""

    @property
    def native(self) -> DeclaredResult | None:
        """What the native ``finish`` is offered for (R-RET-5); None: it is not."""
        offered = self.mode != "code" and not self.by_schema and may(self.allowed, FINISH)
        return self.declared if offered else None

    @property
    def strict(self) -> dict[str, Any] | None:
        """What a model that can be held to a schema is held to; None where nothing is promised, or not in this form."""
        declared = self.declared if self.mode == "direct" else None
        return strict_form(declared.parameters) if declared is not None else None

    @property
    def answer_schema(self) -> dict[str, Any] | None:
        """The schema that goes with each request (R-MOD-8)."""
        return self.strict if self.by_schema else None

    def takes(self, tool: Any) -> bool:
        """Whether a call of this name gives the result, offered or not: a value that fits is not lost."""
        return self.declared is not None and tool == FINISH

    async def finish(self, value: Any) -> None:
        """Accept the value as the result. Raises Denied where there is one already or the list denies it,
        ValidationFailure for a value that does not fit the declared schema (R-COD-13, R-RET-3)."""
        check_operation(self.allowed, FINISH)
        await self._accept(value)

    async def finish_natively(self, arguments: Any) -> Any:
        """With the arguments of the native tool; the value that was accepted (R-RET-6)."""
        wrapped = self.declared is not None and self.declared.wrapped and isinstance(arguments, Mapping)
        await self.finish(arguments.get("value") if wrapped else arguments)
        return self.value

    @property
    def for_code(self) -> Finish | None:
        """``finish_natively`` where there is a tool ``finish`` at all, for code that calls it by its name."""
        return self.finish_natively if self.declared is not None else None

    async def finish_with_text(self, text: str) -> bool:
        """Whether a last text is the promised value itself; what was wrong is kept for the reminder."""
        is_json, value = json_of(text)
        if self.done or self.declared is None or not is_json:
            return False
        if self.by_schema and self.declared.wrapped and isinstance(value, Mapping) and value.keys() == {"value"}:
            value = value["value"]
        try:
            await self._accept(value)
        except ValidationFailure:
            return False
        return True

    async def _accept(self, value: Any) -> None:
        if self.declared is not None and not self.done:
            await self.declared.check(value)
        if self.done:
            raise Denied("There is a result already.", code="denied.finished")
        self.recall(value)

    def recall(self, value: Any) -> None:
        """A value that was accepted, perhaps before the app was started again."""
        self.done, self.value = True, value
        if self.served is not None:
            self.served.finished, self.served.result = True, value

    # -- what the model is told ---------------------------------------------------------------------------------------

    @property
    def words(self) -> str:
        """What the system text says about it; "" where nothing is promised."""
        if self.declared is None:
            return ""
        code = "ctx.manager.finish(value) in your code"
        by = {"direct": f"with the tool {FINISH}", "code": f"with {code}", "both": f"with the tool {FINISH} or {code}"}
        how = by[self.mode] if may(self.allowed, FINISH) and not self.by_schema else "as your whole answer, in JSON"
        schema = json.dumps(self.answer_schema) if self.by_schema else self.declared.text
        return f"When you are done, give the result {how}. It has to fit this JSON Schema:\n{schema}"

    def reminder(self) -> str:
        """Asked for once more, with what was wrong (R-RET-2); "" when it was asked often enough."""
        declared = self.declared
        if declared is None or declared.reminders >= MAX_REMINDERS:
            return ""
        declared.reminders += 1
        wrong = f"\nWhat you gave was not accepted: {declared.problem}" if declared.problem else ""
        return f"There is no result yet. {self.words}{wrong}"

    @property
    def unmet(self) -> str:
        """Why there is no promised value; "" where there is one, or none was promised."""
        if self.done or self.declared is None:
            return ""
        return "There is no valid result" + (f": {self.declared.problem}" if self.declared.problem else "")


def json_of(text: str) -> tuple[bool, Any]:
    """(is one, the JSON value that a text is, also inside one fenced block)."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped[3:-3].partition("\n")[2].strip()
    try:
        return True, read_json(stripped)
    except (ValueError, RecursionError):
        return False, None
