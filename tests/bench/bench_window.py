"""What it costs to build the prompt window before each round of a very long run, and such a round as a whole."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop.agents.loop.summarising import SYSTEM
from desktop.agents.loop.window import PromptWindow
from desktop.domain.context import Overlay
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, ToolResultBlock, user_message
from desktop.domain.models import ModelRequest
from desktop.services.chats.service import ConversationService
from desktop.services.threads.context import ContextService
from tests.bench.registry import Figure, bench
from tests.unit.agents.script import Script, call, calls, says
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import agent, world

ROUNDS = 200
OUTPUT = "A line of a file that was read by a tool.\n" * 50
CALLS = 3


def _transcript() -> list[ChatMessage]:
    """A task, then rounds of three calls side by side."""
    messages = [replace(user_message("the task"), source_id="task")]
    for number in range(ROUNDS):
        ids = [f"{number}.{at}" for at in range(CALLS)]
        blocks = (TextBlock("I look at the next."), *(ToolCallBlock(i, "read_file", {"path": i}) for i in ids))
        messages.append(ChatMessage("assistant", blocks, source_id=f"m{number}"))
        messages += [ChatMessage("tool", (ToolResultBlock(i, "read_file", OUTPUT),), source_id=f"r{i}") for i in ids]
    return messages


@bench("the prompt window of round 200 is built", target="<= 1", unit="ms")
def window_of_round_200() -> Figure:
    """Looked at for a summary, then built, with a summary, two pins and a task that is far back."""
    messages = _transcript()
    window = PromptWindow(context_window=128_000, task="task")
    overlay = Overlay("They looked at files. " * 200, "r120.2", frozenset({"m3", "r50.1"}), summarised=480)
    times = []
    for end in range(len(messages) - 40 * (CALLS + 1), len(messages) + 1, CALLS + 1):
        started = time.perf_counter()
        window.to_summarise(messages[:end], overlay)
        window.view(messages[:end], overlay)
        times.append((time.perf_counter() - started) * 1000)
    return Figure(
        statistics.median(times), note=f"of {len(messages)} messages; the worst of {len(times)}: {max(times):.2f} ms"
    )


async def _rounds(folder: Path, summaries: bool) -> tuple[list[float], int]:
    """CPU milliseconds between the requests of a run on a real database, and how many summaries it made."""
    asked: list[float] = []
    told: list[ModelRequest] = []

    def answer(request: ModelRequest) -> Any:
        if request.system == SYSTEM:
            told.append(request)
            return says("They looked at files.")
        asked.append(time.process_time())
        number = len(asked)
        return calls(call(f"c{number}", path=f"p{number}")) if number < ROUNDS else says("Done.")

    tool = FakeTool("read-file", body=lambda *_: OUTPUT)
    async with world(folder, Script(last=answer), tool, agents=agent(max_rounds=ROUNDS + 10), supervised=True) as made:
        runtime = replace(
            made.runtime,
            context=ContextService(made.store),
            summaries=lambda: summaries,
            context_window=lambda _ref: 128_000,
        )
        made.service = ConversationService(runtime, made.owner)
        await made.ask(await made.thread(), "the task")
    return [(later - before) * 1000 for before, later in itertools.pairwise(asked)], len(told)


def _late_round(summaries: bool) -> Figure:
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as name:
        times, told = asyncio.run(_rounds(Path(name), summaries))
    early, late = times[3:28], times[-25:]
    return Figure(
        statistics.median(late),
        statistics.median(early),
        f"reference: rounds 4 to 28; CPU of a round and its tool call on a real database, {told} summaries were made",
    )


@bench("round 200 of a run, sliding window", target="<= 1.5x", unit="ms")
def late_round() -> Figure:
    """With the strategies that are always on."""
    return _late_round(False)


@bench("round 200 of a run, with summaries", target="<= 1.5x", unit="ms")
def late_round_with_summaries() -> Figure:
    """Its older rounds are summarised on the way."""
    return _late_round(True)
