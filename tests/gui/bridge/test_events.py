"""Events on their way up: causal order, merged deltas, small batches, any thread, never a stalled window."""

import asyncio
import itertools
import threading
import time

import pytest
from PySide6.QtCore import QTimer

from desktop.domain.runs.events import (
    Event,
    MessageClosed,
    MessageOpened,
    ReasoningArrived,
    RunEnded,
    RunStarted,
    TextArrived,
    ToolCallAdvanced,
    ToolCallFinished,
    ToolCallOutput,
    ToolCallWriting,
)
from desktop.presenter.events.backlog import BATCH_CHARACTERS, BATCH_EVENTS, OUTPUT_LIMIT, EventBacklog
from desktop.presenter.events.bridge import DELTA_INTERVAL, Bridge
from tests.gui.bridge.conftest import AT, Heard
from tests.harness.timeouts import WAIT_S


def text(words: str, message: str = "m") -> TextArrived:
    return TextArrived(**AT, message_id=message, text=words)


def thought(words: str, message: str = "m") -> ReasoningArrived:
    return ReasoningArrived(**AT, message_id=message, text=words)


def output(words: str, call: str = "c") -> ToolCallOutput:
    return ToolCallOutput(**AT, message_id="m", call_id=call, text=words)


def opened(message: str = "m") -> MessageOpened:
    return MessageOpened(**AT, message_id=message, parent_id=None, side="human", author="a", round_number=1)


def closed(message: str = "m") -> MessageClosed:
    return MessageClosed(**AT, message_id=message, stop_reason="end")


def drained(backlog: EventBacklog) -> list[Event]:
    events: list[Event] = []
    while batch := backlog.take():
        events.extend(batch)
    return events


# -- the backlog --------------------------------------------------------------------------------------------------


def put(*events: Event) -> EventBacklog:
    backlog = EventBacklog()
    for event in events:
        backlog.put(event)
    return backlog


def test_deltas_of_one_message_in_a_row_become_one() -> None:
    assert drained(put(text("a"), text("b"), text("c"))) == [text("abc")]


def test_two_sides_that_stream_at_once_each_become_one() -> None:
    backlog = put(text("a1", "a"), text("b1", "b"), text("a2", "a"), text("b2", "b"))
    assert drained(backlog) == [text("a1a2", "a"), text("b1b2", "b")]


def test_thinking_and_text_of_one_message_keep_their_order() -> None:
    backlog = put(thought("hm"), thought("m"), text("So"), thought("wait"), text(" then"))
    assert drained(backlog) == [thought("hmm"), text("So"), thought("wait"), text(" then")]


def progress(done: float, call: str = "c") -> ToolCallAdvanced:
    return ToolCallAdvanced(**AT, message_id="m", call_id=call, done=done, total=9)


def test_of_the_progress_of_a_call_only_the_newest_is_shown_and_before_its_end() -> None:
    end = closed()
    backlog = put(progress(1), progress(2, "other"), progress(3), progress(4), end)
    assert drained(backlog) == [progress(4), progress(2, "other"), end]
    assert not put(progress(1)).urgent


@pytest.mark.spec("R-TRC-7")
def test_nothing_is_merged_across_an_event_that_is_no_delta() -> None:
    events = [opened(), text("a"), closed(), opened("n"), text("b", "n"), text("c"), closed("n")]
    assert drained(put(*events)) == events


def test_live_output_is_merged_by_call_beside_the_text() -> None:
    backlog = put(output("1", "x"), output("2", "y"), text("t"), output("3", "x"))
    assert drained(backlog) == [output("13", "x"), output("2", "y"), text("t")]


def test_of_a_call_being_written_only_the_newest_count_is_kept() -> None:
    def writing(index: int, characters: int) -> ToolCallWriting:
        return ToolCallWriting(**AT, message_id="m", index=index, tool="bash", characters=characters)

    backlog = put(text("a"), writing(0, 1), writing(0, 50), writing(1, 2), writing(0, 90))
    assert drained(backlog) == [text("a"), writing(0, 90), writing(1, 2)]
    backlog = put(writing(0, 1), writing(0, 7), closed())
    assert drained(backlog) == [writing(0, 7), closed()]


def test_only_what_is_no_delta_is_urgent() -> None:
    backlog = EventBacklog()
    assert not backlog.put(text("a"))
    assert backlog.put(closed())
    assert backlog.put(text("b"))
    drained(backlog)
    assert not backlog.put(text("c"))


def test_batches_are_small_and_together_complete() -> None:
    words = "".join(chr(97 + n % 26) for n in range(5 * BATCH_CHARACTERS + 7))
    backlog = put(opened(), *(text(words[n : n + 100]) for n in range(0, len(words), 100)), closed())
    batches = []
    while batch := backlog.take():
        batches.append(batch)
    events = [event for batch in batches for event in batch]
    assert [type(event) for event in events] == [MessageOpened, *[TextArrived] * 6, MessageClosed]
    assert "".join(event.text for event in events if isinstance(event, TextArrived)) == words
    assert all(sum(len(getattr(e, "text", "")) for e in batch) <= BATCH_CHARACTERS for batch in batches)
    many = put(*(closed(str(n)) for n in range(1000)))
    assert max(len(batch) for batch in iter(many.take, ())) == BATCH_EVENTS


def test_text_that_comes_while_a_long_one_is_handed_out_is_not_lost() -> None:
    backlog = put(text("a" * (BATCH_CHARACTERS + 10)))
    first = backlog.take()
    backlog.put(text("b"))
    rest = drained(backlog)
    assert "".join(e.text for e in (*first, *rest) if isinstance(e, TextArrived)) == "a" * (BATCH_CHARACTERS + 10) + "b"


def test_text_with_carriage_returns_and_wide_characters_comes_out_as_it_went_in() -> None:
    odd = "a\r\nb\rc\n\U0001f600\ud800\x00"
    assert drained(put(text(odd), text(odd))) == [text(odd + odd)]


def test_live_output_without_end_keeps_its_tail_within_a_bound() -> None:
    backlog = EventBacklog()
    for number in range(3000):
        backlog.put(output(f"{number:9d}\n" * 100))
    kept = "".join(event.text for event in drained(backlog) if isinstance(event, ToolCallOutput))
    assert kept.endswith("     2999\n")
    assert len(kept) <= 2 * OUTPUT_LIMIT


def test_thinking_and_text_that_alternate_without_end_stay_bounded_and_whole() -> None:
    backlog = EventBacklog()
    for _ in range(50_000):
        backlog.put(text("t"))
        backlog.put(thought("r"))
    assert len(backlog) < 3_000
    events = drained(backlog)
    assert sum(len(e.text) for e in events if isinstance(e, TextArrived)) == 50_000
    assert sum(len(e.text) for e in events if isinstance(e, ReasoningArrived)) == 50_000


# -- the bridge ---------------------------------------------------------------------------------------------------


async def test_what_is_no_delta_shows_at_once_with_all_that_came_before(bridge: Bridge, heard: Heard) -> None:
    bridge.sink(text("first"))
    await asyncio.sleep(DELTA_INTERVAL * 2)
    bridge.sink(text("a"))
    bridge.sink(text("b"))
    bridge.sink(closed())
    assert heard.events == [text("first")], "never from inside the runtime's own call"
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert heard.events == [text("first"), text("ab"), closed()]


async def test_deltas_come_about_thirty_times_a_second(bridge: Bridge, heard: Heard) -> None:
    started = time.monotonic()
    count = 0
    while time.monotonic() - started < 0.4 or len(heard.batches) < 3:
        bridge.sink(text("x"))
        count += 1
        await asyncio.sleep(0.001)
    elapsed = time.monotonic() - started
    await asyncio.sleep(DELTA_INTERVAL * 2)
    assert sum(len(e.text) for e in heard.events if isinstance(e, TextArrived)) == count
    assert 3 <= len(heard.batches) <= elapsed / DELTA_INTERVAL + 3


async def test_the_first_delta_after_a_pause_does_not_wait(bridge: Bridge, heard: Heard) -> None:
    await asyncio.sleep(DELTA_INTERVAL * 2)
    bridge.sink(text("x"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert heard.events == [text("x")]


@pytest.mark.spec("R-LOOP-16")
async def test_events_of_other_threads_arrive_whole_and_in_each_threads_order(bridge: Bridge, heard: Heard) -> None:
    def stream(side: str) -> None:
        bridge.sink(opened(side))
        for number in range(2000):
            bridge.sink(text(f"{number},", side))
        bridge.sink(closed(side))

    threads = [threading.Thread(target=stream, args=(side,)) for side in "ab"]
    for thread in threads:
        thread.start()
    end = time.monotonic() + WAIT_S
    while sum(isinstance(e, MessageClosed) for e in heard.events) < 2 and time.monotonic() < end:
        await asyncio.sleep(0.005)
    for thread in threads:
        thread.join()
    for side in "ab":
        mine = [event for event in heard.events if getattr(event, "message_id", "") == side]
        assert isinstance(mine[0], MessageOpened)
        assert isinstance(mine[-1], MessageClosed)
        words = "".join(event.text for event in mine if isinstance(event, TextArrived))
        assert words == "".join(f"{number}," for number in range(2000))


@pytest.mark.spec("R-UI-7")
async def test_a_hundred_thousand_deltas_and_a_slow_reader_leave_the_window_its_turns(
    bridge: Bridge, heard: Heard
) -> None:
    """Each batch costs its reader 2 ms; a Qt timer still fires throughout."""
    turns: list[str] = []
    timer = QTimer()
    timer.timeout.connect(lambda: turns.append("window"))
    bridge.events.connect(lambda _: (turns.append("batch"), time.sleep(0.002)))
    timer.start(0)
    for number in range(100_000):
        bridge.sink(text("word "))
        if number % 100 == 0:
            await asyncio.sleep(0)
    end = time.monotonic() + WAIT_S
    while sum(len(e.text) for e in heard.events if isinstance(e, TextArrived)) < 500_000 and time.monotonic() < end:
        await asyncio.sleep(0.001)
    timer.stop()
    assert sum(len(e.text) for e in heard.events if isinstance(e, TextArrived)) == 500_000
    assert max(len(e.text) for e in heard.events if isinstance(e, TextArrived)) <= BATCH_CHARACTERS
    held = [len(list(run)) for who, run in itertools.groupby(turns) if who == "batch"]
    assert max(held) <= 8, "the window has its turn after a few batches at most"


@pytest.mark.spec("R-UI-7")
async def test_a_burst_of_ten_thousand_tool_calls_is_handed_out_in_slices(bridge: Bridge, heard: Heard) -> None:
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        ticks += 1

    timer = QTimer()
    timer.timeout.connect(tick)
    bridge.events.connect(lambda _: time.sleep(0.001))
    for number in range(10_000):
        bridge.sink(
            ToolCallFinished(
                **AT,
                message_id="m",
                call_id=str(number),
                tool="t",
                state="done",
                text="",
                is_error=False,
                code="",
                elapsed_ms=1,
            )
        )
    timer.start(0)
    end = time.monotonic() + WAIT_S
    while len(heard.events) < 10_000 and time.monotonic() < end:
        await asyncio.sleep(0.001)
    timer.stop()
    assert [event.call_id for event in heard.events if isinstance(event, ToolCallFinished)] == [
        str(number) for number in range(10_000)
    ]
    assert ticks >= 10


@pytest.mark.spec("R-UI-8")
async def test_shutdown_hands_out_what_still_waits(heard: Heard) -> None:
    bridge = Bridge()
    heard.listen(bridge)
    bridge.sink(RunStarted(**AT, agent="a", model="m", user_message_id="u"))
    bridge.sink(text("last words"))
    bridge.sink(RunEnded(**AT, reason="cancelled"))
    await bridge.shutdown(1.0)
    assert [type(event) for event in heard.events] == [RunStarted, TextArrived, RunEnded]


def test_an_event_after_the_loop_was_closed_is_dropped_quietly(qapp: object) -> None:
    loop = asyncio.new_event_loop()
    bridge = Bridge(loop=loop)
    loop.close()
    bridge.sink(closed())
    thread = threading.Thread(target=bridge.sink, args=(closed(),))
    thread.start()
    thread.join()
