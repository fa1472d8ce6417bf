"""Pictures of the trace panel for ``dev.py shots``: an ordinary run, and the odd ones. Never in the app."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, cast

from PySide6.QtCore import QObject

from desktop.domain.runs.limits import Limit
from desktop.domain.runs.traces import TraceEntry
from desktop.domain.threads import RunRecord
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.trace.panel import TraceViewModel, grown

RUN = "7f3a91c2"
MODEL = "mistral/mistral-large"
LIMITS = (Limit("maxIterations", 20, "the loop's default"),)


class NoSource:
    """In a store's place: what is shown is said by hand."""

    async def runs(self, thread_id: str) -> list[RunRecord]:
        """None."""
        return []

    async def entries(self, run_id: str) -> list[TraceEntry]:
        """None."""
        return []

    async def run_of(self, message_id: str) -> str:
        """None."""
        return ""

    def limits(self, agent: str) -> tuple[Limit, ...]:
        """The loop's."""
        return LIMITS


class AtOnce(QObject):
    """In a bridge's place: threads are waited for, tasks that need nothing else are run to their end."""

    def spawn(self, work: Coroutine[Any, Any, Any], *, name: str, on_error: object = None) -> None:
        """Run it."""
        asyncio.run(work)

    async def in_thread(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call it."""
        return function(*args)


class Script:
    """Entries written down as they come; ``at`` seconds after the start."""

    def __init__(self, length: float) -> None:
        self.begin = time.time() - length
        self.found: list[TraceEntry] = []

    def say(self, at: float, kind: str, who: str = RUN, **data: Any) -> None:
        """One entry. ``who`` is a context; ``agent``, ``ancestor`` and ``call`` are the entry's own."""
        own = {name: str(data.pop(name, "")) for name in ("agent", "ancestor", "call")}
        self.found.append(TraceEntry(self.begin + at, kind, who, data, **own))

    def turn(self, at: float, number: int, text: str, length: float, who: str = RUN, **usage: Any) -> None:
        """A round from its start to its end."""
        self.say(at, "turn-start", who, turnNumber=number, messageId=f"{who}{number}")
        self.say(at + length, "message", who, text=text, messageId=f"{who}{number}")
        told = {"inputTokens": 9_204, "outputTokens": 388, "cachedTokens": 8_100, "costUsd": 0.004, **usage}
        self.say(
            at + length, "turn-end", who, stopReason="tool_calls", elapsedMs=int(length * 1000), usage=told, model=MODEL
        )

    def call(
        self,
        at: float,
        tool: str,
        args: Mapping[str, Any],
        length: float,
        category: str,
        *,
        who: str = RUN,
        waited: float = 0.0,
        **facts: Any,
    ) -> float:
        """A call, with the time in which it waits for the person; when it is over."""
        call_id = f"{tool}{at}"
        self.say(at, "tool-call", who, tool=tool, callId=call_id, args=dict(args), category=category)
        if waited:
            self.say(at, "tool-waiting", who, callId=call_id, category=category)
            decision = facts.get("decision", "allow_once")
            self.say(at + waited, "tool-answered", who, callId=call_id, decision=decision, by="user")
        over = at + waited + length
        state = str(facts.pop("state", "done"))
        result = str(facts.pop("result", "done"))
        self.say(
            over,
            "tool-result",
            who,
            tool=tool,
            callId=call_id,
            isError=state != "done",
            result=result,
            elapsedMs=int(length * 1000),
            facts={"state": state, "category": category, **facts},
        )
        return over


def _mock_up(*, live: bool = True) -> list[TraceEntry]:
    """Mock-up 10."""
    s = Script(216.0)
    s.say(0, "agent-start", agent="Workbench", model=MODEL)
    s.turn(0, 1, "I read the file first.", 3.2)
    s.call(
        3.2,
        "read-file",
        {"path": "data/gauge-07/2026-03.csv"},
        0.04,
        "read",
        bytes=241_000,
        by="setting",
        decision="allow_once",
    )
    s.turn(3.3, 2, "There are three gaps, 63 samples in all. I write the cleaned copy and ask the log.", 5.1)
    over = s.call(
        8.4,
        "write-file",
        {"path": "data/gauge-07/2026-03.clean.csv", "content": "time,level_m\n"},
        0.02,
        "write",
        waited=134.0,
        size=241_000,
        created=True,
        result="Created.",
    )
    _log_agent(s, over)
    s.turn(over + 9.9, 3, "The cleaned copy is written. Now the plot.", 4.4)
    over = s.call(
        over + 14.3,
        "bash",
        {"command": "python plot.py 07 08"},
        1.4,
        "write",
        waited=20.0,
        state="failed",
        exit_code=1,
        bytes=812,
        code="tool.exit",
        result="TypeError: cannot compare",
    )
    s.turn(over, 4, "The two log files disagree about time zones.", 3.8)
    over = s.call(over + 3.8, "bash", {"command": "python plot.py --tz UTC 07 08"}, 2.2, "write", waited=10.0, bytes=64)
    s.say(over, "turn-start", turnNumber=5, messageId="r5")
    s.say(over + 1, "reasoning", text="Gauge 8 kept running through the cut. " * 20, delta=True, messageId="r5")
    s.say(over + 4, "message", text="Gauge 8 kept running, so it can stand in for gauge 7. " * 9, messageId="r5")
    if not live:
        s.say(over + 9.6, "turn-end", stopReason="end", usage={"inputTokens": 12_040, "outputTokens": 611}, model=MODEL)
        s.say(over + 9.6, "agent-complete", status="response")
    return s.found


def _log_agent(s: Script, at: float) -> None:
    """An agent of its own, called by name."""
    s.say(
        at,
        "tool-call",
        tool="maintenance-log-agent",
        callId="log",
        args={"question": "what happened?"},
        category="agent",
    )
    whose = {"agent": "maintenance-log-agent", "call": "log"}
    s.say(at, "agent-start", "log-1", skill="maintenance-log-agent", provider="agent-litellm", **whose)
    s.turn(at + 0.1, 1, "I look into the log.", 2.9, "log-1")
    s.call(at + 3.0, "read-file", {"path": "log/2026-03.md"}, 0.05, "read", who="log-1", bytes=9_000)
    s.turn(at + 3.6, 2, "No entry on 17 March.", 6.1, "log-1")
    s.say(at + 9.7, "agent-complete", "log-1", status="done", rounds=2, toolCalls=1, **whose)
    s.say(
        at + 9.8,
        "tool-result",
        tool="maintenance-log-agent",
        callId="log",
        isError=False,
        elapsedMs=9800,
        result="The harbour office reports a power cut.",
        facts={"state": "done", "category": "agent"},
    )


def _failed() -> list[TraceEntry]:
    """Retries, an error, a call that was denied, an agent that a limit ended; texts that are long or lie."""
    s = Script(64.0)
    s.say(0, "agent-start", agent="Workbench", model="openai/gpt-with-a-name-that-is-really-very-long-2026-06-preview")
    s.turn(0, 1, "Let me see.", 2.0, costUsd=None)
    hidden = "invoice\u202efdp.exe"
    s.call(
        2.0,
        "write-file",
        {"path": f"/home/ida/work/{hidden}"},
        0.01,
        "write",
        waited=4.0,
        state="denied",
        decision="deny",
        by="user",
        reason="Not that one.",
        result="Denied by the person.",
    )
    whose = {"agent": "deep-research", "call": "d"}
    s.turn(6.1, 2, "I ask for help.", 3.0)
    s.say(9.1, "tool-call", tool="deep-research", callId="d", args={"topic": "x" * 400}, category="agent")
    s.say(9.2, "agent-start", "d-1", skill="deep-research", provider="agent-litellm", **whose)
    s.turn(9.3, 1, "<b>not bold</b> " * 40, 3.0, "d-1")
    s.call(12.4, "a-tool-with-a-very-long-name-of-its-own", {"query": "y" * 300}, 2.0, "admin", who="d-1")
    s.say(15.0, "retry", "d-1", attempt=1, delayMs=2000, error="The provider is overloaded (529).")
    s.say(
        17.5,
        "agent-complete",
        "d-1",
        status="limit",
        limit="maxTurns 1 (set by the skill deep-research)",
        rounds=1,
        toolCalls=1,
        error="The agent stopped: maxTurns 1 (set by the skill deep-research).",
        **whose,
    )
    s.say(
        17.6,
        "tool-result",
        tool="deep-research",
        callId="d",
        isError=True,
        elapsedMs=8400,
        result="limit",
        facts={"state": "failed", "code": "limit", "category": "agent"},
    )
    s.say(17.7, "turn-start", turnNumber=3, messageId="r3")
    s.say(19.0, "retry", attempt=1, delayMs=4000, error="The provider asks to wait (429).", code="model.rate_limited")
    s.say(30.0, "turn-end", stopReason="error", elapsedMs=12_300, notices=["The provider did not answer."], model="")
    s.say(30.0, "agent-complete", status="error", detail="The provider did not answer.", code="model.unreachable")
    return s.found


def _deep() -> list[TraceEntry]:
    """Agents in agents in agents."""
    s = Script(40.0)
    s.say(0, "agent-start", agent="Workbench", model=MODEL)
    s.turn(0, 1, "I hand it on.", 1.0)
    above, context = "", RUN
    for depth in range(1, 6):
        at, name, call = 1.0 + depth, f"helper-{depth}", f"h{depth}"
        s.say(at, "tool-call", context, tool=name, callId=call, args={"task": "look"}, category="agent", ancestor=above)
        whose = {"agent": name, "ancestor": context if depth > 1 else "", "call": call if depth == 1 else f"own-{call}"}
        s.say(at, "agent-start", f"c{depth}", skill=name, provider="agent-litellm", **whose)
        s.say(at + 0.1, "turn-start", f"c{depth}", turnNumber=1, **whose)
        above, context = context, f"c{depth}"
    return s.found


def sample(entries: Sequence[TraceEntry], *, live: bool = False) -> TraceViewModel:
    """A view-model that shows these, whatever is watched."""
    trace = TraceViewModel(cast(Any, NoSource()), cast(Bridge, AtOnce()), lambda data: data, {})
    if entries:
        tree = grown(RUN, entries, {})
        if live:
            trace._live[RUN] = tree
        trace._show(tree, "assistant")
        trace._watching = True
    return trace


SAMPLES: Mapping[str, Callable[[], TraceViewModel]] = {
    "live": lambda: sample(_mock_up(), live=True),
    "done": lambda: sample(_mock_up(live=False)),
    "failed": lambda: sample(_failed()),
    "deep": lambda: sample(_deep(), live=True),
    "empty": lambda: sample(()),
}
