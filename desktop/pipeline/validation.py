"""Gate 7: arguments against their JSON Schema, compiled once (R-TOOL-2, R-TOOL-3, R-TOOL-7).

``jsonschema_rs`` takes 10 ms and 3 MB and is loaded in a thread, at the first call or by ``prepare``.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from desktop.domain.errors import ConfigurationError, ValidationFailure
from desktop.domain.loading.lazy import lazy_module, load
from desktop.domain.tools import ToolSpec
from desktop.skills.schemas.cost import MAX_STEPS, SchemaCost
from desktop.skills.schemas.drafts import LATEST, draft_of

# 10 ms and 3 MB: in a thread, at the first tool call.
if TYPE_CHECKING:
    import jsonschema_rs
else:
    jsonschema_rs = lazy_module("jsonschema_rs")

MAX_PROBLEMS = 12
MAX_TEXT = 300
MAX_WORK = 5_000_000
"""Steps for one value (of 10 ns, as measured). The library holds the interpreter while it validates and cannot be
stopped, so what may take more is refused instead of tried."""
FIRST_ONLY = 20_000
"""Steps beyond which only the first problem is looked for: the library makes all at once, 10 us each."""
_COMBINING = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"})
_ELSEWHERE = "mcp"
"""The source of tools whose schemas are a server's own: its objects are as open as it says."""
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def sealed(params: Mapping[str, Any], *, closed: bool = True) -> dict[str, Any]:
    """The schema that models get and that validates: closed at the top unless it says otherwise (R-TOOL-3).

    An empty schema takes no arguments (R-SK-5). Where schemas are combined, ``unevaluatedProperties`` closes them; in
    drafts that do not have it they stay open. ``closed`` False: the schema is somebody else's, who knows what an open
    object means.
    """
    if not params and closed:
        return _NO_PARAMETERS
    schema = dict(params)
    schema.setdefault("type", "object")
    if closed and "additionalProperties" not in schema and "unevaluatedProperties" not in schema:
        combined = bool(_COMBINING & schema.keys())
        if not combined or (draft_of(schema) or LATEST).closes_combined:
            schema["unevaluatedProperties" if combined else "additionalProperties"] = False
    return schema


class Validator:
    """Compiled schemas by tool. The same sealed object goes to the model (``schema``) and validates (R-TOOL-7)."""

    def __init__(self) -> None:
        self._loaded = False
        self._sealed: dict[str, tuple[Mapping[str, Any], dict[str, Any]]] = {}
        self._compiled: dict[str, tuple[Mapping[str, Any], _Compiled]] = {}
        self._results: dict[str, tuple[Mapping[str, Any] | None, _Compiled]] = {}

    async def prepare(self) -> None:
        """Load the library off the loop's thread; cheap when it is there."""
        if not self._loaded:
            await asyncio.to_thread(load, jsonschema_rs)
            self._loaded = True

    def schema(self, spec: ToolSpec) -> dict[str, Any]:
        """The sealed schema of a tool, always the same object for the same declaration."""
        known = self._sealed.get(spec.name)
        if known is None or known[0] is not spec.params:
            known = self._sealed[spec.name] = (spec.params, sealed(spec.params, closed=spec.source != _ELSEWHERE))
        return known[1]

    async def check(self, spec: ToolSpec, arguments: Any) -> None:
        """Raise ValidationFailure naming each field, or ConfigurationError when the schema itself is broken."""
        await self.prepare()
        problems = self._compile(spec).problems(arguments)
        if problems:
            raise ValidationFailure(f"Invalid arguments for {spec.provider_name}: " + "; ".join(problems) + ".")

    async def check_result(self, spec: ToolSpec, value: Any) -> None:
        """Raise ValidationFailure when a result is not what ``returns`` promises. Nothing is sealed here."""
        await self.prepare()
        known = self._results.get(spec.name)
        if known is None or known[0] is not spec.returns:
            known = self._results[spec.name] = (
                spec.returns,
                self._build(spec.name, "returns", dict(spec.returns or {})),
            )
        problems = known[1].problems(value)
        if problems:
            raise ValidationFailure(
                f"{spec.name} returned something else than it declares: " + "; ".join(problems) + "."
            )

    def _compile(self, spec: ToolSpec) -> _Compiled:
        known = self._compiled.get(spec.name)
        if known is not None and known[0] is spec.params:
            return known[1]
        compiled = self._build(spec.name, "parameters", self.schema(spec))
        self._compiled[spec.name] = (spec.params, compiled)
        return compiled

    def _build(self, name: str, what: str, schema: dict[str, Any]) -> _Compiled:
        cost = SchemaCost(schema)
        if cost.widest > MAX_STEPS:
            raise _broken(name, what, f"following them takes more than {MAX_STEPS:,} steps")
        try:
            made = getattr(jsonschema_rs, (draft_of(schema) or LATEST).validator)(
                schema, offline=True, pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise _broken(name, what, str(error)) from error
        return _Compiled(made, cost, jsonschema_rs.ValidationError)


def _broken(name: str, what: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"The tool {name} declares {what} that are not usable JSON Schema: {_cut(why)}",
        next_step=f"Correct the declaration of {name}.",
    )


class _Compiled:
    """A schema ready for use, with what it may cost."""

    def __init__(self, made: Any, cost: SchemaCost, problem: type[Exception]) -> None:
        self._made = made
        self._cost = cost
        self._problem = problem

    def problems(self, value: Any) -> list[str]:
        """The first few things that are wrong with a value, in sentences."""
        if not self._cost.is_light and self._cost.of(value) > MAX_WORK:
            return ["arguments: they are too many, or too deeply nested, for what their schema has to compare"]
        if self._made.is_valid(value):
            return []
        if self._cost.of(value) > FIRST_ONLY:
            return self._first(value)
        return [_sentence(error) for error in itertools.islice(self._made.iter_errors(value), MAX_PROBLEMS)]

    def _first(self, value: Any) -> list[str]:
        try:
            self._made.validate(value)
        except self._problem as error:
            return [_sentence(error)]
        return []


def _sentence(error: Any) -> str:
    """One schema problem as text: the field's path and what is wrong."""
    return f"{field_name(error.instance_path)}: {_cut(str(error.message))}"


def field_name(path: Sequence[str | int]) -> str:
    """``filter.names[2]`` for a path into the arguments; ``arguments`` for the whole."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return _cut(text) or "arguments"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT // 2]} … {text[-MAX_TEXT // 2 :]}"


def frozen_copy(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that nobody else holds: what was validated and approved is what runs (R-PRM-5, R-INV-8)."""
    copied: dict[str, Any] = {key: _copy(value) for key, value in arguments.items()}
    return copied


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copy(item) for item in value]
    return value


def as_json(arguments: Any) -> str:
    """Arguments as a person reads them; text stays readable, odd values become strings."""
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True, default=str)
