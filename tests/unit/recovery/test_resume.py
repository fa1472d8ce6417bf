"""What is found open at the end of a thread, however far up the answer stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.domain.messages import TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.threads import MessageRecord, RunRecord, ThreadRecord
from desktop.recovery.resume import unfinished_above
from desktop.store import Store


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize("given", [0, 7, 8, 9, 150])
async def test_the_open_calls_of_an_answer_are_found_above_all_results_that_it_has(tmp_path: Path, given: int) -> None:
    store = Store(tmp_path / "assent.db")
    await store.open()
    try:
        await store.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
        await store.runs.start(record=RunRecord("run", "t", 1.0, "assistant", "m/m"))
        calls = tuple(ToolCallBlock(f"c{number}", "look", {}) for number in range(given + 2))
        await store.messages.add(record=MessageRecord("asked", "t", None, "user", (TextBlock("go"),), 1.0))
        await store.messages.add(record=MessageRecord("m", "t", "asked", "assistant", calls, 2.0, run_id="run"))
        leaf = "m"
        for call in calls[:given]:
            block = ToolResultBlock(call.call_id, "look", "seen")
            result = MessageRecord(f"of-{call.call_id}", "t", leaf, "tool", (block,), 3.0, run_id="run")
            await store.messages.add(record=result)
            leaf = result.message_id
        found = await unfinished_above(store, "t", leaf)
        assert found is not None
        assert (found.message.message_id, found.calls, found.runs) == ("m", calls[given:], ("run",))
        assert await unfinished_above(store, "t", "asked") is None
    finally:
        await store.close()
