"""``params`` and ``returns`` as JSON Schema, with the JSON pointer of what is wrong (R-SK-4). ``$schema`` says which
draft a schema is written in; 2020-12 where it does not.

Most schemas use a dozen keywords: ``_is_plain`` accepts these in microseconds. Anything else goes through the
metaschema and the compiler of ``jsonschema_rs``, once for each text. Nothing is ever fetched: a reference out of the
schema is a problem, and so is one that comes back to itself without looking at a part of the value.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.places import Keys
from desktop.skills.problems import shown
from desktop.skills.schemas.cost import MAX_STEPS, SchemaCost
from desktop.skills.schemas.drafts import LATEST, REFERENCES, SchemaDraft, SubSchema, address_from, draft_of, schemas_in

# 15 to 50 ms, only for schemas with keywords beyond the common ones: in a thread, please.
if TYPE_CHECKING:
    import jsonschema_rs
else:
    jsonschema_rs = lazy_module("jsonschema_rs")

MAX_PROBLEMS = 5
MAX_EXPRESSIONS = 20
MAX_EXPRESSION_SIZE = 1_500_000
MAX_EXPRESSIONS_SIZE = 4_000_000
"""Bytes of one compiled regular expression, and of all; compiling holds the interpreter, some 5 ms for a megabyte."""
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """``keys`` leads to the wrong value inside the schema."""

    keys: Keys
    message: str

    @property
    def pointer(self) -> str:
        """The place of the problem as an RFC 6901 pointer: ``/properties/a~1b/type``."""
        return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in self.keys)


def check(schema: Any, *, arguments: bool) -> tuple[SchemaProblem, ...]:
    """What is wrong with a schema; ``arguments``: it has to describe an object. May load a library: not on the loop."""
    if not isinstance(schema, dict):
        return (SchemaProblem((), f"a mapping is needed, not {shown(schema)}"),)
    found = () if _is_plain(schema) else _beyond_plain(schema)
    kind = schema.get("type", "object")
    if not found and arguments and kind != "object" and "object" not in kind:
        return (SchemaProblem(("type",), f"arguments are always an object, not {shown(kind)}"),)
    return found


# -- the quick way ----------------------------------------------------------------------------------------------------


def _is_plain(schema: Any) -> bool:
    """Whether every keyword is a common one with a value that is certainly right."""
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict):
        return False
    for key, value in schema.items():
        test = _PLAIN.get(key)
        if test is None or not test(value):
            return False
    return True


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_type(value: Any) -> bool:
    return isinstance(value, str) and value in _TYPES


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _are_plain(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_plain(inner) for inner in value.values())


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_anything(_: Any) -> bool:
    return True


_PLAIN: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "description": _is_text,
    "title": _is_text,
    "format": _is_text,
    "default": _is_anything,
    "const": _is_anything,
    "enum": _is_list,
    "examples": _is_list,
    "properties": _are_plain,
    "required": _is_names,
    "items": _is_plain,
    "additionalProperties": _is_plain,
    "minimum": _is_number,
    "maximum": _is_number,
    "exclusiveMinimum": _is_number,
    "exclusiveMaximum": _is_number,
    "minLength": _is_count,
    "maxLength": _is_count,
    "minItems": _is_count,
    "maxItems": _is_count,
}


# -- the thorough way -------------------------------------------------------------------------------------------------


def _beyond_plain(schema: Mapping[str, Any]) -> tuple[SchemaProblem, ...]:
    try:
        text = json.dumps(schema, sort_keys=True, ensure_ascii=False)
        text.encode()  # half a surrogate pair is no text
    except RecursionError:
        return (SchemaProblem((), "it is nested too deep"),)
    except (TypeError, ValueError) as error:
        return (SchemaProblem((), f"it is not JSON: {str(error)[:200]}"),)
    return _thoroughly(text)


@cache
def _metaschema(draft: SchemaDraft) -> Any:
    return getattr(jsonschema_rs, draft.validator)({"$ref": draft.uri}, offline=True)


@lru_cache(maxsize=1_024)
def _thoroughly(text: str) -> tuple[SchemaProblem, ...]:
    """Regular expressions first, each under a limit; then the metaschema, our rules of references, and the compiler,
    which knows what is left."""
    schema = json.loads(text)
    draft = draft_of(schema)
    if draft is None:
        return (SchemaProblem(("$schema",), f"this draft is too old; write it as {LATEST.uri}"),)
    parts = schemas_in(schema)
    return (
        _expressions(parts)
        or _against_metaschema(schema, draft)
        or _references(parts)
        or _branching(schema)
        or _compiled(schema, draft)
    )


def _branching(schema: Any) -> tuple[SchemaProblem, ...]:
    """Schemas that are short to write and endless to follow."""
    if SchemaCost(schema).widest <= MAX_STEPS:
        return ()
    return (SchemaProblem((), f"references and alternatives make more than {MAX_STEPS:,} steps of one value"),)


def _expressions(parts: Iterable[SubSchema]) -> tuple[SchemaProblem, ...]:
    """Regular expressions that are none, or that would take long to compile."""
    found: list[tuple[Keys, str]] = []
    for keys, part, *_ in parts:
        if isinstance(part.get("pattern"), str):
            found.append(((*keys, "pattern"), part["pattern"]))
        if isinstance(part.get("patternProperties"), dict):
            found += [((*keys, "patternProperties", text), text) for text in part["patternProperties"]]
    distinct = {text: keys for keys, text in reversed(found)}
    if len(distinct) > MAX_EXPRESSIONS:
        return (SchemaProblem(found[-1][0], f"there are more than {MAX_EXPRESSIONS} different regular expressions"),)
    limit = min(MAX_EXPRESSION_SIZE, MAX_EXPRESSIONS_SIZE // max(1, len(distinct)))
    for text, keys in reversed(distinct.items()):
        if not _compiles(text, limit):
            shown_text = text if len(text) <= 60 else text[:59] + "…"
            return (SchemaProblem(keys, f"{shown_text} is no regular expression, or too large a one"),)
    return ()


@lru_cache(maxsize=1_024)
def _compiles(expression: str, limit: int) -> bool:
    library = jsonschema_rs
    options = library.FancyRegexOptions(size_limit=limit)
    try:
        library.Draft202012Validator({"x": 1, "pattern": expression}, offline=True, pattern_options=options)
    except ValueError:
        return False
    return True


def _against_metaschema(schema: Any, draft: SchemaDraft) -> tuple[SchemaProblem, ...]:
    errors = itertools.islice(_metaschema(draft).iter_errors(schema), MAX_PROBLEMS)
    return tuple(SchemaProblem(tuple(error.instance_path), _sentence(error)) for error in errors)


def _sentence(error: Any) -> str:
    path, message = tuple(error.instance_path), str(error.message)
    if path and path[-1] == "type":
        return f"type must be one of {', '.join(sorted(_TYPES))}"
    return message if len(message) <= 200 else message[:199] + "…"


def _compiled(schema: Any, draft: SchemaDraft) -> tuple[SchemaProblem, ...]:
    library = jsonschema_rs
    try:
        getattr(library, draft.validator)(
            schema, offline=True, pattern_options=library.FancyRegexOptions(backtrack_limit=100_000)
        )
    except library.ValidationError as error:
        return (SchemaProblem(tuple(error.instance_path), _sentence(error)),)
    except (ValueError, library.ReferencingError) as error:
        return (SchemaProblem((), str(error).partition("\n")[0][:200]),)
    return ()


def _references(parts: Sequence[SubSchema]) -> tuple[SchemaProblem, ...]:
    """References that lead out of the schema, to nothing, or round in a circle."""
    addresses = {part.base for part in parts}
    found, local = [], []
    for part in parts:
        for word in REFERENCES:
            reference = part.schema.get(word)
            if not isinstance(reference, str):
                continue  # the metaschema knows where that is wrong
            if address_from(part.base, reference) not in addresses:
                found.append(SchemaProblem((*part.keys, word), f"{reference[:80]} lies outside; nothing is fetched"))
            elif reference == "#" or reference.startswith("#/"):
                target = part.target(reference)
                local.append((part, word, target))
                if target is None:
                    found.append(SchemaProblem((*part.keys, word), f"there is no {reference[:80]}"))
    endless = _endless([part.schema for part in parts], [(part.schema, target) for part, _, target in local])
    found += [
        SchemaProblem((*part.keys, word), f"{part.schema[word][:80]} leads round in a circle without end")
        for part, word, target in local
        if id(part.schema) in endless and id(target) in endless
    ]
    return tuple(found[:MAX_PROBLEMS])


def _endless(parts: Iterable[Mapping[str, Any]], jumps: Iterable[tuple[Any, Any]]) -> set[int]:
    """The parts that a validator could follow for ever without getting deeper into the value: all that are left when
    those that lead nowhere, or only to such, are taken away."""
    follows: dict[int, int] = {id(part): 0 for part in parts}
    leads_from: dict[int, list[int]] = {}
    steps = [(id(part), id(inner)) for part in parts for inner in _in_place(part)]
    for part, inner in steps + [(id(part), id(target)) for part, target in jumps]:
        if inner in follows:
            follows[part] += 1
            leads_from.setdefault(inner, []).append(part)
    waiting = [part for part, count in follows.items() if count == 0]
    while waiting:
        part = waiting.pop()
        del follows[part]
        for before in leads_from.get(part, ()):
            follows[before] -= 1
            if follows[before] == 0:
                waiting.append(before)
    return set(follows)


def _in_place(part: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas in ``part`` that apply to the same value."""
    for word in _IN_PLACE:
        inner = part.get(word)
        if isinstance(inner, list):
            yield from inner
        elif word == "dependentSchemas" and isinstance(inner, dict):
            yield from inner.values()
        else:
            yield inner
