"""Waiting messages that a person's Stop holds back, until the person sends or clears them."""

from __future__ import annotations

from desktop.domain.threads import QueuedRecord
from desktop.store import Store


class HeldQueue:
    """The queue of threads, with what is held of it. What is held stays so over a restart."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def held(self, thread_id: str) -> frozenset[str]:
        """The queue ids of a thread's messages that go out only when the person says so."""
        kept = await self._store.state.get(key=_key(thread_id), default=[])
        return frozenset(str(queue_id) for queue_id in kept) if isinstance(kept, list) else frozenset()

    async def hold(self, thread_id: str) -> None:
        """Hold all that waits now."""
        waiting = await self._store.queue.waiting(thread_id=thread_id)
        if waiting:
            await self._store.state.put(key=_key(thread_id), value=[record.queue_id for record in waiting])

    async def ready(self, thread_id: str) -> list[QueuedRecord]:
        """The waiting messages that are not held, the next one first."""
        waiting = await self._store.queue.waiting(thread_id=thread_id)
        held = await self.held(thread_id) if waiting else frozenset()
        return [record for record in waiting if record.queue_id not in held]

    async def clear(self, thread_id: str) -> None:
        """Take all back that waits."""
        for record in await self._store.queue.waiting(thread_id=thread_id):
            await self._store.queue.remove(queue_id=record.queue_id)
        await self._store.state.delete(key=_key(thread_id))


def _key(thread_id: str) -> str:
    return f"held:{thread_id}"
