"""An answer that is being written is in the database within 250 ms of being said, as far as the machine lets it."""

import asyncio
import sqlite3
import time

import pytest

from desktop.domain.errors import BugError
from desktop.domain.messages import NoticeBlock, ReasoningBlock, TextBlock, ToolCallBlock, Usage
from desktop.domain.threads import MessageRecord, ThreadRecord
from desktop.store import Store
from desktop.store.open_message import FLUSH_AFTER_S
from tests.harness.store import search_faults
from tests.harness.timeouts import WAIT_S, until
from tests.unit.store.conftest import say

PROMISED = 0.25


async def writer(store, **more):
    await store.messages.add(record=say("m1", None))
    record = MessageRecord("m2", "t", "m1", "assistant", (), 3.0, "open", "a", "Assistant", "demo/demo", "r")
    return await store.messages.open(record=record, **more)


def on_disk(store) -> str:
    """What another process would see now."""
    connection = sqlite3.connect(f"file:{store.path}?mode=ro", uri=True)
    query = "SELECT text FROM blocks JOIN messages ON seq = message_seq WHERE message_id = 'm2'"
    rows = connection.execute(query).fetchall()
    connection.close()
    return "".join(row[0] for row in rows)


async def test_an_open_message_is_stored_at_once_and_is_the_leaf(store, thread):
    opened = await writer(store)
    assert (await store.messages.path(thread_id="t"))[-1] == opened.record
    assert opened.record.status == "open"
    await opened.close(stop_reason="end")


async def test_what_is_said_without_a_pause_is_written_again_and_again(store, thread):
    """Writing waits for a fixed time, however fast more is said: after each such time what was said before is there."""
    assert FLUSH_AFTER_S < PROMISED / 2, "half of what is promised is for a busy loop and a slow disk"
    opened = await writer(store)
    length, due, times, end = 0, 5, 0, time.monotonic() + WAIT_S
    while times < 8:
        assert time.monotonic() < end, f"written {times} times"
        opened.add_text("word ")
        length += 5
        await asyncio.sleep(0.003)
        if len(on_disk(store)) >= due:
            times, due = times + 1, length + 5
    await opened.close(stop_reason="end")
    assert on_disk(store) == "word " * (length // 5) == opened.text


async def test_deltas_cost_few_commits(store, thread):
    opened = await writer(store)
    changes, began = await store._thread.read(lambda c: c.total_changes), time.monotonic()
    for _ in range(500):
        opened.add_text("x")
        await asyncio.sleep(0.001)
    changed = await store._thread.read(lambda c: c.total_changes) - changes
    writes = (time.monotonic() - began) / FLUSH_AFTER_S + 1
    assert changed <= 2 * writes, f"{changed} changes in the time of {writes:.1f} writes"
    await opened.close(stop_reason="end")


async def test_thinking_and_text_keep_their_order_and_the_rest_comes_at_the_end(store, thread):
    opened = await writer(store)
    opened.add_reasoning("let me ")
    opened.add_reasoning("think")
    await asyncio.sleep(0.15)
    opened.add_text("First. ")
    opened.add_reasoning("more")
    opened.add_text("Second\x00 \udcff.")
    opened.add_text("")
    call = ToolCallBlock("c", "bash", {"command": "ls"})
    stored = await opened.close(
        stop_reason="tool_calls",
        blocks=(call, NoticeBlock("note")),
        usage=Usage(1, 2, 3, 4, 0.5),
        elapsed_ms=70,
        model="demo/other",
    )
    assert stored.blocks == (
        ReasoningBlock("let me think"),
        TextBlock("First. "),
        ReasoningBlock("more"),
        TextBlock("Second\x00 \ufffd."),
        call,
        NoticeBlock("note"),
    )
    assert (stored.status, stored.stop_reason, stored.model) == ("complete", "tool_calls", "demo/other")
    assert await store.messages.get(message_id="m2") == stored


async def test_an_answer_is_found_once_it_is_closed(store, thread):
    opened = await writer(store)
    opened.add_text("a unicorn")
    await asyncio.sleep(0.2)
    assert await store.search.messages(text="unicorn") == []
    await opened.close(stop_reason="aborted", status="interrupted")
    assert [h.message_id for h in await store.search.messages(text="unicorn")] == ["m2"]
    assert await search_faults(store) == []


async def test_a_closed_message_takes_no_more(store, thread):
    opened = await writer(store)
    await opened.close(stop_reason="end")
    with pytest.raises(BugError):
        opened.add_text("more")


async def test_a_failed_write_is_told_and_tried_again_by_itself(tmp_path):
    store = Store(tmp_path / "assent.db")
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
    problems: list[BaseException] = []
    opened = await writer(store, on_problem=problems.append)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    await store._thread.read(lambda c: c.execute("PRAGMA busy_timeout = 10").fetchone())
    opened.add_text("kept ")
    await until(lambda: problems, "a failed write")
    assert [getattr(p, "code", "") for p in problems] == ["store.locked"]
    other.execute("COMMIT")
    other.close()
    opened.add_text("and more")
    await until(lambda: on_disk(store) == "kept and more", "the next try")
    await opened.close(stop_reason="end")
    await store.close()
