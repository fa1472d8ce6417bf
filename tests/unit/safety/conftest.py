"""The fixture `world` (tests/unit/safety/world.py)."""

from pathlib import Path

import pytest

from tests.unit.safety.world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setenv("HOME", str(made.person))
    return made
