"""What holds for one call of a skill: its effective metadata and the middleware around it.

Outermost to innermost: the library's default main skill, the project's main skill (the authority), the explicit
inherit chain, the skill itself (R-INV-12). ``$inherit: false`` opts out of everything above, ``$authority`` stands for
the enclosing main skill.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef, SkillFinder, SkillSource
from desktop.skills.cascade.merge import InheritanceError, linearised, merged
from desktop.skills.cascade.order import OrderCycle, Placement, ordered
from desktop.skills.values.paths import path_get

GATES = ("validate-allowed-tools", "validate-args", "limits", "safety", "trust")
"""Gates 6 to 10 in their order; the kernel runs them, and no key and no skill moves or replaces them (R-MW-7)."""

CONFIGURING = frozenset(
    {
        "cwd",
        "workspace",
        "paths",
        "params",
        "returns",
        "model",
        "mcp",
        "include",
        "role",
        "tags",
        "visibility",
        "event",
        "gateway",
        "frontmatter",
        "directives",
        "category",
        "main",
        *GATES,
    }
)
"""Keys that the kernel reads by itself; a skill of the same name only describes them."""

AUTHORITY = "$authority"
MAX_KEPT = 20_000
"""Cascades in memory; volatile arguments could otherwise fill it."""

_VOLATILE = re.compile(r"\$\{(args(?:[.\[][^}]*)?)\}")


class CascadeCaches(Protocol):
    """The caches of resolution that belong to the cascade (R-RES-13)."""

    @property
    def cascade(self) -> MutableMapping[tuple[Any, ...], Any]: ...

    @property
    def cascade_deps(self) -> MutableMapping[tuple[Any, ...], tuple[str, ...]]: ...

    @property
    def generation(self) -> int:
        """Changes whenever something is invalidated."""
        ...

    def keep(self, began: int, cache: MutableMapping[Any, Any], key: Any, value: Any) -> Any:
        """Store what was worked out since ``began``, unless something was invalidated meanwhile (R-SK-13)."""
        ...


@dataclass(frozen=True, slots=True)
class ChainEntry:
    """One middleware around a call. ``value`` is the key's value for this call; ``hook`` is ``$next``, ``$invoke`` or
    "" (R-INV-11)."""

    name: str
    value: Any
    definition: SkillDef
    hook: str = ""


@dataclass(frozen=True, slots=True)
class Cascade:
    """What the frontmatter of a skill and of those above it comes to."""

    metadata: Mapping[str, Any]
    """The merged metadata."""
    origins: Mapping[str, str]
    """For each key the skill that set it."""
    chain: tuple[ChainEntry, ...] = ()
    """The middleware around its calls, in order."""
    order: tuple[str, ...] = ()
    """The whole order with gates, as a person may read it."""
    volatile: tuple[str, ...] = ()
    """The argument paths that values depend on (R-INV-14)."""
    setters: Mapping[str, SkillSource] = field(default_factory=dict)
    """For each key whose the skill is that set it."""
    removed: frozenset[str] = frozenset()
    """The keys that the skill wants no middleware for."""


EMPTY = Cascade({}, {})


@dataclass(slots=True)
class MemoryCaches:
    """The two caches where no resolution is at hand."""

    cascade: MutableMapping[tuple[Any, ...], Any] = field(default_factory=dict)
    cascade_deps: MutableMapping[tuple[Any, ...], tuple[str, ...]] = field(default_factory=dict)
    generation: int = 0

    def keep(self, began: int, cache: MutableMapping[Any, Any], key: Any, value: Any) -> Any:
        """Store it, unless ``generation`` was counted up meanwhile; what is kept is bounded."""
        if began == self.generation:
            if len(cache) >= MAX_KEPT:
                cache.clear()
            cache[key] = value
        return value


class Cascades:
    """Computes and keeps cascades. ``of`` may read files on a miss: use a thread, or ``known`` on the loop."""

    def __init__(
        self,
        finder: SkillFinder,
        caches: CascadeCaches | None = None,
        wanted: Callable[[SkillDef], bool] = lambda _definition: True,
        choice: Callable[[], Any] = tuple,
    ) -> None:
        """``wanted``: whether a person has this middleware switched on; ``choice`` is what that depends on."""
        self._finder = finder
        self.wanted = wanted
        self._choice = choice
        self._caches: CascadeCaches = caches if caches is not None else MemoryCaches()

    def known(self, definition: SkillDef, args: Mapping[str, Any]) -> Cascade | None:
        """The cascade from memory, or None."""
        base = self._key(definition)
        volatile = self._caches.cascade_deps.get(base)
        if volatile is None:
            return None
        found = self._caches.cascade.get((*base, *_values(volatile, args)))
        return found if isinstance(found, Cascade) else None

    def of(self, definition: SkillDef, args: Mapping[str, Any]) -> Cascade:
        """The cascade of one call. Raises ConfigurationError naming a cycle or a missing ancestor (R-INV-10)."""
        found = self.known(definition, args)
        if found is None:
            began = self._caches.generation
            found = self._compute(definition, args)
            base = self._key(definition)
            self._caches.keep(began, self._caches.cascade, (*base, *_values(found.volatile, args)), found)
            self._caches.keep(began, self._caches.cascade_deps, base, found.volatile)
        return found

    def _key(self, definition: SkillDef) -> tuple[Any, ...]:
        return (definition.name, definition.path, definition.entry, definition.stamp, self._choice())

    def once(self, definition: SkillDef, args: Mapping[str, Any]) -> Cascade:
        """The cascade of a definition, not cached: for one that was changed for a single call."""
        return self._compute(definition, args)

    def _compute(self, definition: SkillDef, args: Mapping[str, Any]) -> Cascade:
        layers = self._layers(definition)
        metadata, origins = merged([(layer.name, layer.metadata) for layer in layers])
        removed = frozenset(names_of(definition.metadata.get("$remove")))
        entries = [
            entry
            for key, value in metadata.items()
            if key not in CONFIGURING and key not in removed and (entry := self._entry(key, value)) is not None
        ]
        if definition.role == "middleware":
            entries = []  # middleware serves; nothing stands around it but the gates
        steering = _mapping(definition.metadata.get("$order"))
        try:
            order = ordered([*_gate_places(), *(_place(entry, steering) for entry in entries)])
        except OrderCycle as error:
            raise ConfigurationError(
                f"{definition.name}: {error}.", next_step="Correct before and after in the skills it names."
            ) from error
        by_name = {entry.name: entry for entry in entries}
        volatile = tuple(dict.fromkeys(path for entry in entries for path in volatile_paths(entry.value)))
        chain = tuple(_filled(by_name[name], args) for name in order if name in by_name)
        whose = {layer.name: layer.source for layer in layers}
        setters = {key: whose[name] for key, name in origins.items()}
        return Cascade(metadata, origins, chain, order, volatile, setters, removed)

    def _entry(self, key: str, value: Any) -> ChainEntry | None:
        """The middleware that handles a key, when there is one and the value does not switch it off."""
        if value is False or value is None:
            return None
        found = self._finder.find_tool(key)
        if found is None or found.level != "call" or found.state != "ready" or not self.wanted(found):
            return None
        hook = found.metadata.get("hook")
        return ChainEntry(found.name, value, found, hook if hook in ("$next", "$invoke") else "")

    # -- ancestry -----------------------------------------------------------------------------------------------------

    def _layers(self, definition: SkillDef) -> list[SkillDef]:
        """Outermost first, the skill last."""
        inherit = definition.metadata.get("$inherit")
        if inherit is False or definition.kind == "program":
            return [definition]
        authority = self._finder.find_authority(definition)
        known: dict[str, SkillDef] = {definition.name: definition}

        def parents(name: str) -> Sequence[str]:
            return [one for one in self._parents(known, name, authority) if one is not None]

        try:
            chain = linearised(definition.name, parents)
        except InheritanceError as error:
            raise ConfigurationError(f"{error}.", next_step="Correct $inherit.") from error
        layers = [known[name] for name in reversed(chain)]
        for main in (authority, self._default()):
            if main is not None and main.state == "ready" and all(main is not layer for layer in layers):
                layers.insert(0, main)
        return layers

    def _parents(self, known: dict[str, SkillDef], name: str, authority: SkillDef | None) -> Iterator[str | None]:
        for ref in names_of(known[name].metadata.get("$inherit")):
            found = authority if ref == AUTHORITY else self._finder.find_tool(ref)
            if found is None:
                if ref == AUTHORITY:
                    continue
                raise ConfigurationError(
                    f"{name} inherits from {ref!r}, which is not there.", next_step="Correct $inherit."
                )
            if found.state != "ready":  # what a person has not trusted or seen changes nothing (R-SK-15)
                raise ConfigurationError(
                    f"{name} inherits from {ref!r}, which is not ready ({found.state}).",
                    next_step="Look at it on the Skills page.",
                )
            known.setdefault(found.name, found)
            yield found.name

    def _default(self) -> SkillDef | None:
        """The library's main skill: implicit at the end of every chain."""
        found = self._finder.find_tool("default")
        return found if found is not None and found.source == "library" else None


@dataclass(frozen=True, slots=True)
class Promotions:
    """What the project's main skill puts into every call's locals and into the globals (R-INV-13)."""

    local: Mapping[str, Any] = field(default_factory=dict)
    shared: Mapping[str, Any] = field(default_factory=dict)


def promotions(main: SkillDef | None) -> Promotions:
    """``$local`` and ``$global`` of a main skill; the caller keeps the result until all caches are cleared."""
    if main is None:
        return Promotions()
    return Promotions(_mapping(main.metadata.get("$local")), _mapping(main.metadata.get("$global")))


def _gate_places() -> list[Placement]:
    """The gates one after the other, between ``$pre-execute`` and everything that a person may add."""
    places = []
    earlier = "$pre-execute"
    for name in GATES:
        places.append(Placement(name, before=("$execute",), after=(earlier,)))
        earlier = name
    return places


def _place(entry: ChainEntry, steering: Mapping[str, Any]) -> Placement:
    """A middleware's own constraints and those of the served skill; always behind the last gate (R-MW-7)."""
    own, asked = _mapping(entry.definition.metadata.get("order")), _mapping(steering.get(entry.name))
    before = (*names_of(own.get("before")), *names_of(asked.get("before")), "$execute")
    after = (*names_of(own.get("after")), *names_of(asked.get("after")), GATES[-1])
    return Placement(entry.name, before, after)


def names_of(value: Any) -> tuple[str, ...]:
    """Names in a list, or with spaces between them in a text; anything else names nothing."""
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(str(one) for one in value) if isinstance(value, (list, tuple)) else ()


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# -- volatile values --------------------------------------------------------------------------------------------------


def volatile_paths(value: Any) -> Iterator[str]:
    """The ``args…`` paths that ``${…}`` in a value names."""
    if isinstance(value, str):
        yield from _VOLATILE.findall(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from volatile_paths(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from volatile_paths(item)


def _values(paths: Sequence[str], args: Mapping[str, Any]) -> tuple[str, ...]:
    """What the volatile paths hold now, as texts of bounded size."""
    return tuple(hashlib.sha256(repr(_look_up(path, args)).encode("utf-8", "replace")).hexdigest() for path in paths)


def _look_up(path: str, args: Mapping[str, Any]) -> Any:
    """The value at ``args.a.0.b``; None where there is none."""
    return path_get({"args": args}, path)


def _filled(entry: ChainEntry, args: Mapping[str, Any]) -> ChainEntry:
    if not any(True for _ in volatile_paths(entry.value)):
        return entry
    return ChainEntry(entry.name, _fill(entry.value, args), entry.definition, entry.hook)


def _fill(value: Any, args: Mapping[str, Any]) -> Any:
    """``${args.x}`` as its value when it is the whole text, as text within other text. Once: what comes in is not
    looked through again."""
    if isinstance(value, str):
        whole = _VOLATILE.fullmatch(value)
        if whole:
            return _look_up(whole[1], args)
        return _VOLATILE.sub(lambda match: str(_look_up(match[1], args)), value)
    if isinstance(value, Mapping):
        return {key: _fill(item, args) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_fill(item, args) for item in value]
    return value
