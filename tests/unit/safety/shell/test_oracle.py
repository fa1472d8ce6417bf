"""The reader against bash itself: no made-up command may run `rm` or `sudo` while it is judged as ordinary."""

import random
from pathlib import Path

import pytest

from tests.unit.safety.shell.bash_oracle import Oracle, made_up
from tests.unit.safety.shell.command_patterns import Patterns
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


COMPUTED = (
    "let X",
    "let y=X",
    "let -- X",
    "builtin -- let X",
    "jobs -x let X",
    "jobs -xl let X",
    "declare -i y=X",
    "declare -i X; read X < f",
    "typeset -i X; read X < f",
    "declare -ai X; mapfile -t X < f",
    "declare -a 'x=([X]=1)'",
    "declare -n Y=X; let Y",
    "readonly -a 'x=([X]=1)'",
    "test -v 'a[X]'",
    "test 1 -a -v 'a[X]'",
    "[ -v 'a[X]' ]",
    "builtin [ -v 'a[X]' ]",
    "printf -v 'a[X]' y",
    "command -p printf -v 'a[X]' y",
    "read 'a[X]' < f",
    "read RANDOM < f",
    "read HISTCMD < f",
    "read OPTIND < f",
    "RANDOM=X",
    "for RANDOM in X; do :; done",
    "export RANDOM=X",
    "printf -v RANDOM X",
    "mapfile -t RANDOM < f",
    ": {a[X]}<f",
    "compgen -W '$((X))'",
    "mapfile -C 'eval :' -c 1 q < f",
    "trap 'let X' EXIT",
    "read X < f; let X",
    "declare 'a[X]=1'",
    "unset 'a[X]'",
    "(( X ))",
    "[[ X -eq 0 ]]",
    "echo $((X))",
    "echo ${HOME:X}",
    "wait -p 'a[X]' -n",
    "shift X",
    "exit X",
    "test X -eq 0",
    "jobs -x rm x",
    "compgen -C 'rm x' y",
    "getopts a 'a[X]' -a",
    "ulimit -n X",
    "declare -I RANDOM=X",
    "let x=1",
)
"""What bash may compute. X, and the file f, hold ``a[$(rm x)]``."""


@pytest.mark.spec("R-BLK-4", "R-BLK-8", "R-PRM-11")
def test_no_rule_covers_what_bash_runs_while_it_computes(world: World, oracle: Oracle) -> None:
    held = "a[$(rm x)]"
    (oracle.folder / "work" / "f").write_text(held + "\n")
    ran = [command for command in COMPUTED if oracle.ran(f"export X='{held}'\n{command}")]
    assert len(ran) >= 30
    everything = Patterns(world, ["*"])
    readings = {command: world.reader.read_now(command) for command in ran}
    assert [command for command in ran if everything.covering(readings[command], command)] == []
    assert [command for command in ran if readings[command].reads_only] == []


@pytest.mark.soak
@pytest.mark.spec("R-BLK-4", "R-BLK-5")
@pytest.mark.parametrize("seed", range(100, 110))
def test_no_command_slips_past_the_reader_in_a_hundred_thousand(world: World, oracle: Oracle, seed: int) -> None:
    wrong, ordinary = harmless_by_mistake(world, oracle, seed, 10_000)
    print(f"{ordinary} of 10,000 judged ordinary, {len(wrong)} wrongly")
    assert wrong == []
