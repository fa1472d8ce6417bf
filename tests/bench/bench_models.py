"""The model host seen from the app's own loop: how soon it answers, and what it costs the thread that draws.

Lateness is that of a 5 ms timer on the Qt loop. Its reference is the same timer beside a process that only burns one
core, for with two cores that is what any child costs.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from desktop.domain.errors import CancellationError
from desktop.domain.models import TextDelta
from desktop.domain.runs.cancellation import CancellationToken
from desktop.workers.model_child import model_host
from tests.bench.registry import Figure, bench
from tests.harness.loops import app_loop
from tests.servers.fixtures import ProviderSpace, running_provider
from tests.servers.hosts import collect, connection, meta, models_over, request, running_host

T = TypeVar("T")
TICK = 0.005
CHUNKS = 3000
BURNER = "while True: pass"


def on_the_loop(work: Callable[[], Awaitable[T]]) -> T:
    """Runs work on the app's own Qt loop."""
    loop = app_loop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(_awaited(work))


async def _awaited(work: Callable[[], Awaitable[T]]) -> T:
    return await work()


async def lateness(work: Awaitable[object]) -> float:
    """The latest that a 5 ms timer fires while the work goes on, in milliseconds."""
    worst = 0.0

    async def tick() -> None:
        nonlocal worst
        while True:
            due = time.perf_counter() + TICK
            await asyncio.sleep(TICK)
            worst = max(worst, time.perf_counter() - due)

    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(tick())
        await work
        ticking.cancel()
    return worst * 1000


async def beside_a_burner(seconds: float) -> float:
    """The same while another process burns a core."""
    burner = subprocess.Popen([sys.executable, "-c", BURNER])
    try:
        return await lateness(asyncio.sleep(seconds))
    finally:
        burner.kill()
        burner.wait()


async def _started(wait: bool) -> float:
    host = model_host(secrets=tuple)
    began = time.perf_counter()
    try:
        await host.call("ping", {"wait": wait}, timeout=60)
        return (time.perf_counter() - began) * 1000
    finally:
        await host.stop()


@bench("model host: start to first answer", target="<= 500", unit="ms", by="process")
def first_answer() -> Figure:
    return Figure(min(on_the_loop(lambda: _started(False)) for _ in range(3)))


@bench("model host: start to litellm loaded", target="<= 8000", unit="ms", by="process")
def loaded() -> Figure:
    bare = "import time; t = time.perf_counter(); import litellm; print((time.perf_counter() - t) * 1000)"
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
    alone = subprocess.run([sys.executable, "-c", bare], env=environment, capture_output=True, text=True, check=True)
    return Figure(on_the_loop(lambda: _started(True)), float(alone.stdout), "reference: a bare import of litellm")


@bench("longest block of the Qt thread while the model host starts", target="<= 16", unit="ms", by="gap")
def block_while_it_starts() -> Figure:
    async def work() -> tuple[float, float]:
        host = model_host(secrets=tuple)
        try:
            return await lateness(host.call("ping", {"wait": True}, timeout=60)), await beside_a_burner(3.0)
        finally:
            await host.stop()

    measured, reference = on_the_loop(work)
    return Figure(measured, reference, "reference: beside a process that burns a core")


async def _burst(port: int) -> tuple[float, float, float]:
    """Lateness during a burst of chunks, this thread's CPU for each in microseconds, and seconds it took."""
    space = ProviderSpace(port)
    space.steps({"times": CHUNKS, "steps": [{"text": "word # "}]}, {"finish": "stop"})
    async with running_host() as host:
        models = models_over(host, connection("openai_compatible", space.openai_url))
        await collect(models, request("openai_compatible/warm"))
        cpu, began = time.thread_time(), time.perf_counter()
        items: list[object] = []

        async def read() -> None:
            items.extend(await collect(models, request("openai_compatible/m")))

        worst = await lateness(read())
        used, took = time.thread_time() - cpu, time.perf_counter() - began
        text = "".join(item.text for item in items if isinstance(item, TextDelta))
        assert text.count("word") == CHUNKS
        return worst, used / CHUNKS * 1e6, took


@bench("longest block of the Qt thread during 3,000 chunks", target="<= 16", unit="ms", by="gap")
def block_during_a_burst() -> Figure:
    with running_provider() as port:
        worst, _, took = on_the_loop(lambda: _burst(port))
    reference = on_the_loop(lambda: beside_a_burner(took))
    return Figure(worst, reference, f"{CHUNKS} chunks in {took:.1f} s; reference: beside a process that burns a core")


@bench("CPU of the Qt thread for one chunk of a model's answer", target="<= 200", unit="us")
def cpu_of_a_chunk() -> Figure:
    with running_provider() as port:
        _, used, took = on_the_loop(lambda: _burst(port))
    return Figure(used, None, f"3,000 chunks in {took:.1f} s, the 5 ms timer's own cost included")


async def _cancelled(port: int) -> float:
    space = ProviderSpace(port)
    endless = {"times": -1, "steps": [{"text": "tick # "}], "every": 0.005}
    worst = 0.0
    async with running_host() as host:
        models = models_over(host, connection("openai_compatible", space.openai_url))
        space.rounds({"steps": [{"finish": "stop"}]}, {"steps": [endless]})
        await collect(models, request("openai_compatible/warm"))
        for number in range(1, 11):
            token = CancellationToken()
            asyncio.get_running_loop().call_later(0.2, token.cancel)
            try:
                await collect(models, request("openai_compatible/m"), meta(token))
            except CancellationError:
                told = time.time()
            closed = lambda log, n=number: len(log) > n and log[n]["outcome"] == "disconnected"  # noqa: E731
            log = await asyncio.to_thread(space.wait_for, closed)
            worst = max(worst, log[number]["ended"] - told)
    return worst * 1000


@bench("a cancelled answer's socket is closed", target="<= 100", unit="ms")
def cancel() -> Figure:
    with running_provider() as port:
        return Figure(max(0.0, on_the_loop(lambda: _cancelled(port))), None, "worst of 10, after the caller was told")
