"""Debates: what a fork costs, how long a debate of 500 turns takes to be there, and 50 of them at once on one loop."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from desktop.domain.debates import TurnRecord
from desktop.domain.messages import TextBlock, Usage
from desktop.domain.models import Finished, ModelRequest, StreamItem, TextDelta
from desktop.domain.runs.meta import RunMeta
from desktop.domain.threads import MessageRecord
from desktop.supervision.tasks import RunSlots
from tests.bench.registry import Figure, bench
from tests.harness.store import add_all
from tests.unit.services.debates.kit import DebateWorld, debate_world, setup

TEXT = "A sentence that a side of the debate says about the matter at hand, with a reason for it. " * 8
USAGE = Usage(1000, 100, cost_usd=0.001)
SPEED = 1_000
"""Tokens a second of each side."""


class Speaker:
    """Speaks at ``SPEED`` tokens a second, a delta each 4 ms, for so many tokens a turn; 0: for ever."""

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens

    async def stream(self, _request: ModelRequest, meta: RunMeta) -> AsyncIterator[StreamItem]:
        said, started = 0, time.perf_counter()
        while not self._tokens or said < self._tokens:
            meta.cancellation.check()
            due = int((time.perf_counter() - started) * SPEED)
            if due > said:
                yield TextDelta("word " * (due - said))
                said = due
            await asyncio.sleep(0.004)
        yield Finished("end", (), USAGE)


@asynccontextmanager
async def long_debate(turns: int) -> AsyncIterator[tuple[DebateWorld, str]]:
    """A debate of so many turns, three messages each, as a run would have left it."""
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        async with debate_world(Path(folder), Speaker(1)) as w:
            thread = await w.debates.create(setup(max_turns=None))
            parent = (await w.store.debates.get(thread_id=thread)).head
            for number in range(1, turns + 1):
                parent = await _turn(w, thread, parent, number)
            yield w, thread


async def _turn(w: DebateWorld, thread: str, parent: str, number: int) -> str:
    ids = [f"{thread}-{number}-{part}" for part in range(3)]
    records = [
        MessageRecord(
            message_id,
            thread,
            above,
            role,
            (TextBlock(TEXT),),
            time.time(),
            side="a" if number % 2 else "b",
            model="test/scripted",
            usage=USAGE,
        )
        for message_id, above, role in zip(ids, [parent, *ids], ["assistant", "user", "assistant"], strict=False)
    ]
    await add_all(w.store.messages, records)
    record = TurnRecord(
        thread,
        number,
        "a" if number % 2 else "b",
        ids[0],
        ids[2],
        TEXT,
        "response",
        2,
        1,
        USAGE,
        1.0,
        2.0,
        "test/scripted",
        "run",
    )
    await w.store.debates.finish_turn(thread_id=thread, record=record)
    return ids[2]


async def timed(work: Callable[[], Awaitable[Any]], times: int) -> list[float]:
    """Milliseconds of each call, the first left out."""
    found = []
    for _ in range(times + 1):
        started = time.perf_counter()
        await work()
        found.append((time.perf_counter() - started) * 1000)
    return found[1:]


async def _fork(turns: int) -> float:
    async with long_debate(turns) as (w, thread):
        made = setup(max_turns=None, b={"model": "test/other"})
        return statistics.median(await timed(lambda: w.debates.fork(thread, turns - 1, made), 20))


@bench("fork a debate of 500 turns", target="<= 30", unit="ms")
def fork() -> Figure:
    short = asyncio.run(_fork(4))
    note = "reference: a debate of 4 turns; checks, titles and events included; median of 20"
    return Figure(asyncio.run(_fork(500)), short, note)


async def _fork_rows(turns: int) -> float:
    """The pointer alone."""
    async with long_debate(turns) as (w, thread):
        record = await w.store.threads.get(thread_id=thread)
        head = (await w.store.debates.get(thread_id=thread)).head
        numbers = iter(range(1_000))

        async def make() -> None:
            made = type(record)(f"{thread}-fork-{next(numbers)}", "F", 1.0, 1.0)
            await w.store.debates.fork(thread=made, setup={}, origin=thread, turn=turns, message_id=head)

        return statistics.median(await timed(make, 50))


@bench("fork a debate of 500 turns, in the store", target="<= 1.5x", unit="ms")
def fork_rows() -> Figure:
    return Figure(asyncio.run(_fork_rows(500)), asyncio.run(_fork_rows(4)), "reference: a debate of 4 turns")


async def _open(turns: int) -> float:
    async with long_debate(turns) as (w, thread):

        async def look() -> None:
            await w.debates.state(thread)
            await w.debates.turns(thread)
            await w.store.messages.path(thread_id=thread, limit=60)

        return statistics.median(await timed(look, 10))


@bench("open a debate of 500 turns: state, turns, the last page", target="<= 40", unit="ms")
def open_debate() -> Figure:
    return Figure(asyncio.run(_open(500)), note="1,500 messages; of the 150 ms that the page has; median of 10")


async def _as_side() -> float:
    async with long_debate(500) as (w, thread):
        return statistics.median(await timed(lambda: w.debates.as_side(thread, "a"), 5))


@bench("a debate of 500 turns as side A sees it", target="<= 150", unit="ms")
def as_side() -> Figure:
    return Figure(asyncio.run(_as_side()), note="1,500 messages read and projected; median of 5")


async def _together(count: int, seconds: float) -> tuple[list[float], float]:
    """Lateness of the loop in milliseconds while so many debates stream, turns of 200 tokens; and how many turns a
    second they took together."""
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        async with debate_world(Path(folder), Speaker(200), slots=RunSlots(count)) as w:
            w.bus.forget(w.events.append)
            threads = [await w.debates.create(setup(max_turns=250)) for _ in range(count)]
            for thread in threads:
                await w.debates.start(thread)
            await asyncio.sleep(1.0)
            found, before, began = [], await _taken(w, threads), time.perf_counter()
            until = time.perf_counter() + seconds
            while time.perf_counter() < until:
                due = time.perf_counter() + 0.005
                await asyncio.sleep(0.005)
                found.append(max(0.0, (time.perf_counter() - due) * 1000))
            took = time.perf_counter() - began
            return sorted(found), (await _taken(w, threads) - before) / took


async def _taken(w: DebateWorld, threads: list[str]) -> int:
    return sum([len(await w.debates.turns(thread)) for thread in threads])


@bench("50 debates at once: lateness of the loop, p99", target="<= 16", unit="ms", by="gap")
def fifty() -> Figure:
    late, turns = asyncio.run(_together(50, 6.0))
    note = f"{turns:.0f} turns of 200 tokens a second; median {late[len(late) // 2]:.1f}, worst {late[-1]:.1f} ms"
    return Figure(late[int(len(late) * 0.99)], note=note)


@bench("2 debates at once: lateness of the loop, p99", target="<= 10", unit="ms", by="gap")
def two() -> Figure:
    late, turns = asyncio.run(_together(2, 4.0))
    note = f"{turns:.0f} turns of 200 tokens a second; median {late[len(late) // 2]:.1f}, worst {late[-1]:.1f} ms"
    return Figure(late[int(len(late) * 0.99)], note=note)
