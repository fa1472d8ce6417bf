"""The inbox of a persistent agent on a real database: what counts as waiting, and who is woken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from desktop.agents.skill.persistence import AgentInbox
from desktop.domain.errors import StoreError, ToolFailure
from desktop.domain.inboxes import MAX_WAITING
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.threads import ThreadRecord
from desktop.store import Store
from desktop.supervision.topics import Topics
from tests.harness.timeouts import WAIT_S


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = Store(tmp_path / "assent.db")
    await made.open()
    try:
        yield made
    finally:
        await made.close()


def inbox(topics: Topics, store: Store) -> AgentInbox:
    """Of an agent of a skill, which works in the thread ``t``."""
    meta = RunMeta("run", CancellationToken(), "t")
    return AgentInbox(topics, "agent", meta, store.queue, key="agent", run_id="run")


@pytest.mark.spec("R-PER-6")
async def test_what_the_database_refused_to_keep_does_not_fill_the_inbox(store: Store) -> None:
    await store.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
    topics = Topics()
    box = inbox(topics, store)
    await store.close()
    for _ in range(MAX_WAITING):
        with pytest.raises(StoreError):
            await topics.post(box.topic, "not kept")
    await store.open()
    await topics.post(box.topic, "hello")
    found = await box.take()
    assert found is not None
    assert found.text == "hello"


@pytest.mark.spec("R-PER-6")
async def test_what_waits_from_before_a_restart_counts_for_a_full_inbox(store: Store) -> None:
    await store.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
    before = Topics()
    box = inbox(before, store)
    for number in range(MAX_WAITING):
        await before.post(box.topic, str(number))
    after = Topics()
    box = inbox(after, store)
    with pytest.raises(ToolFailure, match=f"{MAX_WAITING} messages wait at inbox.agent"):
        await after.post(box.topic, "one too many")
    await box.take()
    await after.post(box.topic, "there is room again")
    with pytest.raises(ToolFailure, match="messages wait at"):
        await after.post(box.topic, "one too many")


@pytest.mark.spec("R-PER-6")
async def test_a_message_that_was_kept_wakes_the_agent_though_whoever_posted_it_was_cancelled(store: Store) -> None:
    await store.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
    topics = Topics()
    box = inbox(topics, store)
    posting = asyncio.create_task(topics.post(box.topic, "hello"))
    await asyncio.sleep(0)  # it waits for the database now
    posting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await posting
    async with asyncio.timeout(WAIT_S):
        await box.news(CancellationToken())
    found = await box.take()
    assert found is not None
    assert found.text == "hello"


@pytest.mark.spec("R-PER-6")
async def test_a_post_that_its_call_makes_once_more_is_heard_once(store: Store) -> None:
    await store.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
    topics = Topics()
    box = inbox(topics, store)
    for text, key in (("same", "call"), ("same", "call"), ("other", "call"), ("same", "another call")):
        await topics.post(box.topic, text, key)
    heard = []
    while (found := await box.take()) is not None:
        heard.append(found.text)
    await topics.post(box.topic, "same", "call")
    assert heard == ["same", "other", "same"]
    assert await box.take() is None
