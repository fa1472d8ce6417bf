"""Calls as rules look at them, kept for the simulator: plain data without secrets, and back.

What is kept is enough to decide: the commands of a shell command as they were taken apart then, and where paths led
then. A replay therefore says what a rule would have made of the calls as they were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.approval.permission import RecordedCall
from desktop.domain.safety import Redactor
from desktop.services.rules.text import digest_of
from desktop.skills.patterns.commands import ARGUMENT

MAX_TEXT = 2_000
"""Characters of one argument that are kept; of a shell command and of paths all."""
MAX_LINE = 20_000
MAX_PARTS = 200
MAX_ITEMS = 100
_CUT = CommandPart("", hidden="it has more commands than are kept of a call")


def recorded(facts: CallFacts, at: float, redactor: Redactor) -> RecordedCall:
    """A call to be kept. Takes up to a millisecond or so: the store's thread does it."""
    plain: dict[str, Any] = redactor.redact_data(_plain(facts))
    plain["digest"] = digest_of(facts.constraint)
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), default=str)
    return RecordedCall(hashlib.sha256(text.encode()).hexdigest(), facts.tool, text, facts.thread_id, at)


def facts_of(call: RecordedCall) -> CallFacts:
    """The call as rules are asked about it. Raises LookupError, TypeError or ValueError for what is no such record."""
    plain = json.loads(call.facts)
    parts = tuple(_part(*one) for one in plain["parts"])
    return CallFacts(
        call.tool,
        Category(plain["category"]),
        str(plain["about"]),
        tuple(plain["tags"]),
        dict(plain["arguments"]),
        str(plain["source"]),
        parts,
        dict(plain["resolved"]),
        call.thread_id,
        str(plain["digest"]),
        tuple(str(one) for one in plain.get("above", ())),
        plain.get("network") is True,
        also=str(plain.get("also", "")),
        project=str(plain.get("project", "")),
        asks=plain.get("asks") is True,
    )


def _plain(facts: CallFacts) -> dict[str, Any]:
    parts = facts.parts if len(facts.parts) <= MAX_PARTS else (*facts.parts[:MAX_PARTS], _CUT)
    return {
        "category": facts.category.value,
        "source": facts.source,
        "tags": list(facts.tags),
        "about": facts.constraint[:MAX_LINE],
        "arguments": {name: _value(name, value, 0) for name, value in facts.arguments.items()},
        "parts": [[part.text, part.spellings, part.hidden, part.said, part.assigns, part.hosts] for part in parts],
        "resolved": dict(facts.resolved),
        **({"above": list(facts.above)} if facts.above else {}),
        **({"project": facts.project} if facts.project else {}),
        **({"network": True} if facts.network else {}),
        **({"also": facts.also} if facts.also else {}),
        **({"asks": True} if facts.asks else {}),
    }


def _part(
    text: str,
    spellings: list[str],
    hidden: str,
    said: list[str],
    assigns: Sequence[str] = (),
    hosts: Sequence[str] = (),
) -> CommandPart:
    """Records of older versions say nothing of assignments and hosts."""
    return CommandPart(text, tuple(spellings), hidden, tuple(said), tuple(assigns), tuple(hosts))


def _value(name: str, value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value[: MAX_LINE if name == ARGUMENT else MAX_TEXT]
    if depth == 4:
        return None
    if isinstance(value, Mapping):
        return {str(key): _value("", item, depth + 1) for key, item in list(value.items())[:MAX_ITEMS]}
    if isinstance(value, list | tuple):
        return [_value(name, item, depth + 1) for item in value[:MAX_ITEMS]]
    return value


def text_of(facts: CallFacts) -> str:
    """What a call is about, for a person: its command, its path, else its arguments."""
    for name in (ARGUMENT, "path"):
        if isinstance(found := facts.arguments.get(name), str) and found:
            return found
    return json.dumps(dict(facts.arguments), ensure_ascii=False, default=str)[:MAX_TEXT]
