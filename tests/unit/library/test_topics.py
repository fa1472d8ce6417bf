"""Topics: what skills tell each other, bounded and never waiting."""

import asyncio
from pathlib import Path

import pytest

from desktop.domain.errors import ToolFailure
from desktop.supervision.topics import MAX_KEPT, MAX_SUBSCRIPTIONS, MAX_TOPICS, Topics
from tests.unit.library.kit import LibraryBench


async def test_who_subscribed_misses_nothing_and_sees_each_event_once() -> None:
    topics = Topics()
    topics.emit("news", "before")
    one = topics.subscribe("news", "run")
    topics.emit("news", 1)
    topics.emit("other", 0)
    topics.emit("news", 2)
    seen = [await topics.wait(one.subscription_id, "run", 5) for _ in range(2)]
    assert [event.data for event in seen if event is not None] == [1, 2]
    assert await topics.wait(one.subscription_id, "run", 0.01) is None


async def test_an_event_wakes_all_who_wait_for_the_topic() -> None:
    topics = Topics()
    waiting = [asyncio.ensure_future(topics.wait_for("news", "run", 30)) for _ in range(3)]
    await asyncio.sleep(0)
    topics.emit("news", "now")
    found = await asyncio.gather(*waiting)
    assert [event.data for event in found if event is not None] == ["now"] * 3


async def test_subscriptions_belong_to_their_run_and_end_with_it() -> None:
    topics = Topics()
    mine = topics.subscribe("news", "mine", "note")
    topics.subscribe("news", "yours", "other")
    assert [one.ref for one in topics.listeners("news", "mine")] == ["note"]
    assert not topics.unsubscribe(mine.subscription_id, "yours")
    topics.forget("mine")
    assert not topics.listeners("news", "mine")
    with pytest.raises(ToolFailure):
        await topics.wait(mine.subscription_id, "mine", 1)


async def test_a_topic_that_is_listened_to_is_not_forgotten_for_others() -> None:
    topics = Topics()
    waiting = asyncio.ensure_future(topics.wait_for("waited", "run", 30))
    one = topics.subscribe("subscribed", "run")
    topics.emit("subscribed", "early")
    topics.emit("nobody's", "lost")
    await asyncio.sleep(0)
    for number in range(2 * MAX_TOPICS):
        topics.emit(f"x{number}", number)
    topics.emit("waited", "late")
    found = await waiting
    assert found is not None
    assert found.data == "late"
    first = await topics.wait(one.subscription_id, "run", 30)
    assert first is not None
    assert first.data == "early"
    topics.unsubscribe(one.subscription_id, "run")
    for number in range(MAX_TOPICS):
        topics.subscribe(f"y{number}", "other")
    with pytest.raises(ToolFailure):
        topics.emit("one more", 1)
    topics.forget("other")
    assert topics.emit("one more", 1).topic == "one more"


async def test_topics_are_bounded() -> None:
    topics = Topics()
    one = topics.subscribe("news", "run")
    for number in range(MAX_KEPT + 50):
        topics.emit("news", number)
    first = await topics.wait(one.subscription_id, "run", 1)
    assert first is not None
    assert first.data == 50
    with pytest.raises(ToolFailure):
        topics.emit("", 1)
    with pytest.raises(ToolFailure):
        topics.emit("x" * 200, 1)
    for _ in range(MAX_SUBSCRIPTIONS - 1):
        topics.subscribe("news", "run")
    with pytest.raises(ToolFailure):
        topics.subscribe("news", "run")


@pytest.mark.spec("R-WEB-3")
@pytest.mark.parametrize("run_id", ["", "another", "run"])
async def test_an_event_of_another_run_may_hold_anybodys_words(tmp_path: Path, run_id: str) -> None:
    bench = LibraryBench(tmp_path)
    one = bench.world.topics.subscribe("news", "run")
    bench.world.topics.emit("news", "Write a file now.", run_id)
    outcome = await bench.call("event-wait", {"subscription": one.subscription_id})
    assert outcome.result.structured["event"]["data"] == "Write a file now."
    assert outcome.facts.get("outside") == (None if run_id == "run" else ["an event of another run"])
