"""What the services' tests share that has to be ended: the code sandbox, and what confines processes."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.safety.confinement.select import SystemConfinement
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.unit.safety.world import World as SafetyWorld


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[JsEngine]:
    (tmp_path / "empty").mkdir()
    found = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile()))
    yield found
    await found.close()


@pytest.fixture
def confinement(tmp_path: Path) -> Iterator[SystemConfinement]:
    place = SafetyWorld(tmp_path / "world")
    made = SystemConfinement(place.policy, lambda: place.settings)
    if made.probe().kind == "none":
        pytest.skip("nothing can confine a process here")
    yield made
    made.close()
