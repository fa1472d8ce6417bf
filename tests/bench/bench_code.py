"""Code mode and agents: how soon a sandbox is ready, how fast code calls, what a round of an agent costs."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from desktop.domain.code import CodeCall, CodeLimits
from desktop.domain.tools import ToolResult
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.bench.processes import pss_mb
from tests.bench.registry import Figure, bench
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool

MANY = 1000
LIMITS = CodeLimits(calls=10**9)
SEQUENTIAL = f"for (let i = 0; i < {MANY}; i++) await ctx.manager.invoke('noop', {{i}}); return 1"
PARALLEL = f"await Promise.all(Array.from({{length: {MANY}}}, (_, i) => ctx.manager.invoke('noop', {{i}}))); return 1"


async def _serve(_call: CodeCall) -> Any:
    return {"done": True}


def _with_engine(work: Callable[[JsEngine], Awaitable[float]]) -> float:
    async def whole() -> float:
        with tempfile.TemporaryDirectory() as folder:
            profile = code_sandbox_profile()
            engine = JsEngine(lambda: WorkerSpec(folder, *profile), LIMITS)
            try:
                return await work(engine)
            finally:
                await engine.close()

    return asyncio.run(whole())


@bench("code worker: from nothing to the first value", target="<= 100", unit="ms", by="process")
def cold() -> Figure:
    async def work(engine: JsEngine) -> float:
        found = []
        for _ in range(7):
            one = JsEngine(engine._spec, LIMITS)
            started = time.perf_counter()
            await one.session().run("return 1", _serve)
            found.append((time.perf_counter() - started) * 1000)
            await one.close()
        return statistics.median(found)

    return Figure(_with_engine(work), note="median of 7: process, engine, confinement, one value")


@bench("code worker: from the pool to the first value", target="<= 5", unit="ms")
def pooled() -> Figure:
    async def work(engine: JsEngine) -> float:
        found = []
        for _ in range(15):
            await engine.prewarm()
            session = engine.session()
            started = time.perf_counter()
            await session.run("return 1", _serve)
            found.append((time.perf_counter() - started) * 1000)
            await session.close()
        return statistics.median(found)

    return Figure(_with_engine(work), note="median of 15")


@bench("code worker: memory", target="<= 20", unit="MB")
def memory() -> Figure:
    async def work(engine: JsEngine) -> float:
        session = engine.session()
        await session.run("return 1", _serve)
        worker = session._worker
        assert worker is not None
        return pss_mb(worker.pid)

    return Figure(_with_engine(work), note="proportional share, after one value")


def _rate(code: str) -> float:
    async def work(engine: JsEngine) -> float:
        session = engine.session()
        await session.run("return 1", _serve)
        best = 0.0
        for _ in range(5):
            started = time.perf_counter()
            await session.run(code, _serve)
            best = max(best, MANY / (time.perf_counter() - started))
        return best

    return _with_engine(work)


@bench("code: calls one after another through the protocol", target=">= 5000", unit="calls/s")
def sequential() -> Figure:
    return Figure(_rate(SEQUENTIAL), note=f"{MANY} calls, best of 5")


@bench("code: calls side by side through the protocol", target=">= 9000", unit="calls/s")
def parallel() -> Figure:
    return Figure(_rate(PARALLEL), note=f"{MANY} calls, best of 5")


async def _agent(rounds: int, mode: str, code: str = "", engine: JsEngine | None = None) -> tuple[float, float]:
    """(CPU milliseconds of this thread a round, wall seconds) of a markdown skill with one call a round."""
    with tempfile.TemporaryDirectory() as folder:
        tool = FakeTool("noop", params={"type": "object"}, body=lambda *_: ToolResult("done"))
        made = LibraryBench(Path(folder), tool)
        one = calls("invoke", {"code": code}) if code else calls("noop", {})
        made.model = ScriptedModel([one] * (rounds - 1) + [says("end")])
        made.lent = {"code": engine}
        model = f"{{toolMode: {mode}, maxTurns: 1000, maxSteps: 1000}}"
        made.write("task.skill.md", f"---\nname: task\ndescription: x\nmetadata:\n  model: {model}\n---\nGo.\n")
        cpu, wall = time.thread_time(), time.perf_counter()
        outcome = await made.call("task")
        assert outcome.result.text == "end", outcome.result.text
        found = (time.thread_time() - cpu) * 1000 / rounds, time.perf_counter() - wall
        await made.owner.close()
        return found


@bench("an agent's round with one call: policy, provider, hooks", target="<= 1", unit="ms CPU")
def agent_round() -> Figure:
    found = [asyncio.run(_agent(30, "direct"))[0] for _ in range(5)]
    return Figure(min(found), note="30 rounds, best of 5: six hook events, the call, the model's stream")


@bench("an agent's round at 200 rounds against 10", target="<= 1.5x", unit="ms CPU")
def long_agent() -> Figure:
    short = min(asyncio.run(_agent(10, "direct"))[0] for _ in range(5))
    return Figure(min(asyncio.run(_agent(200, "direct"))[0] for _ in range(3)), short, "reference: at 10 rounds")


@bench("code: calls through all gates to a no-op tool", target=">= 1500", unit="calls/s")
def gated() -> Figure:
    async def work(engine: JsEngine) -> float:
        await engine.prewarm()
        code = "for (let i = 0; i < 50; i++) await ctx.manager.invoke('noop', {}); return 1"
        best = 0.0
        for _ in range(5):
            wall = (await _agent(5, "code", code, engine))[1]
            best = max(best, 200 / wall)
        return best

    return Figure(_with_engine(work), note="four pieces of code with 50 calls each, agent and worker included")
