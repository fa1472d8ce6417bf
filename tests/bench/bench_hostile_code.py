"""Hostile code at work, and the Qt thread beside it: how long it is ever away. All of tests/data/hostile_code.

The loop is the app's, the workers are real confined processes; a 5 ms timer of Qt says how late it came. By
the clock the machine is in it, which the programs use as much as they are allowed; the note tells what of it the thread
itself computed in one go.
"""

import gc
import tempfile
from collections.abc import Awaitable
from functools import cache
from pathlib import Path

from desktop.domain.code import CodeLimits
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.bench.application import in_app_loop
from tests.bench.bench_skill_page import Blocks
from tests.bench.bench_transcript import Lateness, percentile
from tests.bench.registry import Figure, bench
from tests.unit.library.test_code_gates import Never, run_gates, world
from tests.unit.workers.hostile_code import CLASSES, Count, Heart, run_class

Seen = tuple[list[float], float, Count]


class Watch:
    """Lateness of each tick in milliseconds, and the longest computing. Garbage is collected, as in the app."""

    def __init__(self) -> None:
        self._lateness, self._blocks = Lateness(), Blocks()
        self.heart = Heart(collects=True)

    async def over(self, work: Awaitable[Count]) -> Seen:
        """While it is done."""
        gc.collect()
        with self._blocks:
            self._lateness.begin()
            count = await work
            self._lateness.end()
        return self._lateness.values, self._blocks.longest, count


async def _watched(name: str) -> Seen:
    """What holds the programs of "gates" is there before: the app reads its skills in a thread, the kit does not."""
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder:
        if name != "gates":
            return await watch.over(run_class(name, folder, heart=watch.heart))
        engine, person = JsEngine(lambda: WorkerSpec(folder, *code_sandbox_profile()), CodeLimits(cpu_s=5)), Never()
        try:
            with tempfile.TemporaryDirectory() as home:
                made = world(Path(home), engine, person)
                return await watch.over(run_gates(made, person, watch.heart))
        finally:
            await engine.close()


@cache
def _all() -> dict[str, Seen]:
    async def each() -> dict[str, Seen]:
        return {name: await _watched(name) for name in (*CLASSES, "gates")}

    return dict(in_app_loop(each))


@bench("hostile code at work: longest that the Qt thread is away", target="<= 16", unit="ms", by="gap")
def longest() -> Figure:
    found = _all()
    note = ", ".join(
        f"{name} {max(late):.1f} (p99 {percentile(late, 0.99):.1f}, {computed:.1f} computing; "
        f"{count.held} of {count.tried} held)"
        for name, (late, computed, count) in found.items()
    )
    return Figure(max(max(late) for late, _, _ in found.values()), None, note)
