"""kill -9 at any moment loses nothing that was on screen for longer than 250 ms."""

import pytest

from tests.end2end.kill_series import Figures, series


def holds(figures: Figures, kills: int) -> None:
    assert figures.faults == []
    assert figures.kills == kills
    assert figures.parts > 20 * kills, "hardly anything was being written when it was killed: the test proves little"
    assert figures.interrupted_runs > 0


async def test_nothing_seen_is_lost_when_the_process_is_killed_at_random_moments(tmp_path):
    holds(await series(tmp_path, 12, seed=7), 12)


@pytest.mark.soak
async def test_nothing_seen_is_lost_in_two_hundred_kills(tmp_path):
    for number in range(10):
        holds(await series(tmp_path / str(number), 20, seed=number), 20)
