"""No text of a file runs by way of sums under a command that is no admin call: a real bash says so (R-BLK-5)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.unit.safety.shell.chains import ran_unasked
from tests.unit.safety.shell.command_soak import Sandbox, furnish
from tests.unit.safety.world import World

pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is what holds the commands"),
    pytest.mark.spec("R-BLK-5", "R-PRM-11"),
]


@pytest.fixture
def sandbox(world: World, tmp_path: Path) -> Sandbox:
    folder = tmp_path / "sandbox"
    folder.mkdir()
    made = Sandbox(folder)
    furnish(world, made)
    return made


def test_no_chain_of_variables_carries_text_into_a_sum(world: World, sandbox: Sandbox) -> None:
    wrong, ordinary, ran = ran_unasked(world, sandbox, 5, 150, 20)
    assert wrong == []
    assert ordinary > 2  # else everything is distrusted
    assert ran > 3  # else nothing was tried


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 110))
def test_no_chain_of_ten_thousand_carries_text_into_a_sum(world: World, sandbox: Sandbox, seed: int) -> None:
    wrong, ordinary, ran = ran_unasked(world, sandbox, seed, 10_000)
    print(f"{ordinary} of 10,000 ordinary, {len(wrong)} of them ran it; {ran} of 100 admin ones did")
    assert wrong == []
