"""No random command that a rule, a list or a job lets run unasked does more than they cover: a real bash says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.unit.safety.shell.command_soak import Sandbox, furnish, soak
from tests.unit.safety.world import World

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is what holds the commands")


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    folder = tmp_path / "sandbox"
    folder.mkdir()
    return Sandbox(folder)


def test_the_sandbox_sees_programs_and_files(sandbox: Sandbox) -> None:
    found = sandbox.effects(["touch PWN", "/usr/bin/touch PWN", "echo x > f", "./evil", "ls -la", "git config a.b c"])
    assert [sorted(programs) for programs, _ in found] == [["touch"], ["touch"], [], ["evil"], [], []]
    files = [sorted(files) for _, files in found]
    assert files == [["PWN_touch"], ["PWN_touch"], ["f"], ["PWN_evil"], [], [".git/config"]]


@pytest.mark.spec("R-PRM-11", "R-PRM-12", "R-BLK-4", "R-CRON-3", "R-PAT-8")
def test_what_passes_has_no_effect_beyond_its_rule(world: World, sandbox: Sandbox) -> None:
    furnish(world, sandbox)
    tally = soak(world, sandbox, 7, 1_500)
    assert tally.wrong == []
    assert min(tally.passed[f"allow {kind}"] for kind in ("rule", "list", "job")) > 30  # else everything is distrusted
    assert tally.passed["deny rule"] > 10


@pytest.mark.soak
@pytest.mark.spec("R-PRM-11", "R-PRM-12", "R-BLK-4", "R-CRON-3", "R-PAT-8")
@pytest.mark.parametrize("seed", range(100, 110))
def test_what_passes_of_a_hundred_thousand_has_no_effect_beyond_its_rule(
    world: World, sandbox: Sandbox, seed: int
) -> None:
    furnish(world, sandbox)
    tally = soak(world, sandbox, seed, 10_000)
    print(f"{tally.tried} tried, {dict(tally.passed)} passed, {tally.run} run, {len(tally.wrong)} with an effect")
    assert tally.wrong == []
