"""Debates in the database: forks are pointers, nothing that a fork needs is ever lost, a crash leaves them paused."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from desktop.domain.debates import TurnRecord
from desktop.domain.errors import BugError, NotFound
from desktop.domain.messages import Usage
from desktop.domain.threads import RunRecord, ThreadRecord
from desktop.store import Store
from desktop.store.database import verify
from tests.harness.store import search_faults
from tests.unit.store.conftest import say


def turn(number: int, message_id: str, thread_id: str = "d") -> TurnRecord:
    side = "a" if number % 2 else "b"
    usage = Usage(10, 5, 0, 0, 0.01)
    return TurnRecord(
        thread_id, number, side, message_id, message_id, f"said {number}", "response", 1, 0, usage, 1.0, 2.0, "m", "r"
    )


async def debate(store: Store, thread_id: str = "d", turns: int = 4) -> list[str]:
    """A debate of so many turns, one message each; the ids of its path."""
    topic = say(f"{thread_id}0", None, "topic", thread_id=thread_id)
    await store.debates.create(thread=ThreadRecord(thread_id, "D", 1.0, 1.0), setup={"topic": "t"}, topic=topic)
    ids = [topic.message_id]
    for number in range(1, turns + 1):
        ids.append(await say_turn(store, thread_id, number, ids[-1]))
    return ids


async def say_turn(store: Store, thread_id: str, number: int, parent: str) -> str:
    record = say(f"{thread_id}{number}", parent, role="assistant", thread_id=thread_id, side="a" if number % 2 else "b")
    await store.messages.add(record=record)
    await store.debates.finish_turn(thread_id=thread_id, record=turn(number, record.message_id, thread_id))
    return record.message_id


async def fork(store: Store, thread_id: str, origin: str, at: int, message_id: str) -> None:
    await store.debates.fork(
        thread=ThreadRecord(thread_id, "F", 2.0, 2.0),
        setup={"topic": "t"},
        origin=origin,
        turn=at,
        message_id=message_id,
    )


async def shown(store: Store, thread_id: str) -> list[str]:
    return [m.message_id for m in await store.messages.path(thread_id=thread_id)]


async def test_what_a_debate_used_holds_what_a_run_wrote_before_it_died(store: Store) -> None:
    ids = await debate(store, turns=2)
    await store.runs.start(record=RunRecord("r", "d", 1.0, "debate", "m"))
    cut = replace(say("cut", ids[-1], role="assistant", thread_id="d"), run_id="gone", usage=Usage(7, 1, 0, 0, None))
    await store.messages.add(record=cut)
    assert await store.debates.used(thread_id="d") == Usage(27, 11, 0, 0, 0.02)
    await store.runs.end(run_id="r", reason="error", at=2.0, usage=Usage(50, 10, 0, 0, 0.5))
    assert await store.debates.used(thread_id="d") == Usage(57, 11, 0, 0, 0.5)
    await fork(store, "f", "d", 2, ids[-1])
    assert await store.debates.used(thread_id="f") == Usage(0, 0, 0, 0, 0.0)


async def test_a_debate_is_kept_with_its_turns_and_is_no_chat(store: Store) -> None:
    ids = await debate(store)
    found = await store.debates.get(thread_id="d")
    assert (found.status, found.setup, found.head, found.fork_point) == ("ready", {"topic": "t"}, ids[-1], None)
    assert await store.debates.turns(thread_id="d") == [turn(n, ids[n]) for n in range(1, 5)]
    assert [row.thread_id for row in await store.debates.rows()] == ["d"]
    assert await store.threads.list_all() == []
    assert [(h.thread_id, h.message_id, h.debate) for h in await store.search.messages(text="topic")] == [
        ("d", ids[0], True)
    ]
    assert [(h.thread_id, h.debate) for h in await store.search.titles(text="d")] == [("d", True)]
    with pytest.raises(NotFound):
        await store.debates.get(thread_id="nothing")


async def test_a_fork_is_a_pointer_and_leaves_its_origin_as_it_was(store: Store) -> None:
    ids = await debate(store)
    await fork(store, "f", "d", 2, ids[2])
    assert await shown(store, "f") == ids[:3]
    assert [t.number for t in await store.debates.turns(thread_id="f")] == [1, 2]
    first = await say_turn(store, "f", 3, ids[2])
    second = await say_turn(store, "f", 4, first)
    assert await shown(store, "f") == [*ids[:3], first, second]
    assert await shown(store, "d") == ids
    assert await store.messages.leaf_below(message_id=ids[0]) == ids[-1]
    assert await store.messages.sibling_places(message_ids=[first, ids[3]]) == {}
    assert await store.debates.forks(thread_id="d") == ["f"]
    assert [t.last_message_id for t in await store.debates.turns(thread_id="f")] == [*ids[1:3], first, second]
    since = await store.debates.since(message_id=second, after=ids[1])
    assert [m.message_id for m in since] == [ids[2], first, second]


async def test_only_the_recorded_point_of_another_thread_can_be_a_parent(store: Store) -> None:
    ids = await debate(store)
    await fork(store, "f", "d", 2, ids[2])
    for parent in (ids[1], ids[3], ids[4]):
        with pytest.raises(BugError):
            await store.messages.add(record=say("f9", parent, thread_id="f"))
    await store.threads.create(record=ThreadRecord("t", "Chat", 1.0, 1.0))
    with pytest.raises(BugError):
        await store.messages.add(record=say("t1", ids[2], thread_id="t"))


@pytest.mark.parametrize("order", [["d", "f", "g"], ["d", "g", "f"], ["f", "d", "g"], ["f", "g", "d"], ["g", "f", "d"]])
async def test_forgetting_an_origin_never_takes_what_a_fork_needs(store: Store, order: list[str]) -> None:
    ids = await debate(store)
    await fork(store, "f", "d", 2, ids[2])
    third = await say_turn(store, "f", 3, ids[2])
    await fork(store, "g", "f", 3, third)
    last = await say_turn(store, "g", 4, third)
    paths = {"d": ids, "f": [*ids[:3], third], "g": [*ids[:3], third, last]}
    for gone in order:
        await store.threads.delete(thread_id=gone, at=3.0)
        await store.threads.purge(thread_id=gone)
        del paths[gone]
        for thread_id, path in paths.items():
            assert await shown(store, thread_id) == path
            assert [t.last_message_id for t in await store.debates.turns(thread_id=thread_id)] == path[1:]
        await asyncio.to_thread(verify, store.path)
        assert await search_faults(store) == []
    rows = await store._thread.read(lambda c: c.execute("SELECT count(*) FROM messages").fetchone())
    assert rows == (0,)


async def test_a_fork_of_a_forgotten_debate_goes_on(store: Store) -> None:
    ids = await debate(store)
    await fork(store, "f", "d", 2, ids[2])
    await store.threads.delete(thread_id="d", at=3.0)
    await store.threads.purge(thread_id="d")
    new = await say_turn(store, "f", 3, ids[2])
    assert await shown(store, "f") == [*ids[:3], new]
    assert await store.messages.leaf_below(message_id=ids[0]) == new


@pytest.mark.parametrize("status", ["running", "pausing"])
async def test_a_crash_leaves_a_debate_paused_at_its_last_finished_turn(store: Store, status) -> None:
    ids = await debate(store)
    await fork(store, "f", "d", 2, ids[2])
    for thread_id, parent in (("d", ids[-1]), ("f", ids[2])):
        await store.debates.set_status(thread_id=thread_id, status=status)
        await store.messages.add(record=say(f"{thread_id}7", parent, "half a turn", thread_id=thread_id))
    await store.close()
    again = Store(store.path)
    await again.open()
    for thread_id, path in (("d", ids), ("f", ids[:3])):
        found = await again.debates.get(thread_id=thread_id)
        assert (found.status, found.end_reason) == ("paused", "interrupted")
        assert await shown(again, thread_id) == path
        assert (await again.messages.get(message_id=f"{thread_id}7")).text == "half a turn"
    await again.close()


async def test_set_up_status_and_verdict_change_alone(store: Store) -> None:
    await debate(store, turns=0)
    await store.debates.set_status(thread_id="d", status="ended", end_reason="error", end_detail="half \ud800")
    await store.debates.set_setup(thread_id="d", setup={"topic": "other"})
    await store.debates.set_verdict(thread_id="d", verdict={"winner": "a"})
    found = await store.debates.get(thread_id="d")
    assert (found.status, found.end_reason, found.setup, found.verdict) == (
        "ended",
        "error",
        {"topic": "other"},
        {"winner": "a"},
    )
    with pytest.raises(NotFound):
        await store.debates.set_status(thread_id="no", status="ended")
    assert await shown(store, "d") == ["d0"]
