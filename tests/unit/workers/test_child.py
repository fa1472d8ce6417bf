"""The life of a child process, with real processes: answers, streams, cancels, restarts, and its end."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import ChildDied, ProtocolViolation
from desktop.domain.processes import ChildRefused
from desktop.workers import frames
from desktop.workers.child import ChildProcess, ChildSpec
from tests.harness.timeouts import WAIT_S, until

SCRIPT = str(Path(__file__).with_name("misbehaving.py"))


@contextlib.asynccontextmanager
async def child(how: str = "good", **more: Any) -> AsyncIterator[ChildProcess]:
    made = ChildProcess(ChildSpec("test", (sys.executable, "-I", SCRIPT, how), {"PATH": os.environ["PATH"]}, **more))
    try:
        yield made
    finally:
        began = time.monotonic()
        await made.stop()
        assert time.monotonic() - began < WAIT_S
        assert made.health.state == "stopped"


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody waits for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def gone(pid: int, within: float = WAIT_S) -> bool:
    end = time.monotonic() + within
    while alive(pid) and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return not alive(pid)


async def test_a_call_is_answered_and_the_child_is_started_for_it() -> None:
    async with child() as it:
        assert it.health.state == "stopped"
        assert await it.call("echo", {"value": {"a": [1, "ü", None]}}, timeout=WAIT_S) == {"a": [1, "ü", None]}
        assert it.health.state == "ready"
        assert it.health.generation == 1


@pytest.mark.expects_log("exit code 3")
async def test_a_child_on_demand_may_end_by_itself_and_is_started_by_the_next_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with child(on_demand=True) as it:
        with pytest.raises(ChildDied):
            await it.call("die", {"code": 0}, timeout=WAIT_S)
        async with asyncio.timeout(WAIT_S):
            while it.health.state != "stopped":
                await asyncio.sleep(0.01)
        assert (it.health.pid, it.health.generation) == (None, 1)
        answers = await asyncio.gather(*(it.call("echo", {"value": n}, timeout=WAIT_S) for n in range(5)))
        assert answers == list(range(5))
        assert (it.health.generation, it.health.restarts, caplog.text) == (2, 0, ""), "an end that was due is no death"
        with pytest.raises(ChildDied):
            await it.call("die", {"code": 3}, timeout=WAIT_S)
        assert await it.call("echo", {"value": 1}, timeout=WAIT_S) == 1
        assert it.health.restarts == 1, "a death is still a death"


async def test_a_stream_keeps_its_order_and_returns_its_value() -> None:
    async with child() as it:
        stream = it.stream("count", {"to": 5000, "size": 100})
        assert [item["n"] async for item in stream] == list(range(5000))
        assert stream.value == "done"


async def test_many_calls_run_beside_each_other() -> None:
    async with child() as it:
        answers = await asyncio.gather(*(it.call("echo", {"value": n}, timeout=WAIT_S) for n in range(50)))
        assert answers == list(range(50))


async def test_small_texts_are_joined_into_few_items() -> None:
    async with child() as it:
        items = [item async for item in it.stream("text", {"to": 3000})]
        assert "".join(item["t"] for item in items) == "ab" * 3000
        assert len(items) < 100


async def test_a_reader_that_stops_reading_holds_the_child_back() -> None:
    """200 MB would come if the child did not wait: at most the window is in memory."""
    async with child() as it:
        stream = it.stream("count", {"to": 10_000, "size": 20_000})
        first = await stream.__anext__()
        await asyncio.sleep(0.5)
        buffered = sum(len(item["text"]) for batch in stream._batches for item in batch)
        assert first["n"] == 0
        assert 0 < buffered <= (frames.WINDOW + 1) * (frames.BATCH_MAX + 20_000)
        stream.cancel()


async def test_reading_what_is_buffered_leaves_time_for_others() -> None:
    async with child() as it:
        stream, turns, seen = it.stream("count", {"to": 20_000}), 0, set()
        first = await stream.__anext__()

        async def tick() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        ticking = asyncio.ensure_future(tick())
        assert first["n"] == 0
        async for _ in stream:
            sum(range(3000))  # a consumer with some work of its own
            seen.add(turns)
        ticking.cancel()
        assert len(seen) >= 10, "others have their turn between two items again and again"


async def test_a_refusal_carries_its_code_and_data() -> None:
    async with child() as it:
        with pytest.raises(ChildRefused, match="Not today") as refused:
            await it.call("refuse", timeout=WAIT_S)
        assert (refused.value.code, refused.value.data) == ("test.refused", {"wait": 3})


@pytest.mark.spec("R-SEC-6")
async def test_an_unforeseen_error_costs_the_call_and_shows_no_secret() -> None:
    async with child() as it:
        with pytest.raises(ChildRefused, match="RuntimeError") as broken:
            await it.call("break_down", timeout=WAIT_S)
        assert "sk-abc" not in str(broken.value)
        assert await it.call("echo", {"value": 1}, timeout=WAIT_S) == 1
        assert it.health.generation == 1


async def test_an_unknown_method_is_refused() -> None:
    async with child() as it:
        with pytest.raises(ChildRefused) as refused:
            await it.call("nothing", timeout=WAIT_S)
        assert refused.value.code == "child.unknown_method"


async def test_a_call_over_its_time_is_cancelled_in_the_child_and_what_it_prints_harms_nothing(tmp_path: Path) -> None:
    async with child() as it:
        with pytest.raises(TimeoutError):
            await it.call("hang", timeout=0.3)
        file = tmp_path / "cancelled"
        stream = it.stream("cancelled", {"file": str(file)}, idle_s=0.2)
        with pytest.raises(TimeoutError, match="idle"):
            await stream.__anext__()
        while not file.exists():
            await asyncio.sleep(0.01)
        assert await it.call("echo", {"value": 2}, timeout=WAIT_S) == 2


async def test_a_cancelled_stream_ends_at_once_and_drops_what_is_buffered() -> None:
    async with child() as it:
        stream = it.stream("count", {"to": 100_000})
        seen = 0
        async for _ in stream:
            seen += 1
            if seen == 5:
                stream.cancel()
        assert seen == 5


async def test_a_cancelled_task_cancels_its_call(tmp_path: Path) -> None:
    file = tmp_path / "cancelled"
    async with child() as it:
        await it.call("echo", timeout=WAIT_S)
        task = asyncio.ensure_future(it.call("cancelled", {"file": str(file)}, timeout=WAIT_S))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not file.exists():
            await asyncio.sleep(0.01)


async def test_large_parts_go_in_slices() -> None:
    async with child() as it:
        pieces = ("x" * 32_000 for _ in range(200))
        answer = await it.stream("parts", {}, parts=pieces, deadline_s=20).result()
        assert answer == {"count": 200, "characters": 6_400_000}


async def test_a_question_too_large_is_refused_before_it_is_sent() -> None:
    async with child() as it:
        with pytest.raises(ChildRefused) as refused:
            await it.call("echo", {"value": "x" * frames.FRAME_MAX}, timeout=WAIT_S)
        assert refused.value.code == "child.too_large"
        assert await it.call("echo", {"value": 1}, timeout=WAIT_S) == 1


async def test_an_answer_too_large_is_refused() -> None:
    async with child() as it:
        with pytest.raises(ChildRefused) as refused:
            await it.stream("count", {"to": 1, "size": 2 * frames.FRAME_MAX}).result()
        assert refused.value.code == "child.too_large"


@pytest.mark.expects_log("test ended with exit code 3(?s:.*)last words with .REDACTED")
async def test_calls_under_way_fail_when_it_dies_and_it_is_started_again() -> None:
    async with child() as it:
        waiting = asyncio.ensure_future(it.call("hang", timeout=WAIT_S))
        with pytest.raises(ChildDied, match="exit code 3"):
            await it.call("die", timeout=WAIT_S)
        with pytest.raises(ChildDied):
            await waiting
        assert "sk-abc" not in it.health.detail
        assert await it.call("echo", {"value": 3}, timeout=WAIT_S) == 3
        assert (it.health.generation, it.health.restarts) == (2, 1)


@pytest.mark.parametrize("lasts", [0.3, None])
@pytest.mark.expects_log
async def test_a_child_that_reads_no_more_costs_one_call_and_the_next_waits_for_another(lasts: float | None) -> None:
    """Also while it still lives: it may be ending, and a second call to it would be lost like the first."""
    async with child(on_demand=True) as it:
        assert await it.call("deafen", {"for": lasts}, timeout=WAIT_S) == "closed"
        with pytest.raises(ChildDied):
            await it.call("echo", {"value": 1}, timeout=WAIT_S)
        assert await it.call("echo", {"value": 2}, timeout=WAIT_S) == 2
        assert it.health.generation == 2


@pytest.mark.expects_log("signal 9")
async def test_what_had_come_before_it_was_killed_is_still_read() -> None:
    async with child() as it:
        seen = []

        async def read() -> None:
            async for item in it.stream("count", {"to": 1000, "every": 0.01}):
                seen.append(item["n"])
                if len(seen) == 5:
                    os.kill(it.health.pid or 0, signal.SIGKILL)

        with pytest.raises(ChildDied):
            await read()
        assert seen[:5] == [0, 1, 2, 3, 4]


@pytest.mark.expects_log("exit code 7")
async def test_it_waits_longer_each_time_it_dies_at_once() -> None:
    async with child("dies at once", backoff_first=0.05, start_timeout=3.0) as it:
        with pytest.raises(ChildDied, match="did not start within 3 s"):
            await it.call("echo", timeout=WAIT_S)
        assert 2 <= it.health.generation <= 7


@pytest.mark.expects_log("signal 9")
async def test_a_child_that_never_says_hello_is_ended() -> None:
    async with child("silent", start_timeout=0.3) as it:
        with pytest.raises(ChildDied):
            await it.call("echo", timeout=WAIT_S)
        while it.health.last_end != "signal 9":
            await asyncio.sleep(0.01)


@pytest.mark.expects_log("could not be started")
async def test_a_program_that_does_not_exist_is_an_error_not_a_crash() -> None:
    it = ChildProcess(ChildSpec("test", ("/nonexistent/program",), start_timeout=0.3))
    with pytest.raises(ChildDied):
        await it.call("echo", timeout=WAIT_S)
    assert "could not be started" in it.health.last_end
    await it.stop()


@pytest.mark.parametrize(
    "how",
    [
        "huge",
        "no json",
        "[1]",
        '{"t":"items","id":1}',
        '{"t":"items","id":"x","items":[]}',
        '{"t":"items","id":99,"items":[1]}',
        '{"t":"hello","protocol":1,"service":"test","version":"1"}',
        '{"t":"error","id":1,"code":3,"message":""}',
        '{"t":"other"}',
        '{"t":"items","id":1,"items":[]}',
        '{"t":"items","id":1,"items":[1]}',
    ],
)
@pytest.mark.expects_log("sent something it may not")
async def test_a_child_that_breaks_the_protocol_is_ended(how: str) -> None:
    async with child(how) as it:
        stream = it.stream("anything", {}, deadline_s=10)
        with pytest.raises(ProtocolViolation):
            await _read_slowly(stream)


async def test_the_pipes_of_a_child_that_was_ended_while_it_wrote_are_closed() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        async with child("zeros without end", once=True) as it:
            with pytest.raises(ProtocolViolation):
                await it.call("anything", timeout=WAIT_S)
    await until(lambda: len(os.listdir("/proc/self/fd")) <= before, "no pipe is open")


async def _read_slowly(stream: Any) -> None:
    """Takes one item at most and then lets the others pile up, so that the window is overrun."""
    await stream.__anext__()
    await asyncio.sleep(0.3)
    await stream.result()


@pytest.mark.expects_log("protocol 0 of another version")
async def test_another_version_of_the_protocol_is_refused() -> None:
    async with child("old", start_timeout=5.0) as it:
        with pytest.raises(ChildDied):
            await it.call("echo", timeout=WAIT_S)


@pytest.mark.spec("R-UI-8", "R-TMO-2")
async def test_stopping_ends_what_the_child_started() -> None:
    async with child() as it:
        grandchild = await it.call("offspring", timeout=WAIT_S)
        pid = it.health.pid or 0
        assert alive(grandchild)
    assert await gone(pid)
    assert await gone(grandchild)


@pytest.mark.expects_log("signal 9")
async def test_a_killed_child_takes_its_offspring_along() -> None:
    async with child() as it:
        grandchild = await it.call("offspring", timeout=WAIT_S)
        os.kill(it.health.pid or 0, signal.SIGKILL)
        assert await gone(grandchild)
        assert await it.call("echo", {"value": 1}, timeout=WAIT_S) == 1


async def test_a_child_that_does_not_listen_is_ended_by_force() -> None:
    async with child("deaf", end_grace=0.2) as it:
        with pytest.raises(TimeoutError):
            await it.call("echo", timeout=0.5)
        pid = it.health.pid or 0
    assert await gone(pid)


@pytest.mark.parametrize("how", ["good", "deaf"])
async def test_stopping_ends_a_child_that_is_being_made(how: str) -> None:
    async with child(how, end_grace=0.2) as it:
        it.start()
        await asyncio.sleep(0)
        assert it.health.pid is None, "the test has to come before the process is there"
        await asyncio.wait_for(it.stop(), WAIT_S / 4)
        assert it.health.state == "stopped"


async def test_calls_under_way_fail_when_it_is_stopped() -> None:
    async with child() as it:
        waiting = asyncio.ensure_future(it.call("hang", timeout=WAIT_S))
        await it.call("echo", timeout=WAIT_S)
        await it.stop()
        with pytest.raises(ChildDied, match="closing"):
            await waiting


@pytest.mark.spec("R-ENV-6")
async def test_nothing_of_our_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-host-secret-0123456789")
    async with child() as it:
        seen = await it.call("environment", timeout=WAIT_S)
    assert set(seen) <= {"PATH", "LC_CTYPE"}


@pytest.mark.expects_log("exit code 3")
async def test_of_what_it_writes_to_stderr_only_the_end_is_kept() -> None:
    async with child() as it:
        assert await it.call("chatter", timeout=WAIT_S) == "said"
        with pytest.raises(ChildDied):
            await it.call("die", timeout=WAIT_S)
        assert len(it.health.detail) <= 8000


async def test_it_ends_when_its_parent_is_gone() -> None:
    """The parent here is a process of its own that is killed, so that nothing can be said to the child."""
    code = (
        f"import asyncio, json, sys; sys.path.insert(0, {str(Path(__file__).parents[3])!r})\n"
        "from desktop.workers.child import ChildProcess, ChildSpec\n"
        "async def main():\n"
        f"    it = ChildProcess(ChildSpec('test', (sys.executable, '-I', {SCRIPT!r}, 'good')))\n"
        "    await it.call('echo', timeout=60)\n"
        "    print(json.dumps(it.health.pid), flush=True)\n"
        "    await it.call('hang', timeout=60)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout is not None
    pid = json.loads(await parent.stdout.readline())
    assert alive(pid)
    parent.kill()
    await parent.wait()
    assert await gone(pid)
