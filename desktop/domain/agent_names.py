"""What an agent is called elsewhere: its name is free, those of its tool and its file follow from it (R-AAT-1)."""

from __future__ import annotations

import hashlib
import re
import unicodedata

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""A name that is a provider's name of a tool as it is."""
_OTHER = re.compile(r"[^a-z0-9]+")
_DIGESTED = re.compile(r".*_[0-9a-f]{10}")
_LONGEST = 48


def tool_name_of(name: str) -> str:
    """The canonical name of the agent as a tool. It follows from this name alone: a rule that a person gave for it
    never comes to mean another agent because that one was added.

    name                                                        its tool
    an identifier (``code_reviewer``)                           the same, with hyphens
    an identifier that ends as a digest does, or whose          made apart, with a digest
    tool's name is a provider's (``agent_x``)
    any other (``Code reviewer``, ``支援係``)                     what is left in Latin letters, with a digest
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).lower()
    own = name.replace("_", "-")
    if IDENTIFIER.fullmatch(name) and not _DIGESTED.fullmatch(name) and _apart(own) == own:
        return own
    return f"{_apart(_OTHER.sub('-', plain)[:_LONGEST].strip('-'))}-{_digest(name)}"


def alias_of(tool: str) -> str:
    """The provider's name of the tool: of an identifier, the agent's own."""
    return tool.replace("-", "_")


def file_stem_of(name: str) -> str:
    """The file of a new agent, without its ending: never a path, and of each name another."""
    return name if IDENTIFIER.fullmatch(name) else tool_name_of(name).replace("-", "_")


def _apart(stem: str) -> str:
    """Providers of agents are called ``agent-…``, and offered to nobody; no tool's name begins with a digit."""
    taken = not stem or stem[0].isdigit() or stem == "agent" or stem.startswith("agent-")
    return f"my-{stem or 'agent'}" if taken else stem


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
