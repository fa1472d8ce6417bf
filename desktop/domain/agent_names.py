"""What an agent is called elsewhere: its name is free, those of its tool and its file follow from it (S4, R-AAT-1)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""A name that is a provider's name of a tool as it is."""
_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST = 48


def tool_name_of(name: str) -> str:
    """The canonical name of the agent as a tool. Names that say the same in Latin letters may have the same one; one
    with other letters, which are lost in it, ends in a digest."""
    if IDENTIFIER.fullmatch(name):
        return _apart(name.replace("_", "-"))
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).lower()
    stem = _OTHER.sub("-", plain).strip("-")
    lost = any(c.isalnum() and not c.isascii() for c in plain) or len(stem) > _LONGEST
    stem = _apart(stem[:_LONGEST].strip("-"))
    return f"{stem}-{_digest(name)}" if lost else stem


def tool_names_of(names: Iterable[str]) -> dict[str, str]:
    """Of each name that of its tool, no two the same: one that is a tool's name as it is keeps it, of others the first
    in order does, and the rest end in a digest."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names, key=lambda one: (IDENTIFIER.fullmatch(one) is None, one)):
        tool = tool_name_of(name)
        found[name] = tool if tool not in taken else f"{tool[:_LONGEST].strip('-')}-{_digest(name)}"
        taken.add(found[name])
    return found


def alias_of(name: str, tool: str) -> str:
    """The provider's name of the tool: the agent's own where it can be one."""
    return name if IDENTIFIER.fullmatch(name) else tool.replace("-", "_")


def file_stem_of(name: str) -> str:
    """The file of a new agent, without its ending: never a path, and of each name another."""
    return name if IDENTIFIER.fullmatch(name) else f"{tool_name_of(name)[:_LONGEST].replace('-', '_')}_{_digest(name)}"


def _apart(stem: str) -> str:
    """Providers of agents are called ``agent-…``, and offered to nobody; no tool's name begins with a digit."""
    taken = not stem or stem[0].isdigit() or stem == "agent" or stem.startswith("agent-")
    return f"my-{stem or 'agent'}" if taken else stem


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
