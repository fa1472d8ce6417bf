"""Values of Python skills: what they return and send is taken as data, away from the window's thread."""

import asyncio
from pathlib import Path

from tests.harness.timeouts import HELD_S, Beat
from tests.unit.pipeline.test_python_worker import Place
from tests.unit.safety.world import World


async def test_a_large_value_is_read_without_holding_the_window_up(tmp_path: Path) -> None:
    place, beat = Place(World(tmp_path), ("bubblewrap",)), Beat()
    async with asyncio.TaskGroup() as group:
        heart = group.create_task(beat.run())
        outcome = await place.run("async def run(ctx, args):\n    return [[{}, {}, {}, {}] for _ in range(24_000)]\n")
        heart.cancel()
    place.close()
    assert len(outcome.result.structured) == 24_000
    assert beat.longest < HELD_S
