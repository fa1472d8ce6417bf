"""Drawings of diagrams, asked of the real process that draws them, and of ones that lie."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.domain.fences.drawing import MARKS, SOURCE_LONGEST, Drawing, Label, Undrawn
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.services.fences.service import FenceService
from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.fence_child import SERVICE, fence_host
from tests.harness.timeouts import until

pytestmark = pytest.mark.spec("R-DOC-2")

TWO = "flowchart LR\nA[one] --> B[two]"


@pytest.fixture
async def service() -> AsyncIterator[FenceService]:
    child = fence_host(confined=code_sandbox_profile(in_a_loop=True))
    yield FenceService(child)
    await child.stop()


async def test_a_diagram_comes_over_whole(service: FenceService) -> None:
    drawing = await service.drawing("diagram", TWO)
    assert isinstance(drawing, Drawing)
    assert {"one", "two"} <= {mark.text for mark in drawing.marks if isinstance(mark, Label)}
    assert drawing.width > drawing.height > 0
    long = await service.drawing("diagram", "sequenceDiagram\n" + "\n".join(f"A->>B: {i}" for i in range(250)))
    assert isinstance(long, Drawing)
    assert len(long.marks) > 700


async def test_what_is_not_drawn_says_why_and_the_next_is_drawn(service: FenceService) -> None:
    for source, reason in (
        ("flowchart LR\nA[x --> B", "It cannot be read: unterminated node label"),
        ("", "It cannot be read: no Mermaid diagram type detected."),
        ("flowchart LR\n" + "x" * 30_000, "It is longer than 20,000 characters."),
        ("x" * (SOURCE_LONGEST + 1), f"It is longer than {SOURCE_LONGEST:,} characters."),
        ("flowchart LR\n" + "\n".join(f"n{i}-->n{i + 1}" for i in range(900)), "It has too many parts to be laid out."),
    ):
        found = await service.drawing("diagram", source)
        assert isinstance(found, Undrawn)
        assert found.reason.startswith(reason)
    assert isinstance(await service.drawing("diagram", TWO), Drawing)
    assert service.health.generation == 1


HOST = """
import asyncio, sys, os
sys.path.insert(0, {root!r})
from desktop.workers.inside import ChildServer, pipes, run

async def drawing(call):
    {act}
    return {value}

async def serve():
    reader, writer = await pipes()
    await ChildServer({service!r}, "1", {{"drawing": drawing}}).serve(reader, writer)

run(serve, {service!r})
"""
FINE = {"width": 10, "height": 10, "kind": "mermaid", "spoken": ""}
LIES = {
    "no marks": ("await call.emit({'marks': 7})", FINE),
    "a mark of no kind": ("await call.emit({'marks': [['x', 1]]})", FINE),
    "an outline without its numbers": ("await call.emit({'marks': [['s', 'ML', [1, 2], 'text', '', 1, []]]})", FINE),
    "a step that is none": ("await call.emit({'marks': [['s', 'MQ', [1, 2], 'text', '', 1, []]]})", FINE),
    "a number that is none": ("await call.emit({'marks': [['s', 'M', [1, float('nan')], '', '', 1, []]]})", FINE),
    "a number beyond": ("await call.emit({'marks': [['s', 'M', [1, 1e300], '', '', 1, []]]})", FINE),
    "a colour of its own": ("await call.emit({'marks': [['s', 'M', [1, 2], '#ff0000', '', 1, []]]})", FINE),
    "a label of a book": (
        "await call.emit({'marks': [['l', [1, 2, 13, 0], 'x' * 9999, 'start', 'text', False, False]]})",
        FINE,
    ),
    "more marks than there are": (
        f"for _ in range({MARKS // 100 + 1}): await call.emit({{'marks': [['s', '', [], '', '', 1, []]] * 100}})",
        FINE,
    ),
    "no size": ("pass", {**FINE, "width": 0}),
    "the size of a town": ("pass", {**FINE, "height": 1e9}),
    "no drawing": ("pass", 7),
}


@pytest.mark.parametrize(("act", "value"), LIES.values(), ids=LIES)
async def test_a_host_that_lies_draws_nothing(act: str, value: object) -> None:
    root = str(Path(__file__).resolve().parents[4])
    program = HOST.format(root=root, act=act, value=value, service=SERVICE)
    child = ChildProcess(ChildSpec(SERVICE, (sys.executable, "-I", "-c", program), {}, on_demand=True))
    try:
        found = await FenceService(child).drawing("diagram", TWO)
    finally:
        await child.stop()
    assert found == Undrawn("What draws it said nothing that makes sense.")


@pytest.mark.expects_log("fence-host ended with")
async def test_a_host_that_ends_over_a_fence_costs_this_fence_alone() -> None:
    root = str(Path(__file__).resolve().parents[4])
    act = "os._exit(3) if ''.join(call.parts) == 'bad' else await asyncio.sleep(0.2)"
    program = HOST.format(root=root, act=act, value=FINE, service=SERVICE)
    child = ChildProcess(ChildSpec(SERVICE, (sys.executable, "-I", "-c", program), {}, on_demand=True))
    service = FenceService(child)
    try:
        asked = (service.drawing("diagram", source) for source in ("good", "bad", "good too"))
        good, bad, too = await asyncio.gather(*asked)
    finally:
        await child.stop()
    assert bad == Undrawn("It takes too long, or too much memory, to be drawn.")
    assert isinstance(good, Drawing)
    assert isinstance(too, Drawing)


async def test_a_host_whose_words_are_not_taken_is_told_that_nobody_listens(tmp_path: Path) -> None:
    root, told = str(Path(__file__).resolve().parents[4]), tmp_path / "told"
    act = (
        "await call.emit({'marks': 7})\n    try:\n        await asyncio.sleep(600)\n"
        f"    except asyncio.CancelledError:\n        open({str(told)!r}, 'x').close()\n        raise"
    )
    program = HOST.format(root=root, act=act, value=FINE, service=SERVICE)
    child = ChildProcess(ChildSpec(SERVICE, (sys.executable, "-I", "-c", program), {}, on_demand=True))
    try:
        assert isinstance(await FenceService(child).drawing("diagram", TWO), Undrawn)
        await until(told.exists, "it stops working on what nobody waits for")
    finally:
        await child.stop()
