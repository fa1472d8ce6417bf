"""What a run does, added up from what it says (R-SUP-16, C-25): the library's agent ``run-metrics``."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from desktop.agents.skill.host import HOST, Host
from desktop.domain.errors import ToolFailure
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import Event, MessageClosed, RetryScheduled, RunEnded, RunStarted, ToolCallFinished
from desktop.workers.python_skill.run_context import RunContext

MAX_NAMES = 500


@dataclass(slots=True)
class Metrics:
    """Sums over the events that were heard. Names (tools, reasons, models) are told apart up to ``MAX_NAMES``; the rest
    is ``other``."""

    runs_started: int = 0
    """Runs that began."""
    runs_ended: Counter[str] = field(default_factory=Counter)
    """Runs that ended, by reason."""
    rounds: Counter[str] = field(default_factory=Counter)
    """Model requests, by why the answer stopped."""
    input_tokens: int = 0
    """Tokens read."""
    output_tokens: int = 0
    """Tokens written."""
    cost_usd: float = 0.0
    """Cost in USD; a lower bound unless ``cost_known``."""
    cost_known: bool = True
    """Whether every request told its cost."""
    tool_calls: Counter[str] = field(default_factory=Counter)
    """Calls, by tool."""
    tool_failures: Counter[str] = field(default_factory=Counter)
    """Calls that failed, by tool."""
    tool_ms: Counter[str] = field(default_factory=Counter)
    """Milliseconds of calls, by tool."""
    retries: int = 0
    """Requests that were repeated after a failure."""
    missed: int = 0
    """Events that were lost because they came too fast."""

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


async def watch_run(ctx: RunContext) -> dict[str, Any]:
    """The sums over what the run says from now on: until an event comes under ``topic``, or after ``seconds``. A slow
    listener misses nothing but deltas, none of which counts. Raises ToolFailure where there is no run."""
    host, call = ctx.skill.nonlocals.get(HOST), ctx.skill.call
    if not isinstance(host, Host) or host.subscribe is None:
        raise ToolFailure("There is no run here that could be watched.")
    topics, topic, seconds = ctx.skill.globals["topics"], ctx.args.get("topic"), float(ctx.args["seconds"])
    if topic is not None:
        topics.check_listening(str(topic), call.meta.run_id)
    heard, metrics = host.subscribe(call.meta.run_id), Metrics()

    async def add() -> None:
        async for event in heard:
            metrics.add(event)

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(add(), name="add up what a run says")
            if topic is not None:
                await topics.wait_for(str(topic), call.meta.run_id, seconds)
            else:
                await ctx.sleep_until((await ctx.now()).timestamp() + seconds)
            heard.close()
    finally:
        heard.close()
    metrics.missed = heard.dropped
    return metrics.to_plain()
