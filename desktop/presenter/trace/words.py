"""What a trace says to a person: a node's line, everything about a node, an event in one line. Qt-free.

All of it is plain text as it came; whoever shows it escapes what cannot be seen.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

from desktop.domain.approval.permission import NOBODY_ANSWERED, UNANSWERED
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Usage
from desktop.domain.runs.traces import TraceEntry
from desktop.domain.text.words import compact, count_words, size_words
from desktop.presenter.common.outcomes import DECIDED_BY, DECISIONS, ENDINGS
from desktop.presenter.common.words import clock, human_cost, saved_words
from desktop.presenter.trace.node import Axis, TraceNode

BRIEF = 120
SHOWN = 280
"""Characters of a text that stand in the panel before it is opened."""
WORDS = {"aborted": "stopped", "limit": "limit reached", "waiting": "waiting for you"}
STOPS = {
    "end": "the model was done",
    "tool_calls": "to make its calls",
    "length": "the limit on output tokens",
    "aborted": "it was stopped",
    "error": "an error",
    "cut": "the connection broke",
    "limit": "a limit",
}

_DID = {
    "watched": "went on, changed nothing",
    "changed": "changed the answer",
    "answered": "answered itself",
    "refused": "refused",
    "stopped": "was stopped",
}


@dataclass(frozen=True, slots=True)
class NodeFact:
    """One line about a node; ``mono`` for names that a machine uses."""

    name: str
    text: str
    mono: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """A long text, of which the beginning stands in the panel. ``omitted`` characters of it were not kept."""

    name: str
    text: str
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything about a node."""

    title: str
    """What it is."""
    mono: bool
    """Whether the title is a machine's name."""
    category: str
    """The call's category."""
    state: str
    """Names its look."""
    word: str
    """What the state is called."""
    facts: tuple[NodeFact, ...]
    """What is known of it."""
    quotes: tuple[Quote, ...] = ()
    """Texts that belong to it."""
    arguments: Quote | None = None
    """The call's arguments."""
    result: Quote | None = None
    """The call's result."""
    call_id: str = ""
    """The call, or ""."""


# -- a line -----------------------------------------------------------------------------------------------------------


def seconds_words(seconds: float) -> str:
    """``0.04 s``, ``12.4 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if seconds < 0.095:
        return f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def short_minutes(seconds: float) -> str:
    """``3m 20s``, ``2h 05m``: a minute or more as it fits into a row."""
    whole = round(seconds)
    return f"{whole // 60}m {whole % 60:02d}s" if whole < 3600 else f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def duration(node: TraceNode, axis: Axis, now: float) -> float:
    """The seconds that count for a node: without the time in which a person was asked."""
    if node.elapsed_ms is not None and node.over:
        return node.elapsed_ms / 1000
    end = now if node.ended is None else node.ended
    if node.kind == "call" and not node.children:
        return max(0.0, end - node.started - node.waited(now))
    return max(0.0, end - node.started - axis.stood(node.started, end))


def short_summary(node: TraceNode) -> str:
    """A call's arguments in a few words: of a path its last part."""
    text = node.summary.split("\n", 1)[0][:SHOWN]
    arguments = node.value("tool-call", "args")
    is_path = isinstance(arguments, Mapping) and isinstance(arguments.get("path"), str)
    return text.rstrip("/").rpartition("/")[2] if is_path else text


def state_word(node: TraceNode) -> str:
    """``done``, ``waiting for you``, ``limit reached`` …"""
    return WORDS.get(node.state, node.state)


def spoken(node: TraceNode, axis: Axis, now: float, is_open: bool) -> str:
    """A line as it is read aloud: what it is, its state, how long, how deep, open or folded."""
    kind = {"agent": "agent", "round": "", "call": f"{node.category} call".strip()}[node.kind]
    words = [" ".join(filter(None, (node.title, short_summary(node) if node.kind == "call" else ""))), kind]
    words += [state_word(node), seconds_words(duration(node, axis, now))]
    if node.waits:
        words.append(f"waited {seconds_words(node.waited(now))} for you")
    if node.children:
        words.append(f"{'open' if is_open else 'folded'}, {count_words(len(node.children), 'line')} below")
    return ", ".join(filter(None, (*words, f"level {node.level + 1}")))


# -- everything -------------------------------------------------------------------------------------------------------


def detail_of(node: TraceNode, axis: Axis, now: float) -> Detail:
    """A node in full."""
    facts: list[NodeFact] = []
    if node.kind == "agent":
        facts += _about_agent(node)
    elif node.kind == "round":
        facts += _about_round(node)
    if node.is_call:
        facts += _about_call(node, now)
    facts += (NodeFact("Middleware", middleware_words(entry)) for entry in node.entries if entry.type == "middleware")
    facts.append(NodeFact("Time", seconds_words(duration(node, axis, now))))
    quotes: tuple[Quote, ...] = ()
    if node.kind == "round":
        quotes = (Quote("Reasoning", *node.text("reasoning")), Quote("Text", *node.text("message")))
    state = "failed" if node.state == "limit" else node.state
    return Detail(
        node.title,
        node.kind != "round" and node.is_call,
        node.category if node.is_call else "",
        state,
        state_word(node),
        tuple(facts),
        tuple(quote for quote in quotes if quote.text),
        _arguments(node) if node.is_call else None,
        _result(node) if node.is_call else None,
        node.call_id if not node.call_id.startswith("#") else "",
    )


def middleware_words(entry: TraceEntry) -> str:
    """``shouts changed the answer, 0.2 s``; of a refusal its reason."""
    data, elapsed = entry.data, _number(entry.data.get("elapsedMs"))
    took = f", {seconds_words(elapsed / 1000)}" if elapsed is not None else ""
    why = f": {str(data['detail'])[:300]}" if data.get("detail") else ""
    return f"{str(data.get('name'))[:80]} {_DID.get(str(data.get('did')), 'ran')}{took}{why}"


def _about_agent(node: TraceNode) -> Iterator[NodeFact]:
    skill, provider = node.value("agent-start", "skill"), node.value("agent-start", "provider")
    if node.model:
        yield NodeFact("Model", node.model, mono=True)
    for name, value in (("Skill", skill), ("Provider", provider)):
        if value:
            yield NodeFact(name, str(value)[:200], mono=True)
    status = str(node.value("agent-complete", "status") or "")
    ended = ENDINGS.get(status)
    yield NodeFact("Status", (ended.trace if ended is not None else "") or status or state_word(node))
    limit = node.value("agent-complete", "limit")
    if limit:
        yield NodeFact("Limit", str(limit)[:400])
    for name in ("detail", "error"):
        said = node.value("agent-complete", name)
        if said and not (limit and str(limit) in str(said)):
            yield NodeFact("Said", str(said)[:600])
    yield NodeFact("Work", f"{count_words(node.rounds, 'round')}, {count_words(node.calls, 'tool call')}")


def _cache(usage: Usage) -> str:
    """``18,240 of 19,002 from the cache, 500 written to it, saved $0.050``."""
    written = f"{usage.written_tokens:,} written to it" if usage.written_tokens else ""
    parts = (f"{usage.cached_tokens:,} of {usage.input_tokens:,} from the cache", written, saved_words(usage.saved_usd))
    return ", ".join(filter(None, parts))


def _about_round(node: TraceNode) -> Iterator[NodeFact]:
    if node.model:
        yield NodeFact("Model", node.model, mono=True)
    usage = node.usage
    if usage is not None:
        parts = [f"{usage.input_tokens:,} in", f"{usage.output_tokens:,} out"]
        parts += [f"{usage.reasoning_tokens:,} reasoning"] if usage.reasoning_tokens else []
        yield NodeFact("Tokens", ", ".join(parts))
        if usage.cached_tokens or usage.written_tokens:
            yield NodeFact("Cache", _cache(usage))
    elif node.over:
        yield NodeFact("Tokens", "unknown")
    if node.over:
        cost = usage.cost_usd if usage is not None else None
        yield NodeFact("Cost", "unknown" if cost is None else human_cost(cost))
    stop = node.value("turn-end", "stopReason")
    if stop:
        yield NodeFact("Ended for", STOPS.get(str(stop), str(stop)[:80]))
    yield from (NodeFact("Retry", _retry_words(entry.data)) for entry in node.entries if entry.type == "retry")
    error = node.value("error", "error")
    if error:
        yield NodeFact("Error", str(error)[:600])
    notices = node.value("turn-end", "notices")
    yield from (NodeFact("Note", str(text)) for text in (notices if isinstance(notices, list) else ())[:5])


def _retry_words(data: Mapping[str, Any]) -> str:
    delay = data.get("delayMs")
    wait = f", after {seconds_words(delay / 1000)}" if isinstance(delay, int | float) else ""
    return f"{str(data.get('error') or 'the provider failed')[:300]}{wait}"


def facts_of(node: TraceNode) -> Mapping[str, Any]:
    """What is known of a finished call; it may be told twice, and once with less."""
    found: dict[str, Any] = {}
    for entry in node.entries:
        told = entry.value("facts") if entry.type == "tool-result" else None
        if isinstance(told, Mapping):
            found.update(told)
    return found


def _about_call(node: TraceNode, now: float) -> Iterator[NodeFact]:
    facts = facts_of(node)
    decision = _decision(node, facts)
    if decision:
        yield NodeFact("Decision", decision)
    if facts.get("reason") or node.value("tool-answered", "reason"):
        yield NodeFact("Reason", str(facts.get("reason") or node.value("tool-answered", "reason"))[:400])
    raised = facts.get("raised_because") or node.value("tool-waiting", "raisedBecause")
    if raised:
        yield NodeFact("Asked for", str(raised)[:300])
    if node.waits:
        yield NodeFact("Waited", f"{seconds_words(node.waited(now))}, not counted as time")
    arguments = node.value("tool-call", "args")
    path = arguments.get("path") if isinstance(arguments, Mapping) else None
    if isinstance(path, str):
        yield NodeFact("Path", path[:400], mono=True)
    elif node.summary:
        yield NodeFact("Called with", node.summary[:BRIEF] + ("…" if len(node.summary) > BRIEF else ""), mono=True)
    if node.over:
        yield NodeFact("Result", _result_words(node, facts))


def _decision(node: TraceNode, facts: Mapping[str, Any]) -> str:
    answered = node.entry("tool-answered")
    told = {**facts, **(answered.plain() if answered is not None else {})}
    decision, by = str(told.get("decision") or ""), str(told.get("by") or "")
    decision = UNANSWERED if decision == "deny" and by in NOBODY_ANSWERED else decision
    decided = DECISIONS[decision].trace if decision in DECISIONS else ""
    if not decided:
        return ""
    if by == "setting" and facts.get("category", node.category) == "read":
        return "reading needs none"
    rule = told.get("rule")
    pattern = rule.get("pattern") if isinstance(rule, Mapping) else None
    known = DECIDED_BY[by].trace if by in DECIDED_BY else ""
    who = f"by the rule {pattern}" if pattern else known or by
    at = f", {clock(answered.at)}" if answered is not None and by == "user" else ""
    return f"{decided} {who}{at}".strip()


def _result_words(node: TraceNode, facts: Mapping[str, Any]) -> str:
    words = [state_word(node)] if node.state not in ("done", "limit") else []
    size, code = _number(facts.get("size")), _number(facts.get("exit_code"))
    if size is not None and "created" in facts:
        words.append(f"{size_words(size)} written")
    else:
        got = _number(facts.get("bytes"))
        text = node.value("tool-result", "result")
        got = len(text.encode("utf-8", "replace")) if got is None and isinstance(text, str) else got
        words.append(size_words(got) if got else "nothing")
    if code:
        words.append(f"exit code {code}")
    if facts.get("code"):
        words.append(str(facts["code"])[:60])
    if facts.get("edited"):
        words.append("edited by you")
    return ", ".join(words)


def _arguments(node: TraceNode) -> Quote:
    return Quote("Arguments", json_text(node.value("tool-call", "args")))


def _result(node: TraceNode) -> Quote | None:
    text = node.value("tool-result", "result")
    omitted = _number(node.value("tool-result", "omitted")) or 0
    return Quote("Result", text, omitted) if isinstance(text, str) else None


def json_text(value: Any) -> str:
    """Indented JSON."""
    return json.dumps(value if value is not None else {}, indent=2, ensure_ascii=False, default=str)


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value)


# -- events -----------------------------------------------------------------------------------------------------------


def moment(at: float) -> str:
    """``14:02:03.120`` in local time."""
    try:
        return f"{time.strftime('%H:%M:%S', time.localtime(at))}.{int(at * 1000) % 1000:03d}"
    except (OverflowError, ValueError, OSError):
        return "?"


def event_words(entry: TraceEntry) -> str:
    """What an event says, in one line."""
    data = entry.data
    if entry.type in ("message", "reasoning"):
        return str(data.get("text", ""))[:SHOWN].replace("\n", " ")
    if entry.type == "tool-call":
        return f"{data.get('tool')} {compact(data.get('args'))}"[:SHOWN]
    if entry.type == "tool-result":
        sign = "failed: " if data.get("isError") else ""
        return f"{data.get('tool') or ''} {sign}{str(data.get('result'))[:SHOWN]}"[:SHOWN].replace("\n", " ").strip()
    if entry.type == "middleware":
        return middleware_words(entry)[:SHOWN].replace("\n", " ")
    hidden = ("messageId", "callId", "requestId")
    kept = {key: value for key, value in data.items() if key not in hidden and value not in ("", None)}
    return ", ".join(f"{key} {compact(value)}" for key, value in kept.items())[:SHOWN].replace("\n", " ")


def searchable(entry: TraceEntry) -> str:
    """Everything of an entry that a person may look for, in small letters. Safe while the entry still grows."""
    values = list(entry.data.values())
    return f"{entry.type} {entry.agent} {' '.join(map(str, values))}".casefold()
