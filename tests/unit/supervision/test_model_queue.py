"""The shared queue of model requests."""

from __future__ import annotations

import asyncio

import pytest

from desktop.domain.errors import CancellationError
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.supervision import Priority
from desktop.supervision.model_queue import ModelQueue


class Time:
    now = 0.0

    def __call__(self):
        return self.now


async def in_queue(queue, group, wanted, got, clock=None):
    """Let requests wait, in this order, a second apart."""
    tasks = {}
    for name, priority in wanted:
        tasks[name] = group.create_task(held(queue, name, priority, got))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if clock is not None:
            clock.now += 1
    return tasks


async def held(queue, name, priority, got):
    async with queue.place(priority, CancellationToken()):
        got.append(name)
        await asyncio.sleep(0)


@pytest.mark.spec("R-SUP-14")
async def test_the_heavier_goes_first_and_equals_in_order():
    queue, got = ModelQueue(1), []
    async with asyncio.TaskGroup() as group:
        async with queue.place(Priority.BACKGROUND, CancellationToken()):
            await in_queue(
                queue,
                group,
                [
                    ("low", Priority.LOW),
                    ("a", Priority.NORMAL),
                    ("idle", Priority.BACKGROUND),
                    ("b", Priority.NORMAL),
                    ("critical", Priority.CRITICAL),
                    ("high", Priority.HIGH),
                ],
                got,
            )
            assert (queue.waiting, queue.full) == (6, True)
    assert got == ["critical", "high", "a", "b", "low", "idle"]
    assert not queue.full


@pytest.mark.spec("R-SUP-14")
async def test_nobody_starves_behind_those_who_keep_coming():
    clock = Time()
    queue, got = ModelQueue(1, step_s=10, clock=clock), []
    async with asyncio.TaskGroup() as group:
        async with queue.place(Priority.NORMAL, CancellationToken()):
            flood = [("idle", Priority.BACKGROUND)] + [(f"c{n}", Priority.CRITICAL) for n in range(60)]
            await in_queue(queue, group, flood, got, clock)
    assert got[0] == "idle", "it waited four steps, so it counts as one of them and is the oldest"


@pytest.mark.spec("R-SUP-14", "R-CAN-11")
async def test_who_is_cancelled_leaves_the_queue_and_loses_no_place():
    queue, got = ModelQueue(1), []
    token = CancellationToken()
    async with asyncio.TaskGroup() as group:
        await queue.acquire(Priority.NORMAL, CancellationToken())

        async def waits():
            with pytest.raises(CancellationError, match="enough"):
                await queue.acquire(Priority.CRITICAL, token)

        waiting = group.create_task(waits())
        tasks = await in_queue(queue, group, [("gone", Priority.HIGH), ("next", Priority.LOW)], got)
        token.cancel("enough")
        await waiting
        tasks["gone"].cancel()
        await asyncio.sleep(0)
        assert queue.waiting == 1
        queue.release()
    assert got == ["next"]
    assert not queue.full


@pytest.mark.spec("R-CAN-11")
async def test_a_place_given_to_somebody_just_cancelled_goes_to_the_next():
    queue, got = ModelQueue(1), []
    async with asyncio.TaskGroup() as group:
        await queue.acquire(Priority.NORMAL, CancellationToken())
        tasks = await in_queue(queue, group, [("first", Priority.NORMAL), ("second", Priority.NORMAL)], got)
        queue.release()
        tasks["first"].cancel()
    assert got == ["second"]
    assert not queue.full
