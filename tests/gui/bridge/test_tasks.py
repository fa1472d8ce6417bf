"""The one owner of tasks: kept, named, never failing in silence, all ended at shutdown."""

import asyncio
import gc
import inspect
import threading
import time

import pytest
from PySide6.QtCore import QTimer

from desktop.domain.errors import AssentError, BugError, CancellationError, ModelKeyRefused, StoreFull
from desktop.presenter.events.bridge import Bridge
from tests.gui.bridge.conftest import Heard
from tests.harness.timeouts import WAIT_S, until


async def fails(error: BaseException) -> None:
    await asyncio.sleep(0)
    raise error


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_task_gives_its_result_and_carries_its_name(bridge: Bridge) -> None:
    task = bridge.spawn(asyncio.sleep(0, "value"), name="fetch")
    assert bridge.task_names == ("fetch",)
    assert await task == "value"
    await settled()
    assert bridge.task_names == ()


async def test_a_task_that_nobody_else_holds_is_not_collected(bridge: Bridge) -> None:
    seen: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0.02)
        seen.append("done")

    bridge.spawn(work(), name="lonely")
    gc.collect()
    await until(lambda: seen == ["done"], "its end")


async def test_a_slot_can_spawn(bridge: Bridge) -> None:
    seen: list[str] = []

    async def work() -> None:
        assert asyncio.current_task() is not None
        seen.append("ran")

    QTimer.singleShot(0, lambda: bridge.spawn(work(), name="from a slot"))
    await until(lambda: seen == ["ran"], "its turn")


async def test_an_error_of_the_world_arrives_as_it_is(bridge: Bridge, heard: Heard) -> None:
    error = ModelKeyRefused("The key was refused.", next_step="Replace it.")
    bridge.spawn(fails(error), name="send")
    await settled()
    assert heard.failed == [error]


async def test_anything_else_is_a_bug_that_names_its_task_and_keeps_its_cause(bridge: Bridge, heard: Heard) -> None:
    bridge.spawn(fails(KeyError("missing")), name="send")
    await settled()
    (bug,) = heard.failed
    assert isinstance(bug, BugError)
    assert str(bug) == "send: KeyError: 'missing'"
    assert isinstance(bug.__cause__, KeyError)
    assert bug.__cause__.__traceback__ is not None


@pytest.mark.expects_log("send failed and nobody listens .*missing")
async def test_a_bug_that_no_window_hears_is_logged(bridge: Bridge) -> None:
    bridge.spawn(fails(KeyError("missing")), name="send")
    await settled()


async def test_a_handler_takes_errors_of_the_world_and_shares_bugs(bridge: Bridge, heard: Heard) -> None:
    taken: list[AssentError] = []
    known = StoreFull("The disk is full.")
    bridge.spawn(fails(known), name="one", on_error=taken.append)
    bridge.spawn(fails(ValueError("ours")), name="two", on_error=taken.append)
    await settled()
    assert [type(error) for error in taken] == [StoreFull, BugError]
    assert [type(error) for error in heard.failed] == [BugError]


async def test_a_group_of_known_errors_tells_the_first_and_a_mixed_one_is_a_bug(bridge: Bridge, heard: Heard) -> None:
    first = StoreFull("full")
    bridge.spawn(fails(ExceptionGroup("g", [ExceptionGroup("h", [first]), StoreFull("again")])), name="known")
    await settled()
    bridge.spawn(fails(ExceptionGroup("g", [first, ValueError("ours")])), name="mixed")
    await settled()
    assert heard.failed[0] is first
    assert isinstance(heard.failed[1], BugError)


@pytest.mark.spec("R-CAN-11")
async def test_being_cancelled_is_no_error(bridge: Bridge, heard: Heard) -> None:
    task = bridge.spawn(asyncio.sleep(60), name="sleep")
    bridge.spawn(fails(CancellationError("stopped")), name="token")
    await settled()
    task.cancel()
    await settled()
    assert heard.failed == []
    assert task.cancelled()


@pytest.mark.spec("R-UI-8")
async def test_shutdown_cancels_everything_and_waits_for_what_cleans_up(heard: Heard) -> None:
    bridge, ended = Bridge(), []
    heard.listen(bridge)

    async def tidy(name: str) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.02)
            ended.append(name)

    for name in ("a", "b"):
        bridge.spawn(tidy(name), name=name)
    await settled()
    assert await bridge.shutdown(5.0) == ()
    assert sorted(ended) == ["a", "b"]
    assert heard.failed == []


@pytest.mark.spec("R-UI-8")
async def test_shutdown_gives_up_on_a_task_that_will_not_end_and_names_it() -> None:
    bridge, release = Bridge(), asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    bridge.spawn(stubborn(), name="stubborn")
    await settled()
    started = time.monotonic()
    assert await bridge.shutdown(0.1) == ("stubborn",)
    assert time.monotonic() - started < WAIT_S
    release.set()
    await settled()


async def test_after_shutdown_a_task_is_cancelled_before_it_begins(bridge: Bridge) -> None:
    seen: list[str] = []

    async def work() -> None:
        seen.append("ran")

    await bridge.shutdown(1.0)
    late = work()
    task = bridge.spawn(late, name="late")
    assert task.cancelled()
    assert inspect.getcoroutinestate(late) == inspect.CORO_CLOSED, "a loop that is over would never await it"
    assert bridge.task_names == ()
    await settled()
    assert seen == []


async def test_blocking_work_goes_to_a_thread_and_its_error_comes_back(bridge: Bridge) -> None:
    assert await bridge.in_thread(threading.get_ident) != threading.get_ident()
    with pytest.raises(ValueError, match="invalid literal"):
        await bridge.in_thread(int, "x")


async def test_what_waits_for_the_last_key_ends_with_the_bridge(bridge: Bridge) -> None:
    called: list[bool] = []
    waits = bridge.later(bridge, lambda: called.append(True), 1)
    waits.start()
    await until(lambda: called, "it was called")
    waits.start(60_000)
    assert await bridge.shutdown() == ()
    assert not waits.isActive()
    assert called == [True]
