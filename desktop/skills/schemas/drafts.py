"""Which draft a JSON Schema is written in, and where in it there are schemas.

A name below ``properties`` or ``$defs`` is never a keyword, whatever it is called: whoever looks for ``$ref``,
``pattern`` or ``default`` goes by ``schemas_in``, which knows the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.places import Keys

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_SINGLE = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LISTS = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")


@dataclass(frozen=True, slots=True)
class SchemaDraft:
    """``validator`` is the class of ``jsonschema_rs``; ``closes_combined``: it knows ``unevaluatedProperties``, by
    which an object that is described in several places can be closed; ``id_key`` names a schema."""

    uri: str
    validator: str
    closes_combined: bool = False
    id_key: str = "$id"


LATEST = SchemaDraft("https://json-schema.org/draft/2020-12/schema", "Draft202012Validator", closes_combined=True)
_DRAFTS = {
    draft.uri.partition("://")[2].rstrip("#"): draft
    for draft in (
        LATEST,
        SchemaDraft("https://json-schema.org/draft/2019-09/schema", "Draft201909Validator", closes_combined=True),
        SchemaDraft("http://json-schema.org/draft-07/schema#", "Draft7Validator"),
        SchemaDraft("http://json-schema.org/draft-06/schema#", "Draft6Validator"),
        SchemaDraft("http://json-schema.org/draft-04/schema#", "Draft4Validator", id_key="id"),
    )
}
_NOWHERE = "http://nowhere.invalid/"
"""What a schema without an address is counted from; nothing is ever fetched."""
_TOO_OLD = ("json-schema.org/draft-03/", "json-schema.org/draft-02/", "json-schema.org/draft-01/")


def draft_of(schema: Any) -> SchemaDraft | None:
    """The draft that ``$schema`` names; 2020-12 where it names none that is known, as the Model Context Protocol has
    it; None for one from before draft-04, whose keywords mean something else."""
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    address = named.partition("://")[2].rstrip("#") if isinstance(named, str) else ""
    return None if address.startswith(_TOO_OLD) else _DRAFTS.get(address, LATEST)


class SubSchema(NamedTuple):
    """A schema inside another, with the way to it. ``resource`` is the schema that its ``#/…`` start from: the nearest
    one above it with an ``$id``, or the whole; ``base`` is the address of that, from which others are counted."""

    keys: Keys
    schema: Mapping[str, Any]
    resource: Mapping[str, Any]
    base: str

    def target(self, reference: str) -> Any:
        """What a local reference leads to, or None."""
        return follow(self.resource, reference)


def schemas_in(schema: Any) -> list[SubSchema]:
    """Every object that is a schema, outermost first: those that keywords hold, and those that references lead to."""
    key = (draft_of(schema) or LATEST).id_key
    found: dict[int, SubSchema] = {}
    beginning: list[SubSchema] = []
    if isinstance(schema, Mapping):
        beginning = [SubSchema((), schema, schema, address_from(_NOWHERE, _name_in(schema, key)))]
    while beginning:
        fresh = _kept(beginning, key, found)
        beginning = [part for one in fresh for part in _referred(one)]
    return list(found.values())


def _kept(beginning: Iterable[SubSchema], id_key: str, found: dict[int, SubSchema]) -> list[SubSchema]:
    """Take in these and all below them; returns those that were new."""
    waiting, fresh = list(beginning)[::-1], []
    while waiting:
        part = waiting.pop()
        if id(part.schema) in found:
            continue
        if part.keys and (name := _name_in(part.schema, id_key)):
            part = part._replace(resource=part.schema, base=address_from(part.base, name))
        found[id(part.schema)] = part
        fresh.append(part)
        below = [
            SubSchema((*part.keys, *keys), inner, part.resource, part.base)
            for keys, inner in _below(part.schema)
            if isinstance(inner, Mapping)
        ]
        waiting += reversed(below)
    return fresh


def _referred(part: SubSchema) -> Iterator[SubSchema]:
    for word in REFERENCES:
        reference = part.schema.get(word)
        target = part.target(reference) if isinstance(reference, str) and reference.startswith("#/") else None
        if isinstance(target, Mapping):
            steps: Keys = tuple(_steps(reference)) if isinstance(reference, str) else ()
            yield SubSchema(steps, target, part.resource, part.base)


def _name_in(schema: Mapping[str, Any], id_key: str) -> str:
    """The address that a schema gives itself, or empty; ``#x`` is a place in another and no address."""
    name = schema.get(id_key)
    return name if isinstance(name, str) and not name.startswith("#") else ""


def address_from(base: str, reference: str) -> str:
    """Where a reference leads that is counted from an address, without what stands behind ``#``."""
    outside = reference.partition("#")[0]
    if not outside:
        return base
    try:
        return urljoin(base, outside)
    except ValueError:
        return outside


def _below(schema: Mapping[str, Any]) -> Iterator[tuple[Keys, Any]]:
    for word, value in schema.items():
        if isinstance(value, Mapping):
            if word in _NAMED:
                yield from (((word, name), inner) for name, inner in value.items())
            elif word in _SINGLE:
                yield (word,), value
        elif word in _LISTS and isinstance(value, list):
            yield from (((word, number), inner) for number, inner in enumerate(value))


def follow(schema: Any, reference: str) -> Any:
    """The part that a local pointer (``#/…``) names, or None."""
    value = schema
    for key in _steps(reference):
        if isinstance(value, list) and key.isdecimal() and len(key) < 6 and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, Mapping) and key in value:
            value = value[key]
        else:
            return None
    return value


def _steps(reference: str) -> list[str]:
    return [unquote(step).replace("~1", "/").replace("~0", "~") for step in reference.split("/")[1:]]
