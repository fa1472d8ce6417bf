"""Ten thousand runs of the ordinary service leave nothing behind: no task, thread, token, listener, and no memory."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import os
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.messages import ToolCallBlock, Usage
from desktop.domain.models import Finished, ModelRequest, StreamItem, TextDelta
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.supervision.tree import TreeNode
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import World, world

WARM, RUNS = 2_000, 10_000
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Model:
    """Calls a tool once, then answers. Keeps nothing."""

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        last = request.messages[-1]
        calls = (ToolCallBlock("c", "read_file", {"path": "a"}),) if last.role == "user" else ()
        if not calls:
            yield TextDelta("Done.")
        yield Finished("tool_calls" if calls else "end", calls, Usage(10, 5, cost_usd=0.001), "demo")


def memory() -> int:
    """Resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def own_threads() -> int:
    """Those of the pool of the loop grow with the load, up to its size, and are nobody's."""
    return sum(not thread.name.startswith("asyncio_") for thread in threading.enumerate())


def standing(w: World) -> dict[str, Any]:
    """All that could be left behind, counted."""
    gc.collect()
    kinds = Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, CancellationToken | TreeNode))
    live = w.live
    return {
        "tasks": len(asyncio.all_tasks()),
        "threads": own_threads(),
        "listeners": len(w.bus._listeners),
        "trees": len(live._trees),
        "below": len(live._below),
        "waiting": len(live._waiting),
        "journals": len(live.journaled._runs),
        "active": len(w.service.running()),
        "measures": len(w.service._measures._measured),
        **kinds,
    }


async def some(w: World, count: int, *, cancelled: bool) -> None:
    """So many runs, each in a thread of its own; every tenth is stopped at once if ``cancelled``."""
    for number in range(count):
        thread = await w.thread()
        await w.service.send(thread, "go")
        if cancelled and number % 10 == 0:
            await w.service.stop(thread)
        assert await w.service.wait(thread, 30)
        while w.service.running():  # it looks for a message that waits
            await asyncio.sleep(0)
        w.events.clear()


async def leaks(tmp_path: Path, warm: int, runs: int) -> tuple[dict[str, Any], dict[str, Any], float]:
    tool = FakeTool("read-file", Category.READ)
    tool.calls = deque(maxlen=1)  # type: ignore[assignment]  # what the tool notes is not to be measured
    async with world(tmp_path, Model(), tool, supervised=True) as w:
        await some(w, warm, cancelled=True)
        before, at = standing(w), memory()
        await some(w, runs - warm, cancelled=True)
        after, grown = standing(w), memory() / at
        return before, after, grown


@pytest.mark.spec("R-CAN-5", "R-CAN-10")
async def test_a_hundred_runs_leave_nothing_behind(tmp_path: Path) -> None:
    before, after, _ = await leaks(tmp_path, 30, 130)
    assert after == before
    assert (after["trees"], after["below"], after["waiting"], after["journals"], after["active"]) == (0, 0, 0, 0, 0)


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
async def test_ten_thousand_runs_leave_nothing_behind_and_take_no_memory(tmp_path: Path) -> None:
    faulthandler.cancel_dump_traceback_later()  # the limit of an ordinary test is not meant for this one
    started = time.monotonic()
    before, after, grown = await leaks(tmp_path, WARM, RUNS)
    print(f"{RUNS} runs in {time.monotonic() - started:.0f} s: {before} -> {after}, memory x {grown:.4f}")
    assert after == before
    assert grown <= 1.02
