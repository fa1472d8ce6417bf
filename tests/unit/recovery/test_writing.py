"""When what the journal of a run holds is written: who waits for it, and who hears that it could not be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from desktop.domain.errors import StoreFull
from desktop.domain.runs.effects import EffectRecord
from desktop.recovery.effect_journal import EffectJournal, EffectRequest

WRITE = EffectRequest("tool", "write", "d", "writes", repeatable=False)
READ = EffectRequest("tool", "read", "d")


class SlowLog:
    """A log whose transactions end only when the test says so."""

    def __init__(self) -> None:
        self.batches: list[tuple[Sequence[EffectRecord], asyncio.Future[None]]] = []

    def append(self, records: Sequence[EffectRecord]) -> asyncio.Future[None]:
        self.batches.append((records, asyncio.get_running_loop().create_future()))
        return self.batches[-1][1]

    async def load(self, run_id: str) -> list[EffectRecord]:
        return []


async def goes_on(task: asyncio.Future[None]) -> bool:
    """Whether it comes to its end without anything more being written."""
    for _ in range(10):
        await asyncio.sleep(0)
    return task.done()


@pytest.mark.spec("R-JRN-2")
async def test_the_journal_is_settled_only_when_everything_so_far_is_written() -> None:
    log = SlowLog()
    journal = EffectJournal("run", log)
    journal.complete(("0", 1), READ, "one")
    journal.hurry()
    journal.complete(("0", 2), READ, "two")
    settled = asyncio.ensure_future(journal.settle())
    assert not await goes_on(settled)
    (_, first), (_, second) = log.batches
    first.set_result(None)
    assert not await goes_on(settled), "the second transaction is still on the way"
    again = asyncio.ensure_future(journal.settle())
    assert not await goes_on(again)
    second.set_result(None)
    assert await goes_on(settled)
    assert await goes_on(again)
    await asyncio.wait_for(journal.settle(), 60)


@pytest.mark.spec("R-JRN-2")
async def test_who_settles_a_journal_hears_what_could_not_be_written() -> None:
    log = SlowLog()
    journal = EffectJournal("run", log)
    journal.complete(("0", 1), READ, "one")
    settled = asyncio.ensure_future(journal.settle())
    assert not await goes_on(settled)
    log.batches[0][1].set_exception(StoreFull("The disk is full."))
    with pytest.raises(StoreFull):
        await settled
    with pytest.raises(StoreFull):
        await journal.settle()


@pytest.mark.spec("R-JRN-2")
async def test_a_write_begins_only_when_its_line_and_all_before_it_are_written_and_a_read_does_not_wait() -> None:
    log = SlowLog()
    journal = EffectJournal("run", log)
    await asyncio.wait_for(journal.begin(("0", 1), READ), 60)
    assert log.batches == [], "the beginning of a read waits for company"
    begun = asyncio.ensure_future(journal.begin(("0", 2), WRITE))
    assert not await goes_on(begun)
    [(records, written)] = log.batches
    assert [record.name for record in records] == ["read", "write"]
    written.set_result(None)
    assert await goes_on(begun)
