"""Programs that want out, or want to stall the app: all of tests/data/hostile_code through the real worker."""

from pathlib import Path

import pytest

from desktop.domain.code import CodeLimits
from tests.unit.workers.hostile_code import BRIEF, CLASSES, LATE_MS, LIMITS, programs, run_class, steady


@pytest.mark.spec("R-COD-3", "R-COD-4", "R-COD-5", "R-COD-12", "R-COD-14", "R-COD-16")
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("limits", [BRIEF, pytest.param(LIMITS, marks=pytest.mark.soak)], ids=["brief", "whole"])
async def test_every_program_is_held_and_none_stalls_the_app(name: str, limits: CodeLimits, tmp_path: Path) -> None:
    count = await steady(lambda: run_class(name, str(tmp_path), brief=limits))
    assert not count.problems
    assert count.held == count.tried >= 35
    assert count.heart.worst_cpu_ms < LATE_MS


def test_there_are_as_many_as_promised_and_each_has_its_own_name() -> None:
    names = [program.name for name in CLASSES for program in programs(name)]
    assert len(names) == len(set(names)) >= 300
