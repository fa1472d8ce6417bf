"""The reader against bash itself: no made-up command may run `rm` or `sudo` while it is judged as ordinary."""

import random
from pathlib import Path

import pytest

from tests.unit.safety.bash_oracle import Oracle, made_up
from tests.unit.safety.world import World


def harmless_by_mistake(world: World, oracle: Oracle, seed: int, count: int) -> tuple[list[str], int]:
    """Commands judged as ordinary that ran a stand-in; and how many were judged as ordinary at all."""
    chance, reader = random.Random(seed), world.reader
    wrong, ordinary = [], 0
    for _ in range(count):
        command = made_up(chance)
        reading = reader.read_now(command)
        if reading.blocked is None and reading.category.value == "write":
            ordinary += 1
            if oracle.ran(command):
                wrong.append(command)
    return wrong, ordinary


@pytest.fixture
def oracle(tmp_path: Path) -> Oracle:
    folder = tmp_path / "oracle"
    folder.mkdir()
    return Oracle.make(folder)


@pytest.mark.spec("R-BLK-4")
def test_the_stand_ins_work(oracle: Oracle) -> None:
    assert oracle.ran("echo $(rm x)")
    assert oracle.ran("cat <<-E\n\t$(sudo id)\n\tE")
    assert not oracle.ran("echo rm x")


@pytest.mark.spec("R-BLK-4", "R-BLK-5")
def test_no_command_slips_past_the_reader(world: World, oracle: Oracle) -> None:
    wrong, ordinary = harmless_by_mistake(world, oracle, 11, 2500)
    assert wrong == []
    assert ordinary > 50  # else the reader would simply distrust everything


@pytest.mark.soak
@pytest.mark.spec("R-BLK-4", "R-BLK-5")
@pytest.mark.parametrize("seed", range(100, 110))
def test_no_command_slips_past_the_reader_in_a_hundred_thousand(world: World, oracle: Oracle, seed: int) -> None:
    wrong, ordinary = harmless_by_mistake(world, oracle, seed, 10_000)
    print(f"{ordinary} of 10,000 judged ordinary, {len(wrong)} wrongly")
    assert wrong == []
