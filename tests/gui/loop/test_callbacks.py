"""Order, fairness, deadlines, and what another thread may do."""

import asyncio
import contextvars
import gc
import threading
import time
import weakref

import pytest
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from desktop.app.loop.event_loop import AssentEventLoop
from tests.harness.timeouts import WAIT_S


async def test_callbacks_run_in_the_order_in_which_they_were_given() -> None:
    loop, seen, done = asyncio.get_running_loop(), [], asyncio.Event()
    for number in range(1000):
        loop.call_soon(seen.append, number)
    loop.call_soon(done.set)
    await done.wait()
    assert seen == list(range(1000))


async def test_a_callback_given_by_a_callback_waits_behind_those_already_there() -> None:
    loop, seen, done = asyncio.get_running_loop(), [], asyncio.Event()

    def first() -> None:
        seen.append("first")
        loop.call_soon(seen.append, "late")
        loop.call_soon(done.set)

    loop.call_soon(first)
    loop.call_soon(seen.append, "second")
    await done.wait()
    assert seen == ["first", "second", "late"]


async def test_a_cancelled_callback_does_not_run() -> None:
    loop, seen = asyncio.get_running_loop(), []
    loop.call_soon(seen.append, "cancelled").cancel()
    loop.call_later(0.001, seen.append, "cancelled too").cancel()
    loop.call_soon(seen.append, "run")
    await asyncio.sleep(0.02)
    assert seen == ["run"]


@pytest.mark.spec("R-UI-7")
async def test_ten_thousand_callbacks_leave_qt_its_turn() -> None:
    """A Qt timer fires between drains: no gap is much longer than one budget, however long the queue is."""
    loop, ticks = asyncio.get_running_loop(), [time.perf_counter()]
    timer = QTimer()
    timer.timeout.connect(lambda: ticks.append(time.perf_counter()))
    timer.start(0)
    left = 10_000

    def work() -> None:
        nonlocal left
        left -= 1
        end = time.perf_counter() + 10e-6
        while time.perf_counter() < end:
            pass

    for _ in range(left):
        loop.call_soon(work)
    while left:
        await asyncio.sleep(0)
    ticks.append(time.perf_counter())
    timer.stop()
    assert len(ticks) > 8, "0.1 s of work in drains of 8 ms"


class Painted(QWidget):
    """Counts its paint events."""

    count = 0

    def paintEvent(self, event: object) -> None:
        self.count += 1


@pytest.mark.spec("R-UI-7")
async def test_a_window_paints_while_a_task_never_sleeps_longer_than_zero(qtbot: object) -> None:
    window = Painted()
    qtbot.addWidget(window)  # type: ignore[attr-defined]
    window.show()
    end = time.perf_counter() + WAIT_S
    while window.count < 3 and time.perf_counter() < end:
        window.update()
        await asyncio.sleep(0)
    assert window.count >= 3


async def test_a_sleep_is_never_short_and_sleeps_end_in_order() -> None:
    ended: list[float] = []

    async def nap(seconds: float) -> None:
        started = time.monotonic()
        await asyncio.sleep(seconds)
        assert time.monotonic() - started >= seconds
        ended.append(seconds)

    naps = [0.5, 0.05, 0.2, 0.0101, 0.1, 0.0]
    await asyncio.gather(*(nap(seconds) for seconds in naps))
    assert ended == sorted(naps)


async def test_equal_deadlines_and_a_nearer_one_given_later() -> None:
    loop, seen = asyncio.get_running_loop(), []
    loop.call_later(0.05, seen.append, "far")
    loop.call_later(0.01, seen.append, "near")
    await asyncio.sleep(0.08)
    assert seen == ["near", "far"]


async def test_deadlines_come_due_while_callbacks_never_stop_coming() -> None:
    loop, seen = asyncio.get_running_loop(), []
    loop.call_later(0.02, seen.append, "due")
    end = time.monotonic() + WAIT_S
    while not seen and time.monotonic() < end:
        await asyncio.sleep(0)
    assert seen == ["due"]


async def test_fifty_thousand_cancelled_timers_leave_nothing() -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, AssentEventLoop)

    class Callback:
        def __call__(self) -> None: ...

    callback = Callback()
    gone = weakref.ref(callback)
    before = len(loop._scheduled)
    handles = [loop.call_later(3600 + n % 7, callback) for n in range(50_000)]
    for handle in handles:
        handle.cancel()
    assert len(loop._scheduled) <= 2 * before + 1
    del callback, handles, handle
    gc.collect()
    assert gone() is None


async def test_live_timers_survive_the_sweep_of_cancelled_ones() -> None:
    loop, seen = asyncio.get_running_loop(), []
    live = [loop.call_later(0.01 + n / 10_000, seen.append, n) for n in range(100)]
    for handle in [loop.call_later(60, seen.append, "never") for _ in range(5000)]:
        handle.cancel()
    live[50].cancel()
    await asyncio.sleep(0.06)
    assert seen == [n for n in range(100) if n != 50]


async def test_a_cancelled_first_deadline_does_not_hold_up_the_next() -> None:
    loop, seen = asyncio.get_running_loop(), []
    first = loop.call_later(0.01, seen.append, "first")
    loop.call_later(0.03, seen.append, "second")
    first.cancel()
    await asyncio.sleep(0.06)
    assert seen == ["second"]


@pytest.mark.parametrize("days", [25, 30, 3650])
async def test_a_delay_longer_than_a_qt_timer_can_count_waits(days: int) -> None:
    loop, seen = asyncio.get_running_loop(), []
    handle = loop.call_later(days * 86_400, seen.append, "far")
    await asyncio.sleep(0.02)
    assert not seen
    assert handle.when() - loop.time() > (days - 1) * 86_400
    handle.cancel()


async def test_a_delay_without_end_waits_and_one_in_the_past_is_due() -> None:
    loop, seen = asyncio.get_running_loop(), []
    handle = loop.call_later(float("inf"), seen.append, "never")
    loop.call_later(-5, seen.append, "at once")
    await asyncio.sleep(0.01)
    handle.cancel()
    assert seen == ["at once"]


async def test_a_timeout_ends_a_wait() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await asyncio.Event().wait()
    assert await asyncio.wait_for(asyncio.sleep(0, "in time"), WAIT_S) == "in time"


async def test_another_thread_wakes_a_sleeping_loop() -> None:
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    timer = threading.Timer(0.02, loop.call_soon_threadsafe, (woken.set,))
    timer.start()
    await asyncio.wait_for(woken.wait(), WAIT_S)
    timer.join()


async def test_ten_thousand_calls_from_four_threads_all_arrive_each_thread_in_order() -> None:
    loop, seen, count = asyncio.get_running_loop(), [], 2500
    everything = asyncio.Event()

    def receive(who: int, number: int) -> None:
        seen.append((who, number))
        if len(seen) == 4 * count:
            everything.set()

    def send(who: int) -> None:
        for number in range(count):
            loop.call_soon_threadsafe(receive, who, number)
            if number % 500 == 0:
                time.sleep(0.001)

    threads = [threading.Thread(target=send, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    await asyncio.wait_for(everything.wait(), WAIT_S)
    for thread in threads:
        thread.join()
    for who in range(4):
        assert [number for sender, number in seen if sender == who] == list(range(count))


async def test_each_callback_runs_in_the_context_it_was_given_in() -> None:
    loop, variable, seen = asyncio.get_running_loop(), contextvars.ContextVar[str]("variable"), []
    variable.set("outer")
    other = contextvars.copy_context()
    other.run(variable.set, "inner")
    loop.call_soon(lambda: seen.append(variable.get()))
    loop.call_soon(lambda: seen.append(variable.get()), context=other)
    loop.call_later(0.001, lambda: seen.append(variable.get()), context=other)
    loop.call_soon_threadsafe(lambda: seen.append(variable.get()), context=other)
    variable.set("later")
    await asyncio.sleep(0.02)
    assert seen == ["outer", "inner", "inner", "inner"]


@pytest.mark.spec("R-PRM-7")
async def test_closing_a_dialog_or_the_last_window_does_not_stop_the_loop(qapp: QApplication) -> None:
    window, dialog = QWidget(), QDialog()
    window.show()
    result: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    dialog.finished.connect(result.set_result)
    dialog.open()
    asyncio.get_running_loop().call_later(0.01, dialog.reject)
    assert await asyncio.wait_for(result, WAIT_S) == QDialog.DialogCode.Rejected.value
    window.close()
    await asyncio.sleep(0.03)
    window.deleteLater()
    dialog.deleteLater()


async def test_a_nested_qt_loop_opened_by_a_slot_lets_tasks_go_on() -> None:
    """We open none ourselves; a native menu or a drag may."""
    seen: list[str] = []
    nested = QEventLoop()

    async def work() -> None:
        await asyncio.sleep(0.01)
        seen.append("worked")
        nested.quit()

    def slot() -> None:
        nested.exec()
        seen.append("nested loop over")

    QTimer.singleShot(0, slot)
    async with asyncio.TaskGroup() as group:
        group.create_task(work())
    await asyncio.sleep(0.02)
    assert seen == ["worked", "nested loop over"]
