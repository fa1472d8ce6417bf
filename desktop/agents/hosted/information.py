"""The agent that watches: it listens to what runs say and adds it up (R-SUP-16, C-25)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop.domain.agent import Inbox, RunContext
from desktop.domain.errors import ConfigurationError
from desktop.domain.events import Event, MessageClosed, RetryScheduled, RunEnded, RunStarted, ToolCallFinished
from desktop.domain.ids import AgentId
from desktop.supervision.bus import Bus, EventQueue

MAX_NAMES = 500


@dataclass(slots=True)
class Metrics:
    """Sums over the events that were heard. ``cost_usd`` is a lower bound unless ``cost_known``; of names (tools,
    reasons, models) at most ``MAX_NAMES`` are told apart, the rest is ``other``."""

    runs_started: int = 0
    runs_ended: Counter[str] = field(default_factory=Counter)
    rounds: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    cost_known: bool = True
    tool_calls: Counter[str] = field(default_factory=Counter)
    tool_failures: Counter[str] = field(default_factory=Counter)
    tool_ms: Counter[str] = field(default_factory=Counter)
    retries: int = 0
    missed: int = 0

    def add(self, event: Event) -> None:
        """Count one event; those that say nothing of metrics are passed over."""
        if isinstance(event, RunStarted):
            self.runs_started += 1
        elif isinstance(event, RunEnded):
            self.runs_ended[_name(self.runs_ended, event.reason)] += 1
        elif isinstance(event, MessageClosed):
            self._round(event)
        elif isinstance(event, ToolCallFinished):
            name = _name(self.tool_calls, event.tool)
            self.tool_calls[name] += 1
            self.tool_failures[name] += event.is_error
            self.tool_ms[name] += event.elapsed_ms
        elif isinstance(event, RetryScheduled):
            self.retries += 1

    def _round(self, event: MessageClosed) -> None:
        self.rounds[_name(self.rounds, event.stop_reason)] += 1
        usage = event.usage
        self.cost_known = self.cost_known and usage is not None and usage.cost_usd is not None
        if usage is not None:
            self.input_tokens += usage.input_tokens
            self.output_tokens += usage.output_tokens
            self.cost_usd += usage.cost_usd or 0.0

    def to_plain(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


def _name(counter: Mapping[str, int], name: str) -> str:
    return name if name in counter or len(counter) < MAX_NAMES else "other"


def _plain(value: Any) -> Any:
    return {name: count for name, count in value.items() if count} if isinstance(value, Counter) else value


class InformationAgent:
    """Listens from the moment it is made until ``run_id`` ends, or its own run is cancelled.

    ``run`` returns the metrics; until then ``metrics`` is what has been counted so far. It emits the sums under
    ``topic`` when it is done. A slow subscriber misses nothing but deltas, none of which counts.
    """

    def __init__(self, agent_id: AgentId, bus: Bus, run_id: str, *, topic: str = "metrics") -> None:
        self._id = agent_id
        self._run_id = run_id
        self._topic = topic
        self._heard: EventQueue = bus.subscribe(run_id)
        self.metrics = Metrics()

    @property
    def id(self) -> AgentId:
        """Its address."""
        return self._id

    async def run(self, ctx: RunContext, inbox: Inbox) -> dict[str, Any]:
        """The sums, once the watched run has ended. Raises ConfigurationError for its own, which it would outlast."""
        try:
            if ctx.meta.run_id == self._run_id:
                raise ConfigurationError("An agent cannot wait for the end of the run that it is in.")
            async for event in self._heard:
                self.metrics.add(event)
                if isinstance(event, RunEnded) and event.run_id == self._run_id:
                    break
        finally:
            self._heard.close()
        self.metrics.missed = self._heard.dropped
        await ctx.emit(self._topic, self.metrics.to_plain())
        return self.metrics.to_plain()
