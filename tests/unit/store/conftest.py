"""A store on a real file, opened for one test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from desktop.domain.messages import TextBlock
from desktop.domain.threads import MessageRecord, ThreadRecord
from desktop.store import Store


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """An open store with nothing in it."""
    made = Store(tmp_path / "data" / "assent.db")
    await made.open()
    try:
        yield made
    finally:
        await made.close()


@pytest_asyncio.fixture
async def thread(store: Store) -> str:
    """A thread in it."""
    await store.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
    return "t"


def say(message_id: str, parent_id: str | None, text: str = "", *, role: str = "user", thread_id: str = "t", **more):
    """A message of one text; its time follows from its id, so that tests need no clock."""
    at = 100.0 + int("".join(c for c in message_id if c.isdigit()) or 0)
    return MessageRecord(message_id, thread_id, parent_id, role, (TextBlock(text or message_id),), at, **more)
