"""The store and the settings: what a commit, a page of a thread, the list, a search and a save cost.

Everything is called as the app calls it, from an event loop; the reference is the same work without our code.
"""

import asyncio
import contextlib
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from desktop.domain.threads import MessageRecord, ThreadRecord
from desktop.settings import SettingsService
from desktop.store import Store
from tests.bench.registry import Figure, bench
from tests.harness.store import add_all
from tests.samples import WORDS, make_messages, make_threads

BIG = 10_000


@contextlib.asynccontextmanager
async def store_with(*, messages: int = 0, threads: int = 0) -> AsyncIterator[Store]:
    """An open store on a real file, with one thread `sample` of 1 KB messages and so many other threads."""
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        store = Store(Path(folder) / "data" / "assent.db")
        await store.open()
        await asyncio.gather(*(store.threads.create(record=record) for record in make_threads(threads)))
        await store.threads.create(record=ThreadRecord("sample", "Sample", 1.0, 1.0))
        await add_all(store.messages, make_messages(messages, messages * 1_000))
        try:
            yield store
        finally:
            await store.close()


async def timed(work: Callable[[], Awaitable[Any]], times: int) -> list[float]:
    """Milliseconds of each call, the first left out."""
    await work()
    found = []
    for _ in range(times):
        started = time.perf_counter()
        await work()
        found.append((time.perf_counter() - started) * 1000)
    return found


def direct(path: Path, work: Callable[[sqlite3.Connection], Any], times: int) -> float:
    """The median, in milliseconds, of plain sqlite3 on this thread."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    found = []
    for _ in range(times):
        started = time.perf_counter()
        work(connection)
        found.append((time.perf_counter() - started) * 1000)
    connection.close()
    return statistics.median(found)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


@contextlib.asynccontextmanager
async def watched() -> AsyncIterator[list[float]]:
    """The lateness, in ms, of a 1 ms timer on this loop: its largest is the longest time the loop stood still."""
    late: list[float] = []
    stop = asyncio.Event()

    async def tick() -> None:
        while not stop.is_set():
            started = time.perf_counter()
            await asyncio.sleep(0.001)
            late.append((time.perf_counter() - started) * 1000 - 1)

    async with asyncio.TaskGroup() as group:
        group.create_task(tick())
        await asyncio.sleep(0.05)
        late.clear()
        try:
            yield late
        finally:
            stop.set()


@bench("store: commit through the thread", target="<= 300", unit="us", by="disk")
def commit() -> Figure:
    async def run() -> Figure:
        async with store_with() as store:
            numbers = iter(range(1_000_000))
            ours = await timed(lambda: store.state.put(key="key", value=next(numbers)), 2_000)

            def put(connection: sqlite3.Connection) -> None:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("INSERT OR REPLACE INTO state VALUES ('key', ?)", (str(next(numbers)),))
                connection.execute("COMMIT")

            plain = direct(store.path, put, 2_000)
        return Figure(
            statistics.median(ours) * 1000,
            plain * 1000,
            f"p99 {percentile(ours, 0.99) * 1000:.0f} us; reference: sqlite3 on this thread",
        )

    return asyncio.run(run())


@bench("store: a person's message, on the disk", target="<= 20", unit="ms", by="disk")
def user_message() -> Figure:
    async def run() -> Figure:
        async with store_with(messages=100) as store:
            parent = "m000099"
            found = []
            for number in range(200):
                record = MessageRecord(f"u{number}", "sample", parent, "user", make_messages(1, 500)[0].blocks, 5.0)
                started = time.perf_counter()
                await store.messages.add(record=record)
                found.append((time.perf_counter() - started) * 1000)
                parent = record.message_id
        note = f"p99, with fsync and index; median {statistics.median(found):.2f} ms"
        return Figure(percentile(found, 0.99), None, note)

    return asyncio.run(run())


@bench("store: last 30 messages of 10,000", target="<= 5", unit="ms")
def last_screen() -> Figure:
    async def run() -> Figure:
        async with store_with(messages=BIG) as store:
            found = await timed(lambda: store.messages.path(thread_id="sample", limit=30), 200)
        return Figure(statistics.median(found), None, f"p99 {percentile(found, 0.99):.2f} ms")

    return asyncio.run(run())


@bench("store: all 10,000 messages, 10 MB", target="<= 3x", unit="ms")
def whole_thread() -> Figure:
    """In pages of 500, as the presenter reads them."""

    async def read(store: Store) -> int:
        page = await store.messages.path(thread_id="sample", limit=500)
        count = len(page)
        while page:
            page = await store.messages.path(thread_id="sample", before=page[0].message_id, limit=500)
            count += len(page)
        return count

    async def run() -> Figure:
        async with store_with(messages=BIG) as store:
            if await read(store) != BIG:
                raise AssertionError("messages are missing")
            found = await timed(lambda: read(store), 7)
            async with watched() as late:
                await read(store)
            query = "SELECT kind, text, fields_json FROM blocks ORDER BY message_seq, position"
            rows = "SELECT * FROM messages ORDER BY seq"
            plain = direct(store.path, lambda c: (c.execute(rows).fetchall(), c.execute(query).fetchall()), 7)
        return Figure(
            statistics.median(found),
            plain,
            f"the loop stood still for {max(late):.1f} ms at most; reference: the bare rows",
        )

    return asyncio.run(run())


def _list(count: int) -> Figure:
    async def run() -> Figure:
        async with store_with(threads=count) as store:
            found = await timed(store.threads.list_all, 30)
            async with watched() as late:
                await store.threads.list_all()
            plain = direct(store.path, lambda c: c.execute("SELECT * FROM threads ORDER BY updated_at").fetchall(), 20)
        return Figure(
            statistics.median(found),
            plain,
            f"the loop stood still for {max(late):.1f} ms at most; reference: the bare rows",
        )

    return asyncio.run(run())


@bench("store: list of 600 threads", target="<= 10", unit="ms")
def list_600() -> Figure:
    return _list(600)


@bench("store: list of 10,000 threads", target="<= 150", unit="ms")
def list_10000() -> Figure:
    return _list(10_000)


@bench("store: search in 10,000 messages, p99", target="<= 20", unit="ms")
def search() -> Figure:
    """Words, beginnings of words, several words, phrases, and CJK; 50 hits with snippets each."""
    rng = random.Random(1)

    def query() -> str:
        one, two = rng.sample(WORDS, 2)
        return rng.choice((one, one[:2], f"{one} {two}", f'"{one} {two}"', "数据", "メッセージ", "zebra"))

    async def run() -> Figure:
        async with store_with(messages=BIG) as store:
            found = await timed(lambda: store.search.messages(text=query()), 500)
        return Figure(percentile(found, 0.99), None, f"median {statistics.median(found):.2f} ms, max {max(found):.2f}")

    return asyncio.run(run())


@bench("store: a part of a streaming answer", target="<= 1", unit="ms", by="disk")
def flush() -> Figure:
    """From the timer to the commit, for a message that has 20 KB already."""

    async def run() -> Figure:
        async with store_with(messages=100) as store:
            record = MessageRecord("open", "sample", "m000099", "assistant", (), 5.0, "open")
            writer = await store.messages.open(record=record)
            writer.add_text("word " * 4_000)
            found = []
            on_loop = []
            for _ in range(200):
                writer.add_text("a few more words ")
                started = time.perf_counter()
                writer._disarm()
                writer._flush()
                on_loop.append((time.perf_counter() - started) * 1000)
                if writer._flight is not None:
                    await asyncio.wait([writer._flight])
                found.append((time.perf_counter() - started) * 1000)
            await writer.close(stop_reason="end")
        note = f"p99 {percentile(found, 0.99):.2f} ms; on the loop's thread {statistics.median(on_loop):.3f} ms"
        return Figure(statistics.median(found), None, note)

    return asyncio.run(run())


@bench("settings: 100 settings saved, longest block of the loop", target="<= 16", unit="ms", by="gap")
def save_settings() -> Figure:
    """One after the other, the first with the import of both YAML libraries."""

    async def run() -> Figure:
        with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
            service = SettingsService(Path(folder))
            async with watched() as late:
                await service.load()
                await service.update("chat.max_iterations", 1)
                first = max(late)
                started = time.perf_counter()
                for number in range(100):
                    await service.update("chat.max_iterations", number + 2)
                took = (time.perf_counter() - started) * 10
            return Figure(max(late), None, f"{took:.1f} ms a save; with the imports {first:.1f} ms")

    return asyncio.run(run())


@bench("store and settings: import", target="<= 30", unit="ms", by="process")
def imports() -> Figure:
    """In a fresh process, after asyncio and the domain, which every room imports."""
    code = (
        "import asyncio, logging, time, desktop.domain.approval.permission, desktop.domain.threads; "
        "import desktop.domain.models; at = time.perf_counter(); import sqlite3; mid = time.perf_counter(); "
        "import desktop.store, desktop.settings; print(time.perf_counter() - at, mid - at)"
    )

    async def one() -> tuple[float, float]:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
        out, _ = await process.communicate()
        whole, sqlite = out.split()
        return float(whole) * 1000, float(sqlite) * 1000

    async def run() -> Figure:
        found = [await one() for _ in range(9)]
        return Figure(
            statistics.median(f[0] for f in found), statistics.median(f[1] for f in found), "reference: sqlite3 alone"
        )

    return asyncio.run(run())
