"""What is kept of traces goes with its thread."""

import pytest

from desktop.domain.errors import BugError
from desktop.domain.messages import TextBlock, ToolResultBlock
from desktop.domain.runs.traces import KEPT_TEXT
from desktop.domain.threads import MessageRecord, RunRecord, ThreadRecord


async def a_run(store, run_id="r", thread_id="t"):
    await store.threads.create(record=ThreadRecord(thread_id, "", 1.0, 1.0))
    await store.runs.start(record=RunRecord(run_id, thread_id, 1.0, "assistant", "m/x"))


async def test_batches_come_back_in_order_and_go_with_the_thread(store):
    await a_run(store)
    later = store.traces.add(run_id="r", sequence=1, entries=[{"n": 1}, {"n": 2}])
    await store.traces.add(run_id="r", sequence=2, entries=[{"n": "\ud800"}])
    await later
    assert await store.traces.kept(run_id="r") == [{"n": 1}, {"n": 2}, {"n": "\ud800"}]
    await store.threads.delete(thread_id="t", at=5.0)
    assert len(await store.traces.kept(run_id="r")) == 3
    await store.threads.purge(thread_id="t")
    assert await store.traces.kept(run_id="r") == []


async def test_a_run_that_is_not_there_takes_no_entries(store):
    with pytest.raises(BugError):
        await store.traces.add(run_id="nowhere", sequence=1, entries=[])
    assert await store.traces.kept(run_id="nowhere") == []
    assert await store.traces.messages(run_id="nowhere") == []


async def test_only_the_messages_of_the_run_are_read_and_of_a_long_result_only_the_beginning(store):
    await a_run(store)
    parent = None
    for number, run_id in enumerate(("", "r", "other", "r")):
        long = ToolResultBlock("c", "look", "y" * 200_000, facts={"bytes": 1})
        blocks = (long,) if number == 3 else (TextBlock("a"),)
        await store.messages.add(
            record=MessageRecord(
                f"m{number}", "t", parent, "tool" if number == 3 else "assistant", blocks, float(number), run_id=run_id
            )
        )
        parent = f"m{number}"
    first, last = await store.traces.messages(run_id="r")
    assert (first.message_id, first.parent_id, first.text) == ("m1", "m0", "a")
    (block,) = last.blocks
    assert (len(block.text), block.facts) == (KEPT_TEXT, {"bytes": 1, "omitted": 200_000 - KEPT_TEXT})
