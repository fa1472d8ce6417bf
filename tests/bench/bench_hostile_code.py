"""Hostile code at work, and the Qt thread beside it: how long it is ever away. All of tests/data/hostile_code.

The loop is the app's, the workers are real processes behind their walls; a 5 ms timer of Qt says how late it came. By
the clock the machine is in it, which the programs use as much as they are allowed; the note tells what of it the thread
itself computed in one go.
"""

import asyncio
import gc
import tempfile
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

from desktop.app.loop.event_loop import AssentEventLoop
from desktop.domain.code import CodeLimits
from desktop.safety.confinement.code_profile import code_sandbox_profile
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.bench.bench_skill_page import Blocks
from tests.bench.bench_transcript import Lateness, app, percentile
from tests.bench.registry import Figure, bench
from tests.unit.library.test_code_gates import run_gates
from tests.unit.workers.hostile_code import CLASSES, Count, run_class

Work = Callable[[str], Awaitable[Count]]


async def _gates(folder: str) -> Count:
    engine = JsEngine(lambda: WorkerSpec(folder, *code_sandbox_profile()), CodeLimits(cpu_s=5))
    try:
        with tempfile.TemporaryDirectory() as home:
            return await run_gates(Path(home), engine)
    finally:
        await engine.close()


async def _watched(name: str) -> tuple[list[float], float, Count]:
    """Lateness of each tick in milliseconds, the longest computing, and what came of the programs."""
    lateness = Lateness()
    with tempfile.TemporaryDirectory() as folder, Blocks() as blocks:
        lateness.begin()
        count = await (_gates(folder) if name == "gates" else run_class(name, folder))
        lateness.end()
    return lateness.values, blocks.longest, count


@cache
def _all() -> dict[str, tuple[list[float], float, Count]]:
    loop = AssentEventLoop(app())
    gc.collect()
    gc.freeze()  # as the app does at its start
    try:
        return {name: loop.run_until_complete(_watched(name)) for name in (*CLASSES, "gates")}
    finally:
        loop.close()
        asyncio.set_event_loop(None)


@bench("hostile code at work: longest that the Qt thread is away", target="<= 16", unit="ms", by="gap")
def longest() -> Figure:
    found = _all()
    note = ", ".join(
        f"{name} {max(late):.1f} (p99 {percentile(late, 0.99):.1f}, {computed:.1f} computing; "
        f"{count.held} of {count.tried} held)"
        for name, (late, computed, count) in found.items()
    )
    return Figure(max(max(late) for late, _, _ in found.values()), None, note)
