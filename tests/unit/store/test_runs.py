"""Runs end once; what a crash left open is closed as interrupted at the next start."""

import pytest

from desktop.domain.errors import NotFound
from desktop.domain.messages import Usage
from desktop.domain.runs.effects import EffectRecord
from desktop.domain.threads import MessageRecord, RunRecord, ThreadRecord
from desktop.store import Store
from tests.harness.store import search_faults
from tests.unit.store.conftest import say


def run(run_id: str, at: float = 10.0) -> RunRecord:
    return RunRecord(run_id, "t", at, "assistant", "demo/demo", extra={"why": ["test"]})


async def state(store) -> str:
    return (await store.threads.get(thread_id="t")).state


@pytest.mark.spec("R-JRN-5")
async def test_a_run_ends_exactly_once(store, thread):
    await store.runs.start(record=run("r"))
    assert await store.runs.get(run_id="r") == run("r")
    used = Usage(1, 2, 3, 4, 0.5)
    assert await store.runs.end(run_id="r", reason="limit", at=20.0, detail="max_rounds 20", usage=used)
    assert not await store.runs.end(run_id="r", reason="response", at=30.0)
    ended = await store.runs.get(run_id="r")
    assert (ended.end_reason, ended.ended_at, ended.detail, ended.usage) == ("limit", 20.0, "max_rounds 20", used)
    assert ended.extra == {"why": ["test"]}
    with pytest.raises(NotFound):
        await store.runs.end(run_id="nobody", reason="response", at=1.0)


async def test_the_thread_says_what_became_of_its_last_run(store, thread):
    assert await state(store) == ""
    for reason, expected in (("response", ""), ("error", "failed"), ("terminated", "interrupted"), ("cancelled", "")):
        await store.runs.start(record=run(reason, 10.0 + len(reason)))
        assert await state(store) == "running"
        await store.runs.end(run_id=reason, reason=reason, at=40.0)
        last = (await store.runs.of_thread(thread_id="t"))[0].run_id
        if last == reason:
            assert await state(store) == expected


async def test_one_of_two_runs_that_ends_leaves_the_thread_running(store, thread):
    await store.runs.start(record=run("a", 1.0))
    await store.runs.start(record=run("b", 2.0))
    await store.runs.end(run_id="b", reason="error", at=3.0)
    assert await state(store) == "running"
    assert [r.run_id for r in await store.runs.unfinished()] == ["a"]
    await store.runs.end(run_id="a", reason="response", at=4.0)
    assert await state(store) == "failed", "the run that was started last counts"
    assert [r.run_id for r in await store.runs.of_thread(thread_id="t", limit=1)] == ["b"]


@pytest.mark.spec("S-JRN-2")
async def test_what_a_crash_left_open_is_closed_as_interrupted_at_the_next_start(tmp_path):
    path = tmp_path / "assent.db"
    store = Store(path)
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "First", 1, 1))
    await store.runs.start(record=run("r"))
    await store.messages.add(record=say("m1", None))
    opened = await store.messages.open(record=MessageRecord("m2", "t", "m1", "assistant", (), 3.0, "open", run_id="r"))
    opened.add_text("half an elephant")
    opened._flush()
    await store.close()  # closing tells nobody that the run is over

    store = Store(path)
    recovery = await store.open()
    assert [(r.run_id, r.end_reason) for r in recovery.runs] == [("r", "interrupted")]
    assert recovery.messages == 1
    message = await store.messages.get(message_id="m2")
    assert (message.status, message.text) == ("interrupted", "half an elephant")
    assert await state(store) == "interrupted"
    assert [h.message_id for h in await store.search.messages(text="elephant")] == ["m2"]
    await store.close()

    store = Store(path)
    assert not (await store.open()).runs
    assert await search_faults(store) == []
    await store.close()


@pytest.mark.spec("R-JRN-5")
async def test_only_a_log_in_which_nothing_stands_ends_after_a_crash(tmp_path):
    """The others are gone on with; that of an agent that was called is its caller's."""
    path = tmp_path / "assent.db"
    store = Store(path)
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "First", 1, 1))
    for run_id in ("begun", "called", "empty", "over"):
        await store.runs.start(record=run(run_id))
    line = EffectRecord("begun", 1, "0", 1, "llm", "demo/demo", "d", "begun", 1.0)
    await store.effects.append([line, line._replace(run_id="over", kind="end", phase="completed")])
    await store.called.add(run_id="called", tree_run_id="begun", call_key="m:c")
    await store.close()

    store = Store(path)
    await store.open()
    assert [await store.effects.end_empty(), await store.effects.end_empty()] == [1, 0]
    logs = {one: [(e.kind, e.phase) for e in await store.effects.load(one)] for one in ("begun", "called", "empty")}
    assert logs == {"begun": [("llm", "begun")], "called": [], "empty": [("end", "cancelled")]}
    assert [e.phase for e in await store.effects.load("over")] == ["completed"]
    assert await store.effects.unfinished() == ["begun"]
    await store.close()
