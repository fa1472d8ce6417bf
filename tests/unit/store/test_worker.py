"""The one thread that owns the connection."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from desktop.domain.errors import BugError, StoreError
from desktop.store.database import open_database
from desktop.store.worker import StoreThread


async def opened(path: Path) -> StoreThread:
    worker = StoreThread(path / "a.db", open_database)
    await worker.open()
    return worker


def put(key: str):
    return lambda connection: connection.execute("INSERT INTO state VALUES (?, '1')", (key,))


def keys(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT key FROM state ORDER BY key")]


async def test_work_runs_in_the_order_given_and_a_read_sees_the_writes_before_it(tmp_path):
    worker = await opened(tmp_path)
    waiting = []
    for number in range(300):
        waiting.append(worker.write(put(f"{number:03}")))
        waiting.append(worker.read(lambda connection: len(keys(connection))))
    results = await asyncio.gather(*waiting)
    assert results[1::2] == list(range(1, 301))
    await worker.close()


async def test_no_cursor_leaves_the_thread_where_its_end_would_disturb_the_next_use_of_its_statement(tmp_path):
    worker = await opened(tmp_path)
    rows = [("a", "1"), ("b", "2")]
    many = worker.write(lambda connection: connection.executemany("INSERT INTO state VALUES (?, ?)", rows))
    one, read = worker.write(put("c")), worker.read(lambda connection: connection.execute("SELECT 1"))
    assert await asyncio.gather(one, many, read) == [None] * 3
    assert await worker.read(keys) == ["a", "b", "c"]
    await worker.close()


@pytest.mark.spec("R-UI-7")
async def test_nothing_of_the_database_runs_on_the_loops_thread(tmp_path):
    worker = await opened(tmp_path)
    names = await asyncio.gather(
        worker.read(lambda _: threading.current_thread().name), worker.write(lambda _: threading.current_thread().name)
    )
    assert names == ["assent-store", "assent-store"]
    await worker.close()


async def test_a_write_that_fails_takes_none_of_those_committed_with_it(tmp_path):
    worker = await opened(tmp_path)

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO state VALUES ('half', '1')")
        raise KeyError("on purpose")

    worker.read(lambda _: threading.Event().wait(0.05))  # so that the writes wait together
    results = await asyncio.gather(
        worker.write(put("a")),
        worker.write(half),
        worker.write(put("b")),
        worker.write(put("a")),
        return_exceptions=True,
    )
    assert isinstance(results[1], KeyError)
    assert isinstance(results[3], BugError), "a second row with the same key is our mistake"
    assert await worker.read(keys) == ["a", "b"]
    await worker.close()


async def test_writes_that_wait_together_are_committed_together(tmp_path):
    worker = await opened(tmp_path)
    changes: list[int] = []

    def note(connection: sqlite3.Connection) -> None:
        put(f"k{len(changes)}")(connection)
        changes.append(connection.total_changes)

    other = sqlite3.connect(tmp_path / "a.db")
    before = other.execute("PRAGMA data_version").fetchone()
    worker.read(lambda _: threading.Event().wait(0.05))
    first = worker.write(note)
    rest = [worker.write(note) for _ in range(20)]
    await first
    assert other.execute("PRAGMA data_version").fetchone() != before
    assert all(future.done() for future in rest), "the first was answered before the commit of all"
    assert other.execute("SELECT count(*) FROM state").fetchone() == (21,)
    other.close()
    await worker.close()


async def test_a_waiter_that_gives_up_does_not_undo_its_write(tmp_path):
    worker = await opened(tmp_path)
    worker.read(lambda _: threading.Event().wait(0.05))
    given_up = worker.write(put("a"))
    given_up.cancel()
    assert await worker.read(keys) == ["a"]
    await worker.close()


async def test_closing_does_what_is_queued_and_then_refuses(tmp_path):
    worker = await opened(tmp_path)
    queued = [worker.write(put(str(number))) for number in range(200)]
    await worker.close()
    await worker.close()
    assert all(future.done() and not future.exception() for future in queued)
    with pytest.raises(StoreError, match="closed"):
        await worker.read(keys)
    assert not (tmp_path / "a.db-wal").exists(), "a clean end leaves one file"
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        assert len(keys(connection)) == 200


async def test_the_thread_ends_when_the_database_does_not_open(tmp_path):
    (tmp_path / "a.db").write_bytes(b"no database" * 100)
    worker = StoreThread(tmp_path / "a.db", open_database)
    with pytest.raises(StoreError):
        await worker.open()
    assert not worker.is_open
    assert "assent-store" not in {thread.name for thread in threading.enumerate()}


async def test_a_cancelled_opening_leaves_no_thread(tmp_path):
    worker = StoreThread(tmp_path / "a.db", open_database)
    opening = asyncio.ensure_future(worker.open())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert not worker.is_open
