"""A CLI tool's parameters: their JSON Schema, and values held against it before anything is filled in (R-CLI-5..9).

The schema is the object that models get and that the pipeline validates with (R-TOOL-7). It is compiled here with the
same library and options, so a pattern means what it means in JavaScript: ``$`` is the end of the text and not before
a last newline, ``\\d`` is 0 to 9.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass

# 50 ms, when tools.yaml declares tools: in a thread, please.
if TYPE_CHECKING:
    import jsonschema_rs
else:
    jsonschema_rs = lazy_module("jsonschema_rs")

DEFAULT_MAX_LENGTH = 10_000
"""Characters of a text without a ``maxLength`` of its own."""
LARGEST = 2**63 - 1
Kind = Literal["string", "integer", "number", "boolean"]

_FLAGS = re.compile(r"\((?:\?[a-zA-Z]*-?[a-zA-Z]+[:)]|\?P|\?>|\?#|\?\()")
_FOREIGN = re.compile(r"\\[AzZGhHRXK]")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter. ``schema`` is its part of the tool's; ``required``: neither optional nor defaulted."""

    name: str
    kind: Kind
    schema: Mapping[str, Any]
    required: bool = True
    leading_dash: bool = False

    @property
    def free(self) -> bool:
        """Whether the model writes its text: a string that is no choice from a list."""
        return self.kind == "string" and "enum" not in self.schema

    @property
    def available(self) -> bool:
        """Whether it always has a value."""
        return self.required or "default" in self.schema


def schema_of(parameters: Iterable[Parameter]) -> dict[str, Any]:
    """The arguments of the tool: closed, as every tool's are (R-TOOL-3)."""
    listed = tuple(parameters)
    return {
        "type": "object",
        "properties": {parameter.name: dict(parameter.schema) for parameter in listed},
        "required": [parameter.name for parameter in listed if parameter.required],
        "additionalProperties": False,
    }


def compiled(schema: Mapping[str, Any]) -> Any:
    """A validator for a schema that was checked. Raises ValueError for one that is none."""
    options = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000)
    return jsonschema_rs.Draft202012Validator(dict(schema), offline=True, pattern_options=options)


def pattern_problem(pattern: str) -> str:
    """Why this is no pattern as JavaScript reads it, or "" (R-CLI-6)."""
    without_pairs = pattern.replace("\\\\", "")
    if found := _FLAGS.search(without_pairs) or _FOREIGN.search(without_pairs):
        return f"{found[0]} is not part of JavaScript's patterns"
    try:
        compiled({"type": "string", "pattern": pattern})
    except ValueError:
        return "this is no valid pattern"
    return ""


def is_loose(pattern: str) -> bool:
    """Whether a text fits that only contains what the pattern describes: no ``^`` or ``$``, or ``|`` beside them."""
    bare = re.sub(r"\\.", "x", pattern, flags=re.DOTALL)
    bare = re.sub(r"\[\^?\]?[^\]]*\]", "x", bare)
    if not (bare.startswith("^") and bare.endswith("$")):
        return True
    depth = 0
    for character in bare:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "|" and depth == 0:
            return True
    return False


def text_problem(parameter: Parameter, value: str) -> str:
    """What no schema says: characters that no argument can have, and options in disguise (R-CLI-8, R-CLI-9)."""
    if "\0" in value:
        return "contains a NUL character, which no argument can have"
    if any("\ud800" <= character <= "\udfff" for character in value):
        return "contains half a character (a lone surrogate)"
    if value.startswith("-") and not parameter.leading_dash and value not in parameter.schema.get("enum", ()):
        return "begins with '-', which a program could take for an option; this tool does not allow that"
    return ""


def number_problem(value: int | float) -> str:
    """Numbers that have no plain digits."""
    if value != value or abs(value) > LARGEST:  # the first holds for NaN only
        return "is no number that can be written out here"
    return ""


class Values:
    """Checks the arguments of calls of one tool."""

    def __init__(self, parameters: Iterable[Parameter], schema: Mapping[str, Any]) -> None:
        self._parameters = {parameter.name: parameter for parameter in parameters}
        self._compiled = compiled(schema)

    def problems(self, arguments: Mapping[str, Any]) -> list[str]:
        """Sentences that name the field; [] when the arguments may be used."""
        found = []
        for name, value in arguments.items():
            parameter = self._parameters.get(name)
            problem = self._of_value(parameter, value) if parameter is not None else ""
            if problem:
                found.append(f"{name} {problem}")
        if found:
            return found
        return [_sentence(error) for error in self._compiled.iter_errors(dict(arguments))][:12]

    @staticmethod
    def _of_value(parameter: Parameter, value: Any) -> str:
        if isinstance(value, str):
            return text_problem(parameter, value)
        return number_problem(value) if isinstance(value, (int, float)) else ""

    def complete(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Checked arguments with defaults for what is not given, in the order of the declaration."""
        found = {}
        for name, parameter in self._parameters.items():
            if name in arguments:
                found[name] = arguments[name]
            elif "default" in parameter.schema:
                found[name] = parameter.schema["default"]
        return found


def _sentence(error: Any) -> str:
    where = ".".join(map(str, error.instance_path)) or "arguments"
    return f"{where}: {str(error.message)[:300]}"
