"""What a person agreed to for each agent of another maker: kept small, and bound to the program that they looked at.

An agent is off until its switch was set, and off again when its program or the way it is started is another one. The
terms say what the processes of the agent may do by themselves; what it asks Assent to do is judged call by call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.tools.acp.known import AcpAgent

KEY = "acp.agents"
MAX_ADDED = 50


@dataclass(frozen=True, slots=True)
class AcpTerms:
    """What one agent may do by itself."""

    on: bool = False
    """Whether the person has switched it on."""
    digest: str = ""
    """The program that they looked at."""
    stamp: str = ""
    """Its file, without its content."""
    seen_at: float = 0.0
    """When they did, in seconds since the epoch."""
    writes: bool = False
    """Whether its own processes may write in the allowed folders."""
    network: bool = True
    """Whether they have the network."""
    folders: bool = True
    """Whether they read and write where the agent keeps its settings and its login."""
    tools: tuple[str, ...] = ()
    """Skills and tools of ours that it is offered."""
    folder: str = ""
    """Where it works; "": the workspace."""


@dataclass(frozen=True, slots=True)
class Kept:
    """All that is kept of agents of other makers."""

    terms: Mapping[str, AcpTerms] = field(default_factory=dict)
    """By the agents' names."""
    added: tuple[AcpAgent, ...] = ()
    """Those that a person added by a command, or out of a registry file."""
    registry: str = ""
    """The registry file that a person chose."""

    def of(self, name: str) -> AcpTerms:
        """The terms of one; what is not known is off."""
        return self.terms.get(name, AcpTerms())

    def with_terms(self, name: str, terms: AcpTerms) -> Kept:
        return replace(self, terms={**self.terms, name: terms})


def to_plain(kept: Kept) -> dict[str, Any]:
    """JSON-ready form."""
    return {
        "terms": {name: _plain(terms) for name, terms in kept.terms.items()},
        "added": [_plain(agent) for agent in kept.added],
        "registry": kept.registry,
    }


def from_plain(found: Any) -> Kept:
    """Read what was kept; what cannot be read is as if it were not there, and so off."""
    found = found if isinstance(found, Mapping) else {}
    terms = found.get("terms")
    added = found.get("added")
    return Kept(
        {str(name): _terms(one) for name, one in (terms.items() if isinstance(terms, Mapping) else ())},
        tuple(agent for one in (added if isinstance(added, list) else ()) if (agent := _agent(one)) is not None),
        str(found.get("registry") or ""),
    )


def _plain(record: Any) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(
        json.dumps({name: getattr(record, name) for name in type(record).__dataclass_fields__}, default=list)
    )
    return whole


def _terms(one: Any) -> AcpTerms:
    if not isinstance(one, Mapping):
        return AcpTerms()
    return AcpTerms(
        on=one.get("on") is True,
        digest=_text(one.get("digest")),
        stamp=_text(one.get("stamp")),
        seen_at=float(one["seen_at"]) if isinstance(one.get("seen_at"), int | float) else 0.0,
        writes=one.get("writes") is True,
        network=one.get("network") is True,
        folders=one.get("folders") is True,
        tools=_texts(one.get("tools")),
        folder=_text(one.get("folder")),
    )


def _agent(one: Any) -> AcpAgent | None:
    if not isinstance(one, Mapping) or not _text(one.get("name")) or not _text(one.get("command")):
        return None
    env = one.get("env")
    return AcpAgent(
        _text(one["name"]),
        _text(one.get("title")) or _text(one["name"]),
        _text(one["command"]),
        _texts(one.get("args")),
        {str(key): str(value) for key, value in env.items()} if isinstance(env, Mapping) else {},
        _texts(one.get("folders")),
        origin=_text(one.get("origin")) or "added",
        note=_text(one.get("note")),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    rows: Sequence[Any] = value if isinstance(value, list) else ()
    return tuple(one for one in rows if isinstance(one, str))
