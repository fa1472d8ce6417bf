"""What a call in the activity log was, in words: what a person knows by its name keeps it, what works inside Assent is
told as what it does. Only the beginning of the arguments is kept in the log, so they are read as far as they go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from desktop.domain.approval.permission import AuditEntry, PermissionRequest
from desktop.presenter.common.shown import shown_line
from desktop.presenter.transcript.by_itself import WORDS
from desktop.tools.acp.asks import ASKS, DID

ABOUT = ("path", "command", "url", "message", "query", "prompt")
"""Arguments that say by themselves what a call is about."""
AGENT_SHOWN, CALLER_SHOWN = 40, 120
_DECODER = json.JSONDecoder()
_SAID = ("userMessage", "message")
_KEYS = (
    *("cwd", "directives", "include", "mcp", "model", "params", "paths", "returns", "role", "tags", "trust"),
    *("validate-allowed-tools", "validate-args", "visibility", "workspace"),
)
INSIDE: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "agent": ("Agent at work", _SAID),
    "agent-acp": ("Agent at work", _SAID),
    "agent-litellm": ("Agent at work", _SAID),
    "agent-demo": ("Demo agent at work", _SAID),
    "agent-in-code": ("Agent in code at work", _SAID),
    "agent-effect": ("Step of an agent in code", ()),
    "agent-fan-out": ("Asks several agents", ()),
    "model-ask": ("Asks a model", _SAID),
    "context-manager": ("Manages the conversation", ("op",)),
    "event-emit": ("Sends an event", ("topic",)),
    "event-subscribe": ("Listens for events", ("topic",)),
    "event-wait": ("Waits for an event", ("topic",)),
    "skill-list": ("Lists skills", ("query",)),
    "skill-describe": ("Looks at a skill", ("name",)),
    "skill-invoke": ("Calls a skill", ("ref",)),
    "cache": ("Keeps a result for later", ()),
    "response-cache": ("Keeps an answer for later", ()),
    "content-filter": ("Checks what is said", ()),
    "delegate": ("Hands work on", _SAID),
    "rate-limit": ("Limits how often", ()),
    "retry": ("Tries again", ()),
    "run-log": ("Writes the log of the run", ()),
    "run-metrics": ("Measures the run", ()),
    "session": ("Keeps the session", ()),
    "timeout": ("Limits the time", ()),
    **{name: (f"Looks at {name} of a skill", ("name",)) for name in _KEYS},
}
"""By the name of what works inside Assent: what it does, and the arguments that say about what."""


WORK = frozenset({"agent", "agent-acp", "agent-litellm", "agent-demo", "agent-in-code"})


class CallWords(NamedTuple):
    """A call in a line."""

    tool: str
    """The tool's name, or what was done."""
    what: str
    """What it was about."""
    plain: bool = False
    """Whether ``tool`` is words, not a name of the code."""


def call_words(entry: AuditEntry, titles: Mapping[str, str]) -> CallWords:
    """The words of an entry; ``titles`` are what a person reads of agents, by their names."""
    kept = kept_arguments(entry.summary)
    if entry.tool in (ASKS, DID):
        given = kept or {}
        agent = str(given.get("agent") or _first(entry, titles) or "The agent")[:AGENT_SHOWN]
        says, kind = str(given.get("says") or ""), WORDS.get(str(given.get("kind")), "Something")
        return CallWords(f"{agent} {'asks' if entry.tool == ASKS else 'did'}", f"{kind}: {says}", True)
    if entry.tool in INSIDE:
        word, about = INSIDE[entry.tool]
        if entry.tool == "agent-acp":
            word = f"{(_first(entry, titles) or 'Agent')[:AGENT_SHOWN]} at work"
        return CallWords(word, _about(kept or {}, about), True)
    return CallWords(entry.tool, one_line(entry.summary))


def one_line(summary: str) -> str:
    """What a call was about: the path or the command, else all arguments, else what was kept of them."""
    kept = kept_arguments(summary)
    if kept is None:
        return summary
    about = next((kept[name] for name in ABOUT if isinstance(kept.get(name), str)), None)
    return about if about is not None else ", ".join(f"{name}: {_text(value)}" for name, value in kept.items())


def done_by_itself(entry: AuditEntry) -> bool:
    """Whether an agent of another maker did it by itself: nobody decided about it, here or there."""
    return entry.tool == DID


def is_work(entry: AuditEntry) -> bool:
    """Whether it is the turn of an agent, in which each call is judged by itself."""
    return entry.tool in WORK


def outcome_shown(entry: AuditEntry) -> str:
    """What came of a call; of what an agent did by itself, what it says of it."""
    if not done_by_itself(entry) or entry.outcome != "done":
        return entry.outcome
    state = (kept_arguments(entry.summary) or {}).get("state")
    return "it says failed" if state == "failed" else "it says done" if state == "completed" else "told"


def asks_words(request: PermissionRequest) -> str:
    """What an agent of another maker asks for, as the name of its request; "" for any other request."""
    if request.tool != ASKS:
        return ""
    kind = WORDS.get(str(request.arguments.get("kind")), "something")
    return f"{shown_line(str(request.arguments.get('agent') or 'The agent'))[:AGENT_SHOWN]} asks: {kind.lower()}"


def waits_words(request: PermissionRequest, titles: Mapping[str, str]) -> str:
    """That it waits, where nothing else says so: who asks, and for what."""
    asks = asks_words(request)
    who = shown_line(next(iter(names_of(request.chain[:1], titles)), "An agent"))[:CALLER_SHOWN]
    said = asks or f"{who} wants to call {shown_line(request.tool)[:AGENT_SHOWN]}"
    return f"{said}. It waits for your answer."


def tool_words(tool: str) -> str:
    """The name of a tool where its calls are chosen from a list."""
    said = {ASKS: "Agents of others ask", DID: "Agents of others did", "agent-acp": "Agents of others at work"}
    return said.get(tool) or (INSIDE[tool][0] if tool in INSIDE else tool)


def names_of(chain: tuple[str, ...], titles: Mapping[str, str]) -> tuple[str, ...]:
    """Who called, from the outside in, as a person reads it: agents by their titles."""
    return tuple(titles.get(name, name) for name in chain)


def kept_arguments(summary: str) -> dict[str, Any] | None:
    """The arguments that a summary has, which may end in the middle of one: a text that was cut is kept as far as it
    goes. None: it is no object."""
    if not summary.startswith("{"):
        return None
    found: dict[str, Any] = {}
    at = 1
    try:
        while at < len(summary) and summary[at] == '"':
            name, at = _DECODER.raw_decode(summary, at)
            if summary[at : at + 2] != ": ":
                break
            at += 2
            found[name], at = _value(summary, at)
            if summary[at : at + 2] != ", ":
                break
            at += 2
    except (ValueError, RecursionError):
        pass
    return found if found or summary == "{}" else None


def _value(summary: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(summary, at)
    except (ValueError, RecursionError):
        if summary[at : at + 1] != '"':
            raise
    return summary[at + 1 :].replace("\\n", "\n").replace('\\"', '"'), len(summary)


def _first(entry: AuditEntry, titles: Mapping[str, str]) -> str:
    return titles.get(entry.chain[0], "") if entry.chain else ""


def _about(kept: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((_text(kept[name]) for name in names if kept.get(name)), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def spoken_words(entry: AuditEntry, titles: Mapping[str, str]) -> str:
    """The same in one piece."""
    words = call_words(entry, titles)
    return shown_line(f"{words.tool}: {words.what}" if words.plain else f"{words.tool} {words.what}")
