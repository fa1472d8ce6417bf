"""What a skill says that it may reach, so that two versions of it can be compared: tools, hosts, writes, scripts.

It is what the file declares; what a call may do is decided by the gates when there is one. What differs in a way that
is not known to be harmless counts as more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef
from desktop.skills.patterns.grammar import Pattern, parse_patterns
from desktop.skills.patterns.syntax import PatternError

Row = Literal["Tools", "Hosts", "Writes", "Scripts", "Settings"]
ROWS: tuple[Row, ...] = ("Tools", "Hosts", "Writes", "Scripts", "Settings")
EVERYTHING = "every tool"
_WRITES = frozenset({"write-file", "edit-file"})
_FETCHES = frozenset({"fetch", "web-fetch", "web-search"})
_HARMLESS = frozenset(
    {
        "tags",
        "version",
        "author",
        "license",
        "params",
        "returns",
        "short-description",
        "homepage",
        "keywords",
        "category",
    }
)
"""Keys of metadata that give a skill nothing; the category stands in a row of its own."""
_ADDRESS = re.compile(r"https?://(?:[^/@\s*]*@)?([\w.*-]+)")


@dataclass(frozen=True, slots=True)
class Reach:
    """The rows, each the parts that it consists of."""

    parts: Mapping[Row, tuple[str, ...]]

    def more_than(self, before: Reach) -> frozenset[Row]:
        """The rows with a part that was not there before, or without one that took something away."""
        return frozenset(row for row in ROWS if self.added(before, row) or self._freed(before, row))

    def added(self, before: Reach, row: Row) -> tuple[str, ...]:
        """The parts of a row that are new."""
        if EVERYTHING in before.parts.get(row, ()):
            return ()
        return tuple(part for part in self.parts.get(row, ()) if part not in before.parts.get(row, ()))

    def gone(self, before: Reach, row: Row) -> tuple[str, ...]:
        """The parts of a row that are no longer there."""
        return before.added(Reach({row: self.parts.get(row, ())}), row)

    def _freed(self, before: Reach, row: Row) -> bool:
        return any(part.startswith("not ") for part in self.gone(before, row))


def reach_of(definition: SkillDef, scripts: Iterable[str]) -> Reach:
    """Of one skill with the scripts beside it."""
    allowed = definition.allowed_tools
    tools: list[str] = []
    hosts: list[str] = []
    writes: list[str] = []
    if allowed is None:
        tools, hosts, writes = [EVERYTHING], [], []
    else:
        for pattern in _patterns(allowed):
            tools.append(_tool(pattern))
            hosts += _hosts(pattern)
            writes += _written(pattern)
    parts: dict[Row, tuple[str, ...]] = {
        "Tools": _once(tools),
        "Hosts": _once(hosts),
        "Writes": _once(writes),
        "Scripts": tuple(scripts),
        "Settings": _settings(definition),
    }
    return Reach(parts)


def reach_of_server(command: str, hosts: Iterable[str], variables: Iterable[str]) -> Reach:
    """Of an MCP server: what would run or where it is, and the variables that it gets."""
    return Reach({"Tools": (command,), "Hosts": tuple(hosts), "Settings": tuple(variables)})


def _patterns(text: str) -> tuple[Pattern, ...]:
    try:
        return parse_patterns(text).patterns
    except PatternError:
        return ()


def _tool(pattern: Pattern) -> str:
    if pattern.denies:
        return f"not {pattern.text}"
    name = pattern.selector.text if pattern.selector.kind == "glob" else f"#{pattern.selector.text}"
    told = name in _WRITES and all(one.name == "path" for one in pattern.constraints)
    return name if told and not pattern.metas else pattern.text


def _hosts(pattern: Pattern) -> list[str]:
    if pattern.denies:
        return []
    named = [host for one in pattern.constraints for host in _ADDRESS.findall(one.glob)]
    named += [one.glob for one in pattern.constraints if one.name == "host"]
    return named or (["any, each asks"] if pattern.selector.text in _FETCHES else [])


def _written(pattern: Pattern) -> list[str]:
    if pattern.denies or pattern.selector.text not in _WRITES:
        return []
    return [one.glob for one in pattern.constraints if one.name == "path"] or ["anywhere, each asks"]


def _settings(definition: SkillDef) -> tuple[str, ...]:
    """What else of its head decides about it."""
    found = [f"category {definition.category}"] if definition.category else []
    found += [f"role {definition.role}"] if definition.role not in ("", "context") else []
    found += ["not hidden"] if definition.visibility not in ("", "hidden") else []
    found += ["no model brings it in"] if not definition.model_invocable else []
    metadata: Mapping[str, Any] = definition.metadata
    known = _HARMLESS | {"role", "visibility", "main"}
    found += [f"{key}: {_short(metadata[key])}" for key in sorted(map(str, metadata)) if key not in known]
    return tuple(found)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _once(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(parts))
