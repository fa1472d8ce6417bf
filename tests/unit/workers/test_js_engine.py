"""The app's side of the code sandbox against a worker that has been taken over: it ends it, and nothing is left."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.code import CodeCall, CodeLimits
from desktop.domain.errors import ChildDied, Denied, ToolFailure
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.workers.js_code.engine import MAX_LIVE, JsEngine, WorkerSpec
from tests.harness.timeouts import WAIT_S
from tests.unit.workers import hostile_worker
from tests.unit.workers.hostile_code import LATE_MS, Heart, Host

SOURCE = Path(hostile_worker.__file__)
LIMITS = CodeLimits(cpu_s=0.3)
MORE_MB = 64
"""What the app may hold more after a flood: garbage of other tests comes and goes meanwhile."""
Make = Callable[..., JsEngine]


@pytest.fixture
async def engine_of(tmp_path: Path) -> AsyncIterator[Make]:
    """Engines of hostile workers, or of the real one; all closed at the end, with nothing left of them."""
    made: list[JsEngine] = []
    pids: list[int] = []

    def spec(mode: str) -> WorkerSpec:
        script = tmp_path / "worker"
        text = f"#!{sys.executable} -I\nMODE = {mode!r}\n{SOURCE.read_text().replace('MODE: str', 'KEPT')}"
        script.write_text(text)
        script.chmod(0o755)
        return WorkerSpec(str(tmp_path), python=str(script))

    def make(mode: str = "", limits: CodeLimits = LIMITS) -> JsEngine:
        (tmp_path / "empty").mkdir(exist_ok=True)
        found = spec(mode) if mode else WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile())
        made.append(JsEngine(lambda: found, limits))
        return made[-1]

    yield make
    for engine in made:
        pids += [worker.pid for worker in engine._live]
        await engine.close()
        assert not engine._live
    assert not [pid for pid in pids if alive(pid)]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def gone(pid: int) -> bool:
    """Whether a process ends; waits for it."""
    end = time.monotonic() + WAIT_S
    while alive(pid) and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return not alive(pid)


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.spec("R-COD-5")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no niceness")
async def test_code_computes_behind_the_window(engine_of: Make) -> None:
    session = engine_of().session()
    assert (await session.run("return 1", Host())).value == 1
    worker = session._worker
    assert worker is not None
    assert os.getpriority(os.PRIO_PROCESS, worker.pid) > os.getpriority(os.PRIO_PROCESS, 0)
    await session.close()


@pytest.mark.spec("R-COD-5", "R-COD-14", "R-COD-16")
@pytest.mark.parametrize("mode", hostile_worker.RUNS)
async def test_a_worker_that_breaks_the_protocol_is_ended(engine_of: Make, mode: str) -> None:
    engine, heart = engine_of(mode), Heart()
    session, host, before = engine.session(), Host(), resident_mb()
    beat = asyncio.ensure_future(heart.beat())
    try:
        outcome = await asyncio.wait_for(session.run("return 1", host), WAIT_S)
    finally:
        beat.cancel()
    assert outcome.failure is not None
    assert outcome.failure.code in ("code.died", "code.time", "code.message")
    assert len(host.calls) <= LIMITS.calls + 1000
    assert len(outcome.stdout) <= LIMITS.output_bytes
    assert resident_mb() - before < MORE_MB
    assert heart.worst_cpu_ms < LATE_MS
    await session.close()


@pytest.mark.spec("R-COD-5")
@pytest.mark.parametrize("mode", [mode for mode in hostile_worker.STARTS if "nothing" not in mode])
async def test_a_worker_that_does_not_start_well_is_ended(engine_of: Make, mode: str) -> None:
    with pytest.raises(ChildDied):
        await asyncio.wait_for(engine_of(mode).session().run("return 1", Host()), WAIT_S)


@pytest.mark.spec("R-COD-16")
async def test_who_waits_for_a_worker_that_hangs_at_its_start_can_leave(engine_of: Make) -> None:
    session = engine_of("start: nothing at all").session()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(session.run("return 1", Host()), 0.3)
    await session.close()


@pytest.mark.spec("R-COD-16")
@pytest.mark.parametrize("mode", hostile_worker.ENDS)
async def test_what_comes_after_the_end_ends_the_worker_and_not_the_value(engine_of: Make, mode: str) -> None:
    session, host = engine_of(mode).session(), Host()
    assert (await asyncio.wait_for(session.run("return 1", host), WAIT_S)).value == 1
    assert session._worker is None
    assert not host.calls
    await session.close()


@pytest.mark.spec("R-COD-12", "R-COD-14")
async def test_what_is_odd_but_allowed_becomes_something_plain(engine_of: Make) -> None:
    found: dict[str, Any] = {}
    for mode in hostile_worker.ODD:
        session = engine_of(mode).session()
        outcome = await asyncio.wait_for(session.run("return 1", Host()), WAIT_S)
        found[mode] = outcome.value if outcome.failure is None else outcome.failure
        await session.close()
    assert found["done without a value"] is None
    assert found["half a character"] == "\ufffd"
    assert found["a number beyond all"].code == "code.message"
    assert (found["a failure of numbers"].line, found["a failure of numbers"].code) == (0, "code.raised")
    assert found["a failure with a code of ours"].code == "code.raised"
    assert len(found["a failure of megabytes"].name + found["a failure of megabytes"].message) == 2100
    assert found["a second request with the same id"] == 1
    assert found["an ending that nobody waits for"] == 1


@pytest.mark.spec("R-COD-5")
async def test_what_a_worker_says_between_two_pieces_counts_for_none(engine_of: Make) -> None:
    session, host = engine_of("after the end").session(), Host()
    assert (await session.run("return 1", host)).value == 1
    second = await session.run("return 2", host)
    assert second.failure is not None or len(host.calls) <= 1
    await session.close()


# -- sessions -------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-COD-16")
async def test_a_session_that_is_closed_while_it_runs_ends_its_worker(engine_of: Make) -> None:
    engine = engine_of(limits=CodeLimits(cpu_s=60))
    session, host = engine.session(), Host()
    running = asyncio.ensure_future(session.run("await ctx.manager.invoke('x', {}); for (;;) {}", host))
    while not host.calls:
        await asyncio.sleep(0.005)
    pid = session._worker.pid if session._worker is not None else 0
    await session.close()
    outcome = await running
    assert outcome.failure is not None
    assert outcome.failure.code == "code.died"
    assert await gone(pid)
    with pytest.raises(ToolFailure):
        await session.run("return 1", host)
    assert not engine._live


@pytest.mark.spec("R-COD-16")
async def test_a_cancelled_piece_ends_its_worker_and_the_next_is_told(engine_of: Make) -> None:
    engine = engine_of(limits=CodeLimits(cpu_s=60))
    session, host = engine.session(), Host()
    await session.run("memory.x = 1", host)
    running = asyncio.ensure_future(session.run("await ctx.manager.invoke('slow', {})", host))
    while not host.calls:
        await asyncio.sleep(0.005)
    pid = session._worker.pid if session._worker is not None else 0
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await gone(pid)
    assert host.withdrawn == 1
    outcome = await session.run("return typeof memory.x", host)
    assert (outcome.value, outcome.memory_lost) == ("undefined", True)
    await session.close()


@pytest.mark.spec("R-COD-16")
async def test_a_worker_that_died_between_two_pieces_is_replaced(engine_of: Make) -> None:
    session = engine_of().session()
    await session.run("return 1", Host())
    assert session._worker is not None
    os.kill(session._worker.pid, 9)
    assert await gone(session._worker.pid)
    while not session._worker.ended:
        await asyncio.sleep(0.005)
    outcome = await session.run("return 2", Host())
    assert (outcome.value, outcome.memory_lost) == (2, True)


async def test_a_worker_that_died_in_the_pool_is_not_handed_out(engine_of: Make) -> None:
    engine = engine_of()
    await engine.prewarm()
    assert engine._ready is not None
    ready = engine._ready.result()
    os.kill(ready.pid, 9)
    while not ready.ended:
        await asyncio.sleep(0.005)
    outcome = await engine.session().run("return 2", Host())
    assert (outcome.value, outcome.memory_lost) == (2, False)


@pytest.mark.spec("R-COD-10")
async def test_two_sessions_at_once_share_nothing(engine_of: Make) -> None:
    engine, host = engine_of(), Host()
    one, two = engine.session({"name": "one"}), engine.session({"name": "two"})
    code = (
        "globalThis.seen = (globalThis.seen ?? '') + memory.name; Array.prototype.map = () => 1;"
        "await ctx.manager.invoke('mixed', {i: 3}); return seen"
    )
    values = await asyncio.gather(one.run(code, host), two.run(code, host))
    assert [outcome.value for outcome in values] == ["one", "two"]
    again = await asyncio.gather(one.run(code, host), two.run(code, host))
    assert [outcome.value for outcome in again] == ["oneone", "twotwo"]


@pytest.mark.spec("R-COD-11", "R-COD-14")
@pytest.mark.parametrize("memory", [{"a": {1}}, {"a": float("nan")}, {"a": "x" * 300_000}])
async def test_memory_that_cannot_be_sent_is_said_before_anything_starts(engine_of: Make, memory: Any) -> None:
    engine = engine_of()
    with pytest.raises(ToolFailure):
        await engine.session(memory).run("return 1", Host())
    assert engine._ready is None


@pytest.mark.spec("R-COD-14")
async def test_code_that_is_too_long_does_not_run(engine_of: Make) -> None:
    outcome = await engine_of().session().run("/" * 300_000, Host())
    assert outcome.failure is not None
    assert "262144" in outcome.failure.message


@pytest.mark.spec("R-COD-14")
async def test_a_message_of_256_kilobytes_passes_both_ways_and_one_byte_more_does_not(engine_of: Make) -> None:
    session = engine_of(limits=CodeLimits(cpu_s=10)).session()
    maximum = CodeLimits().message_bytes
    full = maximum - len('{"t":"done","value":""}')
    assert (await session.run(f"return 'x'.repeat({full}).length", Host())).value == full
    assert len((await session.run(f"return 'x'.repeat({full})", Host())).value) == full
    over = (await session.run(f"return 'x'.repeat({full + 1})", Host())).failure
    assert over is not None
    assert (over.code, str(maximum) in over.message) == ("code.message", True)

    async def serve(call: CodeCall) -> Any:
        return "x" * int((call.args or {})["n"])

    ask = "try { return (await ctx.manager.invoke('x', {n: %d})).length } catch (e) { return e.code + ' ' + e.message }"
    assert (await session.run(ask % (maximum - 2), serve)).value == maximum - 2
    assert (await session.run(ask % (maximum - 1), serve)).value == (
        f"code.message The result is larger than {maximum} bytes or 20000 values; ask for less."
    )
    await session.close()


@pytest.mark.spec("R-COD-13")
async def test_a_result_that_is_refused_is_heard_though_the_code_did_not_wait(engine_of: Make) -> None:
    async def serve(call: CodeCall) -> Any:
        await asyncio.sleep(0.01)
        raise ToolFailure("n: a number is needed", code="tool.validation")

    outcome = await engine_of().session().run("ctx.manager.finish({n: 'x'}); return 1", serve)
    assert not outcome.finished
    assert outcome.failure is not None
    assert "n: a number" in outcome.failure.message


async def test_what_the_host_itself_breaks_ends_the_piece_and_the_worker(engine_of: Make) -> None:
    engine = engine_of()

    async def serve(_call: CodeCall) -> Any:
        raise ZeroDivisionError

    session = engine.session()
    with pytest.raises(ZeroDivisionError):
        await session.run("await ctx.manager.invoke('x', {})", serve)
    assert not engine._live


@pytest.mark.spec("R-COD-16")
async def test_code_that_waits_for_an_answer_has_all_the_time_of_the_world(engine_of: Make) -> None:
    async def serve(_call: CodeCall) -> Any:
        await asyncio.sleep(1)
        return 1

    outcome = await engine_of().session().run("return await ctx.manager.invoke('x', {})", serve)
    assert outcome.value == 1


async def test_a_worker_with_nothing_to_do_computes_nothing(engine_of: Make) -> None:
    engine = engine_of()
    session = engine.session()
    await session.run("setTimeout(() => 0, 5); setTimeout(function f() { setTimeout(f, 0) }, 0); return 1", Host())
    await engine.prewarm()
    assert session._worker is not None
    assert engine._ready is not None
    both = [session._worker, engine._ready.result()]
    before = sum(worker.cpu_s() or 0 for worker in both)
    await asyncio.sleep(0.5)
    assert sum(worker.cpu_s() or 0 for worker in both) - before < 0.1


async def test_there_are_never_more_workers_than_the_bound(engine_of: Make) -> None:
    engine = engine_of()
    engine._live |= {object() for _ in range(MAX_LIVE)}  # type: ignore[misc]  # as many as there may be
    with pytest.raises(ToolFailure) as raised:
        await engine.session().run("return 1", Host())
    assert raised.value.code == "denied.limit"
    assert engine._ready is None
    engine._live.clear()


@pytest.mark.spec("R-COD-16")
async def test_closing_while_many_wait_for_a_worker_leaves_none(engine_of: Make) -> None:
    engine = engine_of()
    sessions = [engine.session() for _ in range(6)]
    running = [asyncio.ensure_future(session.run("return 1", Host())) for session in sessions]
    await asyncio.sleep(0.02)
    for task in running[::2]:
        task.cancel()
    found = await asyncio.gather(*running, return_exceptions=True)
    assert [getattr(outcome, "value", None) for outcome in found[1::2]] == [1, 1, 1]
    assert len(engine._live) == 3
    pids = [worker.pid for worker in engine._live]
    await engine.close()
    assert not [pid for pid in pids if not await gone(pid)]
    with pytest.raises(ChildDied):
        await engine.session().run("return 1", Host())


async def test_refusals_are_answered_as_such(engine_of: Make) -> None:
    async def serve(_call: CodeCall) -> Any:
        raise Denied("no: \ud800\0", code="denied.limit")

    code = (
        "try { await ctx.manager.invoke('x', {}) }catch (e) { return [e.name, e.code, e.message, e instanceof Error] }"
    )
    value = (await engine_of().session().run(code, serve)).value
    assert value == ["ToolError", "denied.limit", "no: ?\0", True]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel ends the worker with its parent on Linux")
@pytest.mark.spec("R-COD-16")
async def test_an_app_that_is_killed_leaves_no_worker(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from desktop.workers.js_code.engine import JsEngine, WorkerSpec\n"
        "from desktop.safety.confinement.linux.code_profile import code_sandbox_profile\n"
        "from desktop.domain.code import CodeLimits\n"
        "async def main():\n"
        f"    spec = WorkerSpec({str(tmp_path)!r}, *code_sandbox_profile())\n"
        "    engine = JsEngine(lambda: spec, CodeLimits(cpu_s=600))\n"
        "    async def serve(call):\n"
        "        await engine.prewarm()\n"
        "        print(session._worker.pid, idle._worker.pid, engine._ready.result().pid, flush=True)\n"
        "    session, idle = engine.session(), engine.session()\n"
        "    await idle.run('return 1', serve)\n"
        "    await session.run('await ctx.manager.invoke(\"x\", {}); for (;;) {}', serve)\n"
        "asyncio.run(main())\n"
    )
    root = str(Path(__file__).resolve().parents[3])
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, cwd=root, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": root}
    )
    assert process.stdout is not None
    pids = [int(part) for part in (await process.stdout.readline()).split()]
    assert len(pids) == 3
    assert all(alive(pid) for pid in pids)
    process.kill()
    await process.wait()
    deadline = time.monotonic() + WAIT_S
    while [pid for pid in pids if running(pid)] and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    assert not [pid for pid in pids if running(pid)]


def running(pid: int) -> bool:
    """Whether a process is there and no zombie that nobody collects."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False
