"""What one call costs on the loop's thread: a no-op through every gate, as a tool and as a skill."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.tools import ToolResult
from desktop.pipeline.context import CallRequest, Invocation
from desktop.pipeline.names import Caller
from desktop.skills.patterns.lists import AllowedList
from tests.bench.registry import Figure, bench
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool

CALLS = 3000
LIST = "* #danger($deny) noop quiet"


async def _nothing(_ctx: Any, _args: Any) -> str:
    return "done"


async def _cost(name: str, **metadata: Any) -> float:
    """Microseconds of CPU a call, best of five series; the library's skills are there, and a list of allowed tools."""
    with tempfile.TemporaryDirectory() as folder:
        made = LibraryBench(Path(folder), FakeTool("noop", params={}, body=lambda *_: ToolResult("done")))
        made.register("quiet", _nothing, metadata=metadata)
        root = Invocation(RunMeta("run", CancellationToken(), "thread"), shared=made.world.shared)
        caller, block = Caller("native", ("agent",), AllowedList.of(LIST)), ToolCallBlock("c", name, {})
        best = float("inf")
        for _ in range(5):
            started = time.thread_time()
            for _ in range(CALLS // 5):
                await made.pipeline.invoke(CallRequest(block, caller, root, lambda _event: None))
            best = min(best, (time.thread_time() - started) / (CALLS // 5))
        await made.owner.close()
        return best * 1e6


@bench("one call of a no-op tool through all gates", target="<= 150", unit="us CPU")
def no_op_tool() -> Figure:
    return Figure(asyncio.run(_cost("noop")), note="resolve, list, schema, limits, safety, trust, execute, journal")


@bench("one call of a no-op skill through all gates", target="<= 150", unit="us CPU")
def no_op_skill() -> Figure:
    bare = asyncio.run(_cost("noop"))
    return Figure(asyncio.run(_cost("quiet")), bare, note="reference: the no-op tool; the rest is cascade and context")
