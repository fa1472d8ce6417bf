"""What the runtime costs on the loop's thread: one round with one tool call through the whole conversation service.

Counted is the CPU of that thread alone: loop, pipeline, bus, recorder, and the store's share of it. The model's own
time and the store's thread are not.
"""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from desktop.domain.ids import new_id
from desktop.domain.messages import ToolCallBlock, Usage
from desktop.domain.models import Finished, ModelRequest, StreamItem, TextDelta
from desktop.domain.runs.meta import RunMeta
from desktop.domain.tools import ToolResult
from tests.bench.registry import Figure, bench
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import agent, world

ANSWER = "I will read the next file and see what it says about the matter at hand. "
RESULT = ToolResult("a line of a file that was read\n" * 40)
USAGE = Usage(1000, 100, cost_usd=0.001)


class Model:
    """Asks for a file ``rounds - 1`` times, eight deltas each, then answers."""

    def __init__(self, rounds: int) -> None:
        self._left = rounds

    async def stream(self, _request: ModelRequest, _meta: RunMeta) -> AsyncIterator[StreamItem]:
        self._left -= 1
        for word in range(8):
            yield TextDelta(f"{ANSWER}{word} ")
        if self._left:
            call = ToolCallBlock(new_id(), "read_file", {"path": "notes.txt"}, '{"path": "notes.txt"}')
            yield Finished("tool_calls", (call,), USAGE)
        else:
            yield Finished("end", (), USAGE)


async def _cpu(rounds: int) -> float:
    """Milliseconds of CPU of this thread a round, over one run of so many rounds."""
    tool = FakeTool(body=lambda *_: RESULT)
    with tempfile.TemporaryDirectory() as folder:
        async with world(
            Path(folder), Model(rounds), tool, agents=agent(max_rounds=rounds), context_window=lambda _ref: 200_000
        ) as w:
            await w.runtime.pipeline.validator.prepare()
            thread = await w.thread()
            gc.collect()
            started = time.thread_time()
            await w.service.send(thread, "read them all")
            assert await w.service.wait(thread, 60)
            spent = time.thread_time() - started
            assert [end.reason for end in w.ends()] == ["response"]
    return spent * 1000 / rounds


def _best(rounds: int, repeats: int) -> float:
    return min(asyncio.run(_cpu(rounds)) for _ in range(repeats))


@bench("runtime cost of one round with one tool call", target="<= 1", unit="ms CPU")
def one_round() -> Figure:
    _best(10, 1)
    return Figure(_best(10, 8), note="a round in a run of 10, best of 8 runs; 8 deltas and one gated call a round")


@bench("runtime cost of a round in a run of 200", target="<= 1 and <= 1.5x", unit="ms CPU")
def long_run() -> Figure:
    _best(10, 1)
    return Figure(_best(200, 4), _best(10, 8), "reference: a round in a run of 10")
