"""The loop with a scripted model and tools that answer from a table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.events import LoopResult
from desktop.agents.loop.retry import RetryPolicy
from desktop.agents.loop.rounds import LoopConfig, RoundLoop
from desktop.agents.loop.window import PromptWindow
from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock, user_message
from desktop.domain.models import ModelRef, ModelRequest
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.meta import RunMeta
from tests.unit.agents.script import Script

REF = ModelRef("test", "scripted")


class Tools:
    """Answers calls; ``body`` may be slow. ``order`` notes starts and ends."""

    def __init__(self, body: Callable[[ToolCallBlock], Any] | None = None, parallel: bool = False) -> None:
        self.body = body
        self.safe = parallel
        self.order: list[str] = []

    async def run(self, call: ToolCallBlock, *, ends: CancellationToken | None = None) -> ToolResultBlock:
        self.order.append(f"start {call.call_id}")
        answer = self.body(call) if self.body else f"result of {call.call_id}"
        if asyncio.iscoroutine(answer):
            answer = await answer
        self.order.append(f"end {call.call_id}")
        if isinstance(answer, ToolResultBlock):
            return answer
        return ToolResultBlock(call.call_id, call.tool, str(answer))

    def parallel(self, call: ToolCallBlock) -> bool:
        return self.safe


class Ledger:
    """A recorder that keeps what it is told, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def round_started(self, number: int) -> None:
        self.lines.append(f"round {number}")

    async def message_finished(self, message: ChatMessage) -> None:
        self.lines.append(f"message {message.stop_reason} {message.text!r}")

    async def results_finished(self, results: Sequence[ToolResultBlock], *, executed: bool) -> None:
        self.lines.extend(f"result {r.call_id} {'executed' if executed else 'refused'}" for r in results)


class Play:
    """One loop, ready to run."""

    def __init__(self, script: Script, tools: Tools | None = None, rounds: int = 20, **options: Any) -> None:
        self.script = script
        self.tools = tools or Tools()
        self.ledger = Ledger()
        self.events: list[Any] = []
        self.slept: list[float] = []
        self.token = CancellationToken()
        self.window = PromptWindow()
        sleep = options.pop("sleep", self._sleep)
        maximum = options.pop("max_characters", 1_000_000)
        retry = RetryPolicy(uniform=lambda low, high: high)
        self.loop = RoundLoop(
            Answerer(script, retry=retry, max_characters=maximum, sleep=sleep),
            self.tools,
            recorder=self.ledger,
            listener=options.pop("listener", self.events.append),
            config=LoopConfig(limit=Limit("maxIterations", rounds, "the test"), max_calls=options.pop("max_calls", 64)),
            **options,
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def prepare(self, messages: Sequence[ChatMessage]) -> ModelRequest:
        return ModelRequest(REF, self.window.view(messages).messages)

    async def run(self, *messages: ChatMessage) -> LoopResult:
        given = messages or (user_message("hello"),)
        return await self.loop.run(given, self.prepare, RunMeta("run", self.token, "thread"))

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


def results(result: LoopResult) -> list[ToolResultBlock]:
    return [b for m in result.messages for b in m.blocks if isinstance(b, ToolResultBlock)]
