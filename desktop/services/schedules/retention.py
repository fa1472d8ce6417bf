"""The threads of a job's runs that are kept: its newest ones, and each that a person has touched."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from desktop.domain.jobs import KEPT_THREADS
from desktop.store import Store


async def clear_away(
    store: Store, delete: Callable[[str], Awaitable[None]], job_id: str, keep: int = KEPT_THREADS
) -> int:
    """Forget, for good, the threads of runs older than the newest ``keep`` in which no person wrote, and which
    were neither pinned nor renamed; how many. ``delete`` takes one out of the list and says so. The rows of the job's
    history stay. Raises KnownError where the store refuses."""
    old = await store.threads.old_of_job(job_id=job_id, keep=keep)
    for thread_id in old:
        await delete(thread_id)
        await store.threads.purge(thread_id=thread_id)
    return len(old)
