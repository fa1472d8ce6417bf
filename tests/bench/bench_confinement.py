"""What the boundary costs: confinement on top of a bare command, and the check of a file call."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import Access, ProcessSpec
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from tests.bench.registry import Figure, bench
from tests.unit.safety.world import World

COMMANDS, CALLS = 60, 2000


async def _run(spec: ProcessSpec, wrap: Callable[[ProcessSpec], ProcessSpec]) -> float:
    """Milliseconds from the decision to the end, as the tools go: wrapped in a thread, run on the loop."""
    began = time.perf_counter()
    wrapped = await asyncio.to_thread(wrap, spec)
    outcome = await GroupRunner().run(wrapped, CancellationToken())
    assert outcome.output == "done\n", outcome.output
    return (time.perf_counter() - began) * 1000


async def _commands(world: World, kind: Kind) -> Figure:
    """Medians, the bare and the confined command by turns."""
    spec = ProcessSpec(("bash", "--norc", "-c", "echo done"), str(world.workspace), {"PATH": "/usr/bin:/bin"})
    bare = ProcessSpec(spec.argv, spec.cwd, spec.env, contained=True)
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))) as confinement:
        if confinement.probe().kind != kind:
            return Figure(0.0, note=f"{kind} does not work here")
        confined, plain = [], []
        for _ in range(COMMANDS):
            plain.append(await _run(bare, lambda given: given))
            confined.append(await _run(spec, confinement.wrap))
    confined.sort()
    plain.sort()
    middle, high = COMMANDS // 2, COMMANDS * 95 // 100
    return Figure(
        confined[middle] - plain[middle],
        note=f"bare {plain[middle]:.1f} ms, confined {confined[middle]:.1f} ms, p95 {confined[high]:.1f} ms",
    )


def _in_a_world(measure: Callable[[World], Figure]) -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        saved = os.environ.get("HOME", "")
        world = World(Path(folder))
        os.environ["HOME"] = str(world.person)
        try:
            return measure(world)
        finally:
            os.environ["HOME"] = saved


@bench("bubblewrap adds to a command", target="<= 30", unit="ms", by="process")
def bubblewrap() -> Figure:
    return _in_a_world(lambda world: asyncio.run(_commands(world, "bubblewrap")))


@bench("Landlock adds to a command", target="<= 30", unit="ms", by="process")
def landlock() -> Figure:
    return _in_a_world(lambda world: asyncio.run(_commands(world, "landlock")))


def _p99(world: World, call: Callable[[], object]) -> Figure:
    """Of this thread's own time: others use the machine as well."""
    call()
    times = []
    for _ in range(CALLS):
        began = time.thread_time()
        call()
        times.append((time.thread_time() - began) * 1000)
    times.sort()
    return Figure(times[CALLS * 99 // 100], note=f"median {times[CALLS // 2]:.2f} ms")


@bench("the boundary judges a path (p99)", target="<= 1", unit="ms CPU")
def judge() -> Figure:
    return _in_a_world(lambda world: _p99(world, lambda policy=world.policy: policy.explain("a/b/n.txt", Access.WRITE)))


@bench("a file is opened behind the boundary (p99)", target="<= 1", unit="ms CPU")
def opened() -> Figure:
    def measure(world: World) -> Figure:
        files = world.files()
        return _p99(world, lambda: files.open_read("note.txt").close())

    return _in_a_world(measure)
