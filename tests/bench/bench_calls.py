"""A run of 10,000 calls on its way to the window: one more call must cost what the first ones did."""

import statistics
import time
from functools import cache

from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.events import (
    Event,
    MessageClosed,
    MessageOpened,
    RunStarted,
    ToolCallFinished,
    ToolCallStarted,
)
from desktop.presenter.transcript.live_threads import LiveThreads
from tests.bench.application import app, settled
from tests.bench.bench_transcript import ms, view
from tests.bench.registry import Figure, bench

ROUNDS, CALLS = 157, 64
"""10,048 calls: as many rounds as it takes, of the most calls that one answer may make."""
AT = {"thread_id": "t", "run_id": "r"}


def round_of(number: int) -> tuple[Event, list[tuple[Event, Event]]]:
    """The end of an answer that asks for calls, and the calls' own events, which come one pair a batch."""
    where = {**AT, "message_id": f"m{number}"}
    blocks = tuple(ToolCallBlock(f"{number}-{n}", "read_file", {"path": f"{n}.txt"}) for n in range(CALLS))
    done = {"state": "done", "text": "text of the file\n" * 20, "is_error": False, "code": "", "elapsed_ms": 3}
    pairs = [
        (
            ToolCallStarted(**where, call_id=b.call_id, tool="read_file", arguments=b.arguments or {}, category="read"),
            ToolCallFinished(**where, call_id=b.call_id, tool="read_file", **done),
        )
        for b in blocks
    ]
    return MessageClosed(**where, stop_reason="tool_calls", tool_calls=blocks), pairs


@cache
def batches() -> tuple[list[float], list[float]]:
    """Milliseconds of each batch, painting included: of the first 1,000 calls, and of the last."""
    shown, board = view(), LiveThreads()
    settled()
    board.answer_changed.connect(lambda thread: shown.change_item(board.state(thread).answer.item()))
    board.take((RunStarted(**AT, agent="a", model="m", user_message_id="u"),))
    taken: list[float] = []

    def take(*events: Event) -> None:
        started = time.perf_counter()
        board.take(events)
        app().processEvents()
        taken.append(ms(time.perf_counter() - started))

    for number in range(ROUNDS):
        closed, pairs = round_of(number)
        opened = MessageOpened(**AT, message_id=f"m{number}", parent_id="u", side="a", author="a", round_number=number)
        take(opened, closed)
        for pair in pairs:
            take(*pair)
    return taken[:1000], taken[-1000:]


@bench("a run of 10,000 calls: one more call, window included, median", target="<= 8 and <= 1.5x", unit="ms")
def one_more_call() -> Figure:
    first, last = batches()
    return Figure(statistics.median(last), statistics.median(first), "reference: each of the first 1,000 calls")


@bench("a run of 10,000 calls: longest that the window is kept", target="<= 50", unit="ms", by="gap")
def longest() -> Figure:
    first, last = batches()
    return Figure(max(last), max(first), "Stop is heard within this time; reference: the first 1,000 calls")
