"""What the Run panel says of an agent: its state, its line, everything about it. Qt-free.

All of it is plain text as it came; whoever shows it escapes what cannot be seen.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from desktop.domain.runs.supervision import Priority
from desktop.domain.runs.tree import NodeFacts, NodeState
from desktop.domain.text.words import count_words
from desktop.presenter.common.words import clock, human_cost, human_count
from desktop.presenter.run_panel.nodes import AgentLine
from desktop.presenter.trace.words import NodeFact, seconds_words, short_minutes
from desktop.presenter.transcript.build import canonical

_WORDS = {
    NodeState.WORKING: "working",
    NodeState.QUEUED: "in the queue",
    NodeState.THINKING: "thinking",
    NodeState.CALLING: "making a call",
    NodeState.SLEEPING: "asleep",
    NodeState.JOINING: "waiting for an agent",
    NodeState.WAITING: "waiting for you",
    NodeState.PAUSED: "paused",
    NodeState.PREEMPTED: "paused for another agent",
    NodeState.COMPLETED: "done",
    NodeState.FAILED: "failed",
    NodeState.CANCELLED: "cancelled",
    NodeState.LIMIT: "limit reached",
    NodeState.INTERRUPTED: "interrupted",
}
_LOOKS = {
    NodeState.QUEUED: "in queue",
    NodeState.SLEEPING: "idle",
    NodeState.JOINING: "idle",
    NodeState.WAITING: "waiting",
    NodeState.PAUSED: "paused",
    NodeState.PREEMPTED: "paused",
    NodeState.COMPLETED: "done",
    NodeState.FAILED: "failed",
    NodeState.CANCELLED: "aborted",
    NodeState.LIMIT: "limit",
    NodeState.INTERRUPTED: "aborted",
}
_LONGER = {
    NodeState.QUEUED: "It waits for its turn with the model.",
    NodeState.PREEMPTED: "A more important agent is at work in its place. It continues as soon as a place is free.",
    NodeState.PAUSED: "It makes no call until you resume it.",
}
_STOPPING = "It was cancelled and is stopping."
_LIMITS = {
    "max_tokens": "token limit reached",
    "max_cost_usd": "cost limit reached",
    "max_rounds": "round limit reached",
    "deadline_s": "time limit reached",
}
_TURNING = frozenset({NodeState.WORKING, NodeState.THINKING, NodeState.CALLING})
STOPPING = "stopping"
SIDES = {"a": "Side A", "b": "Side B"}


def look_of(facts: NodeFacts) -> str:
    """The name of the look in which an agent's state is painted."""
    if facts.stopping:
        return "running"
    return _LOOKS.get(facts.state, "running")


def is_turning(facts: NodeFacts) -> bool:
    """Whether the agent works or is being stopped, so that its mark turns."""
    return facts.stopping or facts.state in _TURNING


def state_word(facts: NodeFacts) -> str:
    """The agent's state in a word; which limit, where one ended it."""
    if facts.stopping:
        return STOPPING
    if facts.state is NodeState.LIMIT:
        return next((word for name, word in _LIMITS.items() if name in facts.detail), _WORDS[facts.state])
    return _WORDS[facts.state]


def word_of(line: AgentLine) -> str:
    """The agent's state in a few words: what it does, and whom it waits for."""
    facts = line.facts
    if facts.stopping:
        return STOPPING
    if facts.state is NodeState.CALLING and facts.doing:
        word = f"calling {canonical(facts.doing)}"
    elif facts.state is NodeState.JOINING and facts.doing:
        word = f"waiting for {_name(facts.doing)}"
    else:
        word = state_word(facts)
    if (facts.pause_asked or line.paused_by) and _may_pause(facts):
        word += ", then pauses"
    return word


def _may_pause(facts: NodeFacts) -> bool:
    return not facts.state.over and facts.state not in (NodeState.PAUSED, NodeState.PREEMPTED)


def _name(address: str) -> str:
    """``helper`` of ``helper/0.3``."""
    return address.partition("/")[0]


def side_word(facts: NodeFacts) -> str:
    """``Side A`` for a known side; any other name as it is."""
    return SIDES.get(facts.side.lower(), facts.side)


def tokens_of(facts: NodeFacts) -> int:
    """The tokens read and written."""
    return facts.input_tokens + facts.output_tokens


def tokens_words(facts: NodeFacts) -> str:
    """``12.3k tokens``; ``about`` where a server did not say all; rounds without a figure are not nothing."""
    count = tokens_of(facts)
    if not count and facts.rounds:
        return "tokens unknown"
    about = "about " if facts.tokens_estimated else ""
    return f"{about}{human_count(count)} token{'' if count == 1 else 's'}"


def cost_words(facts: NodeFacts) -> str:
    """``$0.031``, ``at least $0.031``, ``cost unknown``; ``$0`` before the first round."""
    if facts.cost_known:
        return human_cost(facts.cost_usd)
    return f"at least {human_cost(facts.cost_usd)}" if facts.cost_usd else human_cost(None)


def time_words(seconds: float) -> str:
    """``41 s``, ``3 min 20 s``: calm, without tenths once it is more than a few seconds."""
    return seconds_words(seconds) if seconds < 10 or seconds >= 59.5 else f"{seconds:.0f} s"


def when(at: float) -> str:
    """The time as ``14:02``, or ``19 Nov 14:02`` for another day."""
    then, now = time.localtime(at), time.localtime()
    same = then[:3] == now[:3]
    return clock(at) if same else f"{then.tm_mday} {time.strftime('%b', then)} {clock(at)}"


def short_time(seconds: float) -> str:
    """``41 s``, ``3m 20s``, ``2h 05m``: what fits into a row."""
    return time_words(seconds) if seconds < 59.5 else short_minutes(seconds)


def short_model(model: str) -> str:
    """``mistral-large`` of ``mistral/mistral-large``."""
    return model.partition("/")[2] or model


def figures(facts: NodeFacts, *, without: int = 0) -> str:
    """The second line of an agent, without its time. ``without``: so many parts fewer, the model first, then the side
    (which its mark says), then the rounds."""
    parts = [short_model(facts.model), side_word(facts), count_words(facts.rounds, "round")][without:]
    if not without:
        parts[:2] = [parts[1], parts[0]]
    return " · ".join(part for part in (*parts, tokens_words(facts), cost_words(facts)) if part)


def spoken(line: AgentLine) -> str:
    """An agent's line for who does not see it."""
    facts = line.facts
    parts = [
        facts.agent,
        side_word(facts),
        word_of(line),
        short_model(facts.model),
        count_words(facts.rounds, "round"),
        tokens_words(facts),
        cost_words(facts),
        time_words(facts.elapsed_s),
    ]
    if facts.waited_s >= 1:
        parts.append(f"waited {time_words(facts.waited_s)} for you")
    if line.below:
        parts.append(f"{'open' if line.is_open else 'folded'}, {count_words(line.below, 'agent')} below")
    parts.append(f"level {line.level + 1}")
    return ", ".join(part for part in parts if part)


def facts_of(line: AgentLine) -> tuple[NodeFact, ...]:
    """Everything about an agent, a line each."""
    return tuple(_facts(line))


def _facts(line: AgentLine) -> Iterator[NodeFact]:
    facts = line.facts
    yield from _doing(line)
    if facts.side:
        yield NodeFact("Side", side_word(facts))
    if facts.model:
        yield NodeFact("Model", facts.model, mono=True)
    with_below = ", with the agents below" if line.below else ""
    yield NodeFact("Rounds", f"{facts.rounds:,}{with_below}")
    yield NodeFact("Tool calls", f"{facts.tool_calls:,}{with_below}")
    split = f" ({facts.input_tokens:,} read, {facts.output_tokens:,} written)" if tokens_of(facts) else ""
    yield NodeFact("Tokens", f"{tokens_words(facts).removesuffix(' tokens').removeprefix('tokens ')}{split}")
    yield NodeFact("Cost", cost_words(facts).removeprefix("cost "))
    yield NodeFact("Time", time_words(facts.elapsed_s))
    if facts.waited_s >= 1:
        yield NodeFact("Waited", f"{time_words(facts.waited_s)} for you, not counted as time")
    if facts.started_at:
        until = f", ended {when(facts.ended_at)}" if facts.ended_at else ""
        yield NodeFact("Began", f"{when(facts.started_at)}{until}")
    if facts.priority is not Priority.NORMAL:
        yield NodeFact("Priority", facts.priority.name.lower())


def _doing(line: AgentLine) -> Iterator[NodeFact]:
    facts = line.facts
    if facts.state.over:
        if facts.detail:
            yield NodeFact("Ended", facts.detail)
        return
    if facts.stopping:
        yield NodeFact("Now", _STOPPING)
        return
    if facts.state is NodeState.WAITING and facts.doing:
        yield NodeFact("Asks for", canonical(facts.doing), mono=True)
    elif facts.state in _LONGER:
        yield NodeFact("Now", _LONGER[facts.state])
    elif facts.doing:
        yield NodeFact("Now", word_of(line))
    if line.paused_by:
        yield NodeFact("Paused", f"together with {line.paused_by}, which called it")
