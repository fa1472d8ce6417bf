"""Sockets, pipes, children and threads on the Qt loop."""

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from desktop.app.loop.event_loop import AssentEventLoop
from tests.harness.timeouts import WAIT_S, until


def watched() -> tuple[int, int]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, AssentEventLoop)
    return len(loop._readers), len(loop._writers)


async def test_a_reader_is_called_while_there_is_something_to_read_and_not_after_removal() -> None:
    loop, before = asyncio.get_running_loop(), watched()
    ours, theirs = socket.socketpair()
    got, seen = bytearray(), asyncio.Event()

    def ready() -> None:
        got.extend(ours.recv(1))
        if len(got) == 5:
            seen.set()

    loop.add_reader(ours, ready)
    theirs.send(b"abcde")
    await asyncio.wait_for(seen.wait(), WAIT_S)
    assert loop.remove_reader(ours)
    assert not loop.remove_reader(ours)
    theirs.send(b"f")
    await asyncio.sleep(0.02)
    assert got == b"abcde"
    assert watched() == before
    ours.close()
    theirs.close()


async def test_a_new_reader_of_the_same_descriptor_replaces_the_old_one() -> None:
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    seen: list[str] = []
    loop.add_reader(ours, lambda: seen.append("old"))
    loop.add_reader(ours, lambda: (seen.append("new"), ours.recv(10)))
    theirs.send(b"x")
    await asyncio.sleep(0.02)
    loop.remove_reader(ours.fileno())
    assert seen == ["new"]
    ours.close()
    theirs.close()


async def test_a_reader_that_reads_nothing_does_not_starve_timers_or_tasks() -> None:
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    calls = 0

    def lazy() -> None:
        nonlocal calls
        calls += 1

    loop.add_reader(ours, lazy)
    theirs.send(b"never read")
    await asyncio.wait_for(asyncio.sleep(0.03), WAIT_S)
    loop.remove_reader(ours)
    assert calls > 1, "a level-triggered reader is called again"
    ours.close()
    theirs.close()


async def test_removing_a_reader_after_its_file_was_closed() -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, AssentEventLoop)
    before = watched()
    ours, theirs = socket.socketpair()
    loop._add_reader(ours, print)
    ours.close()
    assert loop._remove_reader(ours)
    assert watched() == before
    with pytest.raises(ValueError, match="Invalid file"):
        loop._add_reader(ours, print)
    theirs.close()


async def test_a_reader_that_fails_is_reported_and_keeps_reading() -> None:
    loop, caught = asyncio.get_running_loop(), []
    loop.set_exception_handler(lambda _, context: caught.append(context["exception"]))
    ours, theirs = socket.socketpair()
    loop.add_reader(ours, lambda: int(ours.recv(1)))
    theirs.send(b"x1y")
    await asyncio.sleep(0.03)
    loop.remove_reader(ours)
    loop.set_exception_handler(None)
    assert [type(error) for error in caught] == [ValueError, ValueError]
    ours.close()
    theirs.close()


@pytest.mark.parametrize("family", ["tcp", "unix"])
async def test_two_megabytes_go_through_a_stream_both_ways(family: str, short_tmp: Path) -> None:
    before = watched()
    payload = os.urandom(2_000_000)

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(len(payload)))
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    if family == "tcp":
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    else:
        server = await asyncio.start_unix_server(echo, short_tmp / "socket")
        reader, writer = await asyncio.open_unix_connection(short_tmp / "socket")
    writer.write(payload)
    await writer.drain()
    assert await asyncio.wait_for(reader.readexactly(len(payload)), WAIT_S) == payload
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    server.close()
    await server.wait_closed()
    await until(lambda: watched() == before, "as it was")


async def test_a_refused_connection_and_a_cancelled_read_are_errors_at_once() -> None:
    before = watched()
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await asyncio.get_running_loop().sock_recv(ours, 10)
    assert watched() == before
    ours.close()
    theirs.close()


# -- children -----------------------------------------------------------------------------------------------------


async def test_a_child_gives_its_output_its_errors_and_its_code() -> None:
    child = await asyncio.create_subprocess_exec(
        "sh", "-c", "cat; echo complaint >&2; exit 7", stdin=-1, stdout=-1, stderr=-1
    )
    out, err = await asyncio.wait_for(child.communicate(b"x" * 300_000), WAIT_S)
    assert (out, err, child.returncode) == (b"x" * 300_000, b"complaint\n", 7)


async def test_lines_arrive_while_the_child_still_runs() -> None:
    code = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdin=-1, stdout=-1)
    assert child.stdin is not None
    assert child.stdout is not None
    for word in (b"one\n", b"two\n"):
        child.stdin.write(word)
        assert await asyncio.wait_for(child.stdout.readline(), WAIT_S) == word.upper()
    child.stdin.close()
    assert await asyncio.wait_for(child.wait(), WAIT_S) == 0


async def test_a_killed_child_is_reaped_and_nothing_stays_watched() -> None:
    before, threads = watched(), threading.active_count()
    child = await asyncio.create_subprocess_exec("sleep", "600")
    assert threading.active_count() == threads, "no thread for each child"
    child.send_signal(signal.SIGKILL)
    assert await asyncio.wait_for(child.wait(), WAIT_S) == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)
    assert watched() == before


async def test_twenty_children_at_once_all_end() -> None:
    async def one(code: int) -> int:
        child = await asyncio.create_subprocess_exec("sh", "-c", f"exit {code}")
        return await child.wait()

    assert await asyncio.wait_for(asyncio.gather(*(one(n) for n in range(20))), WAIT_S) == list(range(20))


async def test_a_program_that_does_not_exist_is_an_error_and_leaves_nothing() -> None:
    before = watched()
    with pytest.raises(FileNotFoundError):
        await asyncio.create_subprocess_exec("/nonexistent/program", stdin=-1, stdout=-1)
    gc.collect()
    assert watched() == before


@pytest.mark.expects_log("will report returncode 255")  # asyncio says so from Python 3.12 on, and we before
async def test_a_child_reaped_by_someone_else_still_ends_its_wait() -> None:
    child = await asyncio.create_subprocess_exec("sh", "-c", "exec sleep 60")
    os.kill(child.pid, signal.SIGKILL)  # no turn of the loop before it is reaped here: the loop would be first
    os.waitpid(child.pid, 0)
    assert await asyncio.wait_for(child.wait(), WAIT_S) == 255


# -- threads ------------------------------------------------------------------------------------------------------


async def test_blocking_work_runs_in_threads_while_the_loop_goes_on() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(tick())
        names = await asyncio.gather(*(asyncio.to_thread(_sleep_and_tell) for _ in range(3)))
        ticking.cancel()
    assert ticks >= 5
    assert threading.current_thread().name not in names


def _sleep_and_tell() -> str:
    time.sleep(0.1)
    return threading.current_thread().name


async def test_an_exception_of_a_thread_arrives_where_it_is_awaited() -> None:
    with pytest.raises(ZeroDivisionError):
        await asyncio.get_running_loop().run_in_executor(None, lambda: 1 // 0)
