"""What the tests of the boundary share: a small world, both ways to open, and the table of escapes at the end."""

from pathlib import Path

import pytest

from desktop.safety.boundary.opening import PathWalker
from tests.unit.safety.escapes import pytest_terminal_summary
from tests.unit.safety.world import World

__all__ = ["pytest_terminal_summary"]
WALKERS = [pytest.param(True, id="openat2"), pytest.param(False, id="step by step")]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setenv("HOME", str(made.person))
    return made


@pytest.fixture(params=WALKERS)
def walker(request: pytest.FixtureRequest) -> PathWalker:
    made = PathWalker(use_openat2=request.param)
    if request.param and not made.has_openat2:
        pytest.skip("this kernel has no openat2")
    return made
