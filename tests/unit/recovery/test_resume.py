"""What is found open at the end of a thread: however far up the answer stands, and in whose run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from desktop.domain.messages import Block, TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.runs.effects import EffectRecord
from desktop.domain.threads import MessageRecord, MessageStatus, RunRecord, ThreadRecord
from desktop.recovery.resume import conclude_settled, unfinished_above
from desktop.store import Store


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """With a thread in which a person has asked for something."""
    made = Store(tmp_path / "assent.db")
    await made.open()
    await made.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
    await made.messages.add(record=MessageRecord("asked", "t", None, "user", (TextBlock("go"),), 1.0))
    yield made
    await made.close()


async def answer(store: Store, calls: int) -> tuple[ToolCallBlock, ...]:
    blocks = tuple(ToolCallBlock(f"c{number}", "look", {}) for number in range(calls))
    await store.runs.start(record=RunRecord("run", "t", 1.0, "assistant", "m/m"))
    await store.messages.add(record=MessageRecord("m", "t", "asked", "assistant", blocks, 2.0, run_id="run"))
    return blocks


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize("given", [0, 7, 8, 9, 150])
async def test_the_open_calls_of_an_answer_are_found_above_all_results_that_it_has(store: Store, given: int) -> None:
    calls, leaf = await answer(store, given + 2), "m"
    for call in calls[:given]:
        block = ToolResultBlock(call.call_id, "look", "seen")
        result = MessageRecord(f"of-{call.call_id}", "t", leaf, "tool", (block,), 3.0, run_id="run")
        await store.messages.add(record=result)
        leaf = result.message_id
    found = await unfinished_above(store, "t", leaf)
    assert found is not None
    assert (found.message.message_id, found.calls, found.runs) == ("m", calls[given:], ("run",))


@pytest.mark.spec("R-JRN-2")
async def test_a_thread_that_ends_with_a_person_has_nothing_open(store: Store) -> None:
    assert await unfinished_above(store, "t", "asked") is None


@pytest.mark.spec("R-JRN-2")
async def test_the_run_of_an_agent_that_was_called_is_not_one_that_its_thread_ends(store: Store) -> None:
    """Its effects stand in its caller's journal; there is none of its own to conclude."""
    calls = await answer(store, 1)
    await store.called.add(run_id="run", tree_run_id="of the caller", call_key="m:c")
    found = await unfinished_above(store, "t", "m")
    assert found is not None
    assert (found.calls, found.runs) == (calls, ())


RESULT = ToolResultBlock("c0", "look", "seen")
TEXT = TextBlock("so it is")


@pytest.mark.spec("R-JRN-5", "S-JRN-2")
@pytest.mark.parametrize(
    ("below", "status", "left"),
    [
        ([], "complete", ["run"]),
        ([("tool", RESULT)], "complete", ["run"]),
        ([("tool", RESULT), ("assistant", TEXT)], "interrupted", ["run"]),
        ([("tool", RESULT), ("assistant", TEXT)], "complete", []),
        ([("tool", RESULT), ("user", TEXT)], "complete", []),
        ([("tool", RESULT), ("user while it worked", TEXT)], "complete", ["run"]),
    ],
    ids=["open call", "result nobody answered", "text cut off", "text to its end", "person went on", "person joined"],
)
async def test_at_the_start_the_journal_of_a_run_is_kept_while_there_is_something_to_go_on_with(
    store: Store, below: list[tuple[str, Block]], status: MessageStatus, left: list[str]
) -> None:
    await answer(store, 1)
    above = "m"
    for number, (role, block) in enumerate(below):
        last = "complete" if block is RESULT else status
        run_id, said = "" if role == "user" else "run", role.partition(" ")[0]
        record = MessageRecord(f"b{number}", "t", above, said, (block,), 3.0, status=last, run_id=run_id)  # type: ignore[arg-type]
        await store.messages.add(record=record)
        above = record.message_id
    await store.effects.append([EffectRecord("run", 1, "m:c0", 1, "tool", "look", "d", "begun", 2.0, "", "looks")])
    await store.runs.end(run_id="run", reason="interrupted", at=9.0)
    assert await conclude_settled(store) == left
    assert await store.effects.unfinished() == left
