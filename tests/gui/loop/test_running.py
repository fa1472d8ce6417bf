"""Starting, stopping and closing; what a failing callback does; debug mode; python -O."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from desktop.app.loop.event_loop import AssentEventLoop
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[3]


def test_run_until_complete_returns_and_raises_what_the_coroutine_does(loop: AssentEventLoop) -> None:
    async def fails() -> None:
        raise LookupError("no such thing")

    assert loop.run_until_complete(asyncio.sleep(0, "value")) == "value"
    with pytest.raises(LookupError, match="no such thing"):
        loop.run_until_complete(fails())
    assert not loop.is_running()


def test_run_forever_runs_until_stopped_and_can_run_again(loop: AssentEventLoop) -> None:
    seen: list[str] = []
    for text in ("once", "twice"):
        loop.call_later(0.005, seen.append, text)
        loop.call_later(0.01, loop.stop)
        loop.run_forever()
    assert seen == ["once", "twice"]


def test_stopping_lets_what_waits_run_and_keeps_the_rest(loop: AssentEventLoop) -> None:
    seen: list[str] = []
    loop.call_soon(loop.stop)
    loop.call_soon(lambda: loop.call_soon(seen.append, "next time"))
    loop.call_soon(seen.append, "this time")
    loop.run_forever()
    assert seen == ["this time"]
    loop.run_until_complete(asyncio.sleep(0))
    assert seen == ["this time", "next time"]


def test_stopping_before_running_runs_once(loop: AssentEventLoop) -> None:
    seen: list[str] = []
    loop.call_soon(seen.append, "ran")
    loop.stop()
    loop.run_forever()
    assert seen == ["ran"]


def test_a_loop_quit_from_qt_says_that_the_coroutine_did_not_finish(loop: AssentEventLoop, qapp: QApplication) -> None:
    async def forever() -> None:
        QTimer.singleShot(0, qapp.exit)
        await asyncio.Event().wait()

    task = loop.create_task(forever())
    with pytest.raises(RuntimeError, match="stopped before Future completed"):
        loop.run_until_complete(task)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        loop.run_until_complete(task)


def test_nothing_of_asyncio_runs_while_the_loop_does_not(loop: AssentEventLoop) -> None:
    """A nested Qt loop outside of run_forever must not run tasks: they would find no running loop."""
    seen: list[str] = []
    loop.call_soon(seen.append, "soon")
    loop.call_later(0.001, seen.append, "later")
    loop.call_soon_threadsafe(seen.append, "from a thread")
    nested = QEventLoop()
    QTimer.singleShot(20, nested.quit)
    nested.exec()
    assert seen == []
    loop.run_until_complete(asyncio.sleep(0.01))
    assert seen == ["soon", "from a thread", "later"]


def test_a_second_loop_cannot_run_inside_the_first(loop: AssentEventLoop, qapp: QApplication) -> None:
    async def nest() -> None:
        inner = AssentEventLoop(qapp)
        try:
            with pytest.raises(RuntimeError, match="while another loop is running"):
                inner.run_forever()
            with pytest.raises(RuntimeError, match="already running"):
                loop.run_forever()
            with pytest.raises(RuntimeError, match="Cannot close a running event loop"):
                loop.close()
        finally:
            inner.close()

    loop.run_until_complete(nest())


def test_a_closed_loop_refuses_work(qapp: QApplication) -> None:
    loop = AssentEventLoop(qapp)
    loop.call_later(60, print)
    loop.call_soon(print)
    loop.close()
    loop.close()
    assert loop.is_closed()
    for refused in (loop.call_soon, loop.call_soon_threadsafe):
        with pytest.raises(RuntimeError, match="closed"):
            refused(print)
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_later(1, print)
    with pytest.raises(RuntimeError, match="closed"):
        loop.run_forever()


@pytest.mark.spec("R-UI-8")
def test_shutting_down_with_tasks_pending_cancels_them_and_leaves_nothing(qapp: QApplication) -> None:
    ended: list[str] = []
    kept: list[asyncio.Task[None]] = []

    async def lingering(name: str) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(name)

    async def main() -> None:
        kept.extend(asyncio.create_task(lingering(name)) for name in ("one", "two"))
        await asyncio.sleep(0.005)

    with asyncio.Runner(loop_factory=lambda: AssentEventLoop(qapp)) as runner:
        runner.run(main())
        loop = runner.get_loop()
    assert sorted(ended) == ["one", "two"]
    assert loop.is_closed()
    assert not loop._scheduled  # type: ignore[attr-defined]


def test_an_abandoned_async_generator_is_closed_at_shutdown(loop: AssentEventLoop) -> None:
    ended: list[str] = []

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)
            ended.append("closed")

    kept = numbers()

    async def take_one() -> int:
        return await anext(kept)

    assert loop.run_until_complete(take_one()) == 1
    assert sys.get_asyncgen_hooks().firstiter is None
    loop.run_until_complete(loop.shutdown_asyncgens())
    assert ended == ["closed"]


# -- failing callbacks --------------------------------------------------------------------------------------------


def test_a_failing_callback_goes_to_the_exception_handler_and_the_rest_runs(loop: AssentEventLoop) -> None:
    caught: list[object] = []
    seen: list[str] = []
    loop.set_exception_handler(lambda _, context: caught.append(context["exception"]))
    assert loop.get_exception_handler() is not None
    loop.call_soon(int, "not a number")
    loop.call_soon(seen.append, "went on")
    loop.call_later(0.001, int, "neither")
    loop.run_until_complete(asyncio.sleep(0.01))
    assert [type(error) for error in caught] == [ValueError, ValueError]
    assert seen == ["went on"]


@pytest.mark.expects_log("Unhandled error in exception handler")
def test_a_failing_exception_handler_is_itself_reported(loop: AssentEventLoop) -> None:
    def handler(_: object, context: dict[str, object]) -> None:
        raise KeyError("handler")

    loop.set_exception_handler(handler)
    loop.call_soon(int, "not a number")
    loop.run_until_complete(asyncio.sleep(0.005))


@pytest.mark.expects_log("Exception in callback")
def test_without_a_handler_a_failing_callback_is_logged(loop: AssentEventLoop) -> None:
    loop.call_soon(int, "not a number")
    loop.run_until_complete(asyncio.sleep(0.005))


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_a_wish_to_end_leaves_run_forever_and_the_loop_can_run_again(
    loop: AssentEventLoop, kind: type[BaseException]
) -> None:
    def end() -> None:
        raise kind

    seen: list[str] = []
    loop.call_soon(end)
    loop.call_soon(seen.append, "kept")
    with pytest.raises(kind):
        loop.run_forever()
    loop.run_until_complete(asyncio.sleep(0))
    assert seen == ["kept"]


def test_an_exception_in_a_nested_task_group_arrives_as_a_group(loop: AssentEventLoop) -> None:
    async def fails() -> None:
        await asyncio.sleep(0.001)
        raise ValueError("inner")

    async def main() -> None:
        async with asyncio.TaskGroup() as outer:
            outer.create_task(asyncio.sleep(60))
            async with asyncio.TaskGroup() as inner:
                inner.create_task(fails())

    with pytest.raises(BaseExceptionGroup) as caught:
        loop.run_until_complete(main())
    assert caught.group_contains(ValueError, match="inner")


# -- debug mode, signals, -O --------------------------------------------------------------------------------------


@pytest.mark.expects_log(r"Executing <Handle sleep\(0.3\) created at .*test_running.py.*> took 0\.")
def test_debug_mode_names_slow_callbacks_and_calls_from_the_wrong_thread(loop: AssentEventLoop) -> None:
    loop.set_debug(True)
    loop.slow_callback_duration = 0.25  # nothing else takes that long, also on a busy machine
    refused: list[BaseException] = []

    def wrong_thread() -> None:
        try:
            loop.call_soon(print)
        except RuntimeError as error:
            refused.append(error)

    async def main() -> None:
        loop.call_soon(time.sleep, 0.3)
        await asyncio.to_thread(wrong_thread)

    loop.run_until_complete(main())
    loop.set_debug(False)
    assert "Non-thread-safe operation" in str(refused[0])


@pytest.mark.spec("R-UI-8")
def test_a_signal_wakes_the_loop_and_runs_its_handler(loop: AssentEventLoop) -> None:
    got = asyncio.Event()

    async def main() -> None:
        loop.add_signal_handler(signal.SIGUSR1, got.set)
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        await asyncio.wait_for(got.wait(), WAIT_S)
        loop.remove_signal_handler(signal.SIGUSR1)

    loop.run_until_complete(main())


OPTIMISED = """
import asyncio, sys
from PySide6.QtWidgets import QApplication
from desktop.app.loop.event_loop import AssentEventLoop
application = QApplication(sys.argv)
async def main():
    asyncio.get_running_loop().slow_callback_duration = 3600  # how busy the machine is says nothing
    child = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    out, _ = await child.communicate(b"through a pipe")
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    rest = await reader.read()
    writer.close()
    server.close()
    await asyncio.sleep(0.01)
    print(out.decode(), rest, await asyncio.to_thread(lambda: "thread"))
with asyncio.Runner(loop_factory=lambda: AssentEventLoop(application)) as runner:
    runner.run(main())
print("closed", runner._loop)
"""


@pytest.mark.parametrize("options", [["-O"], ["-X", "dev", "-W", "error"]])
def test_the_loop_works_without_asserts_and_in_development_mode(options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *options, "-c", OPTIMISED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.stdout, done.stderr) == ("through a pipe b'' thread\nclosed None\n", "")
