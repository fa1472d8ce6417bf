"""What a copy costs: on top of a confined command, and reading what the command did."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from shots.outcomes import SampleCopy, outcome_request

from desktop.domain.files.changes import ABSENT, FileChange, FileState
from desktop.domain.files.outcomes import LineFigures, OutcomeReading
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.presenter.events.bridge import Bridge
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from desktop.safety.outcomes.copies import Copies
from tests.bench.application import in_app_loop
from tests.bench.bench_skill_page import Blocks
from tests.bench.registry import Figure, bench
from tests.gui.approvals.conftest import DialogBench
from tests.unit.safety.world import World

COMMANDS, FILES = 40, 10_000


async def _plain(confinement: SystemConfinement, spec: ProcessSpec) -> float:
    began = time.perf_counter()
    wrapped = await asyncio.to_thread(confinement.wrap, spec, network=False)
    await GroupRunner().run(wrapped, CancellationToken())
    return (time.perf_counter() - began) * 1000


async def _in_copy(confinement: SystemConfinement, copies: Copies, spec: ProcessSpec) -> float:
    """As a tool goes: made, run, read, dropped."""
    began = time.perf_counter()
    copy = await asyncio.to_thread(copies.make)
    wrapped = await asyncio.to_thread(confinement.wrap, spec, network=False, copy=copy)
    await GroupRunner().run(wrapped, CancellationToken())
    reading = await asyncio.to_thread(copy.read)
    await asyncio.to_thread(copy.drop)
    assert len(reading.changes) == 1
    return (time.perf_counter() - began) * 1000


async def _added(world: World, kind: Kind) -> Figure:
    spec = ProcessSpec(("bash", "--norc", "-c", "echo x > made"), str(world.workspace), {"PATH": "/usr/bin:/bin"})
    caches = str(world.home / "cache")
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,), caches=caches)) as confinement:
        copies = Copies(f"{caches}/copies", confinement, world.policy)
        if confinement.probe().kind != kind or copies.refusal():
            return Figure(0.0, note=f"no copies under {kind} here")
        plain, copied = [], []
        for _ in range(COMMANDS):
            plain.append(await _plain(confinement, spec))
            (world.workspace / "made").unlink()
            copied.append(await _in_copy(confinement, copies, spec))
    plain.sort()
    copied.sort()
    middle, high = COMMANDS // 2, COMMANDS * 95 // 100
    note = f"confined {plain[middle]:.1f} ms, in a copy {copied[middle]:.1f} ms, p95 {copied[high]:.1f} ms"
    return Figure(copied[middle] - plain[middle], note=note)


async def _read(world: World) -> Figure:
    script = f"mkdir d; cd d; for n in $(seq {FILES}); do echo $n > $n; done"
    spec = ProcessSpec(("bash", "--norc", "-c", script), str(world.workspace), {"PATH": "/usr/bin:/bin"})
    caches = str(world.home / "cache")
    with closing(SystemConfinement(world.policy, lambda: world.settings, caches=caches)) as confinement:
        copies = Copies(f"{caches}/copies", confinement, world.policy)
        if copies.refusal():
            return Figure(0.0, note="no copies here")
        copy = copies.make()
        await GroupRunner().run(confinement.wrap(spec, network=False, copy=copy), CancellationToken())
        began = time.perf_counter()
        reading = copy.read()
        took = time.perf_counter() - began
        began = time.perf_counter()
        copy.look_again(reading)
        again = time.perf_counter() - began
        copy.drop()
    return Figure(took * 1000, note=f"{len(reading.changes):,} changes; looked at again in {again * 1000:.0f} ms")


def _in_a_world(kind: Kind | None) -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        saved, world = os.environ.get("HOME", ""), World(Path(folder))
        os.environ["HOME"] = str(world.person)
        try:
            return asyncio.run(_read(world) if kind is None else _added(world, kind))
        finally:
            os.environ["HOME"] = saved


@bench("copy of a command under bubblewrap", target="<= 60", unit="ms", by="process")
def under_bubblewrap() -> Figure:
    return _in_a_world("bubblewrap")


@bench("copy of a command under Landlock", target="<= 60", unit="ms", by="process")
def under_landlock() -> Figure:
    return _in_a_world("landlock")


@bench("reading a copy with 10,000 new files", target="<= 3000", unit="ms")
def reading() -> Figure:
    return _in_a_world(None)


async def _asked(files: int) -> float:
    """Processor time of the Qt thread in one go, from a request about so many new files to its last row, at most."""
    window, field = QWidget(), QLineEdit()
    window.resize(1100, 780)
    QVBoxLayout(window).addWidget(field)
    window.show()
    asked = DialogBench(window, field, Bridge())
    state = FileState("file", 0o644, 3, "d")
    changes = tuple(FileChange(f"/w/data/{n:05}.txt", ABSENT, state) for n in range(files))
    reading = OutcomeReading(changes, figures={change.path: LineFigures(1, 0) for change in changes})
    request = outcome_request()
    preview = {**request.preview, "reading": reading, "copy": SampleCopy({}), "cwd": "/w"}
    await asked.ask(request)  # what is made once in the life of the app
    await asyncio.sleep(0.5)
    await asked.awake()
    asked.dialog.view.answers.deny.click()  # type: ignore[union-attr]
    await asyncio.sleep(0.5)
    with Blocks() as blocks:
        await asked.ask(replace(request, request_id="many", digest="many", preview=preview))
        await asyncio.sleep(1.5)
    await asked.end()
    window.close()
    return blocks.longest


@bench("request of a command: longest block with 10,000 changes", target="<= 16", unit="ms")
def many_changes() -> Figure:
    few, many = (in_app_loop(partial(_asked, files)) for files in (41, FILES))
    return Figure(many, note=f"with 41 changes {few:.1f} ms")
