"""The activity log: what a chained line costs on the store's thread, and what 100,000 of them cost to read."""

import asyncio
import contextlib
import sqlite3
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from desktop.domain.approval.audit import AuditFilter
from desktop.domain.approval.audit_chain import digest
from desktop.domain.approval.permission import AuditEntry
from desktop.store import Store
from desktop.store.audit_log import AuditChain, HeadFile
from desktop.store.audit_rows import call_line, outcome_line
from desktop.store.database import open_database
from tests.bench.bench_store import watched
from tests.bench.registry import Figure, bench

MANY = 100_000


def entry(number: int) -> AuditEntry:
    """As long as they come."""
    return AuditEntry(
        1000.0 + number,
        f"run-{number // 50:032}",
        f"thread-{number // 500:032}",
        f"call-{number:024}",
        ("assistant", "tidy", "bash"),
        "bash",
        "write",
        "allow_once",
        "user",
        "a" * 64,
        f'{{"command": "ls -la /home/ida/work/{number} {"x" * 150}"}}',
        (f"/home/ida/work/{number}",),
        "",
        {"waited_s": 1.5},
    )


@contextlib.asynccontextmanager
async def filled() -> AsyncIterator[Store]:
    """A store with so many lines: half of them calls, half of them outcomes."""
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        path = Path(folder) / "assent.db"
        connection = open_database(path)
        file = HeadFile(path.with_name(path.name + "-audit-head"))
        chain = AuditChain(file)
        connection.execute("BEGIN")
        chain.begin(connection)
        for number in range(MANY // 2):
            line = call_line(entry(number))
            at = chain.append(connection, line, digest(line))
            settled = outcome_line(at, "done", 2000.0 + number)
            chain.append(connection, settled, digest(settled))
        connection.execute("COMMIT")
        chain.committed(connection)
        connection.close()
        chain.close()
        store = Store(path)
        await store.open()
        try:
            yield store
        finally:
            await store.close()


@bench("activity log: a chained line, on the store's thread", target="<= 100", unit="us", by="disk")
def chained_line() -> Figure:
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        path = Path(folder) / "assent.db"
        connection = open_database(path)
        connection.execute("CREATE TABLE plain (seq INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT")
        chain = AuditChain(HeadFile(path.with_name("head")))
        connection.execute("BEGIN IMMEDIATE")
        chain.begin(connection)
        connection.execute("COMMIT")
        chain.committed(connection)
        ours, plain = [], []
        for number in range(5_000):
            line = call_line(entry(number))
            made = digest(line)
            connection.execute("BEGIN IMMEDIATE")
            started = time.perf_counter()
            chain.append(connection, line, made)
            added = time.perf_counter() - started
            connection.execute("COMMIT")
            started = time.perf_counter()
            chain.committed(connection)
            ours.append((added + time.perf_counter() - started) * 1e6)
            connection.execute("BEGIN IMMEDIATE")
            started = time.perf_counter()
            connection.execute("INSERT INTO plain (line) VALUES (?)", (line,))
            plain.append((time.perf_counter() - started) * 1e6)
            connection.execute("COMMIT")
        chain.close()
        connection.close()
    ours.sort()
    note = f"without the commit; p99 {ours[int(len(ours) * 0.99)]:.0f} us; reference: the same text unchained"
    return Figure(statistics.median(ours), statistics.median(plain), note)


@bench("activity log: check 100,000 lines", target="<= 3", unit="s")
def check() -> Figure:
    async def run() -> Figure:
        async with filled() as store:
            async with watched() as late:
                started = time.perf_counter()
                report = await store.audit.check(lambda _done, _total: None, lambda: False)
                took = time.perf_counter() - started
            assert report.whole
            return Figure(took, None, f"{report.lines:,} lines; the loop stood still {max(late):.1f} ms at most")

    return asyncio.run(run())


@bench("activity log: a search in 100,000 lines that finds nothing", target="<= 1000", unit="ms")
def search() -> Figure:
    async def run() -> Figure:
        async with filled() as store:
            async with watched() as late:
                started = time.perf_counter()
                assert not (await store.audit.page(AuditFilter(text="nowhere to be found"))).rows
                took = (time.perf_counter() - started) * 1000
            with contextlib.closing(sqlite3.connect(store.path)) as connection:
                started = time.perf_counter()
                connection.execute("SELECT count(*) FROM audit WHERE instr(line, 'nowhere to be found')").fetchone()
                plain = (time.perf_counter() - started) * 1000
            return Figure(took, plain, f"loop {max(late):.1f} ms; reference: the lines as one text each")

    return asyncio.run(run())


@bench("activity log: a page of 200 far down in 100,000 lines", target="<= 50", unit="ms")
def page() -> Figure:
    async def run() -> Figure:
        async with filled() as store:
            took = []
            for before in range(10_000, 90_000, 2_000):
                started = time.perf_counter()
                assert len((await store.audit.page(AuditFilter(), before=before)).rows) == 200
                took.append((time.perf_counter() - started) * 1000)
            return Figure(statistics.median(took), None, f"slowest {max(took):.1f} ms, none of it on the Qt thread")

    return asyncio.run(run())


@bench("activity log: export 100,000 lines", target="<= 10", unit="s")
def export() -> Figure:
    async def run() -> Figure:
        async with filled() as store:
            target = store.path.with_name("log.jsonl")
            async with watched() as late:
                started = time.perf_counter()
                await store.audit.export(str(target), "jsonl", AuditFilter(), lambda _d, _t: None, lambda: False)
                took = time.perf_counter() - started
            size = target.stat().st_size / 1e6
            return Figure(took, None, f"{size:.0f} MB of JSON Lines; loop {max(late):.1f} ms at most")

    return asyncio.run(run())
