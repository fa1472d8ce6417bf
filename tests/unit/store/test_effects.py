"""Journals of effects on disk: append-only, in order, ended once, gone with their run."""

import asyncio

import pytest

from desktop.domain.errors import BugError
from desktop.domain.runs.effects import EffectRecord
from desktop.domain.threads import RunRecord, ThreadRecord
from desktop.store import Store
from tests.harness.timeouts import WAIT_S


def record(sequence: int, kind="tool", phase="begun", run_id="r", agent="0", **more) -> EffectRecord:
    values = {"name": "write", "digest": "d", "at": float(sequence), "value": "", "summary": ""} | more
    return EffectRecord(run_id, sequence, agent, sequence, kind, phase=phase, **values)


async def started(store, run_id="r", at=1.0):
    await store.runs.start(record=RunRecord(run_id, "t", at, "assistant", "demo/demo"))


@pytest.mark.spec("R-JRN-2")
async def test_lines_come_back_in_order_also_when_nobody_waited_for_them(store, thread):
    await started(store)
    lines = [record(number, value='{"a":1}', summary="say \ud800 half") for number in range(1, 40)]
    last = None
    for number in range(0, 39, 3):
        last = store.effects.append(lines[number : number + 3])
    await last
    found = await store.effects.load("r")
    assert [line.sequence for line in found] == list(range(1, 40))
    assert found[0] == lines[0]._replace(summary="say � half")
    assert await store.effects.load("nobody") == []


@pytest.mark.spec("R-JRN-5")
@pytest.mark.parametrize("kind", ["end", "return"])
async def test_a_terminal_line_is_written_once(store, thread, kind):
    await started(store)
    await store.effects.append([record(1), record(2, kind, "completed")])
    with pytest.raises(BugError):
        await store.effects.append([record(3), record(4, kind, "failed")])
    assert [line.sequence for line in await store.effects.load("r")] == [1, 2], "all of a batch or nothing"
    await store.effects.append([record(3, "return", "completed", agent="0.1")])


@pytest.mark.spec("R-SUP-13")
async def test_unfinished_runs_are_found_after_a_restart_and_of_what_a_finished_one_gave_digests_stay(tmp_path):
    path = tmp_path / "assent.db"
    store = Store(path)
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
    for number, name in enumerate(("early", "late", "done", "plain")):
        await started(store, name, float(number))
        if name != "plain":
            await store.effects.append([record(1, run_id=name), record(2, phase="completed", run_id=name, value="{}")])
    await store.effects.append([record(3, "end", "completed", run_id="done")])
    await store.close()
    store = Store(path)
    recovery = await store.open()
    assert len(recovery.runs) == 4
    assert await store.effects.unfinished() == ["late", "early"]
    await store.effects.forget("done")
    assert [(line.phase, line.value) for line in await store.effects.load("done")] == [
        ("begun", ""),
        ("completed", '"sha256:44136fa355b3678a"'),
        ("completed", ""),
    ]
    assert (await store.effects.load("late"))[1].value == "{}"
    await store.close()


async def test_a_line_that_nobody_waits_for_any_more_is_written_all_the_same(store, thread):
    await started(store)
    waiting = asyncio.ensure_future(asyncio.wait_for(store.effects.append([record(1)]), WAIT_S))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert len(await store.effects.load("r")) == 1
