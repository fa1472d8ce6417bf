"""What a model takes is known again after a restart, before anybody has listed the models."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from desktop.domain.models import ModelRef
from desktop.services.turns.known_windows import MAXIMUM, KnownWindows
from desktop.store import Store
from desktop.supervision.tasks import TaskOwner

REF = ModelRef("lab", "harbour-8b")


@pytest.mark.spec("R-CTX-6")
async def test_a_window_is_remembered_over_a_restart_until_something_else_is_told(tmp_path: Path) -> None:
    told: dict[str, int] = {}

    def ask(ref: ModelRef) -> int | None:
        return told.get(str(ref))

    store, owner = Store(tmp_path / "assent.db"), TaskOwner()
    await store.open()
    known = await KnownWindows.opened(store.state, ask, owner.spawn)
    assert known(REF) is None
    told[str(REF)] = 8_000
    assert known(REF) == 8_000
    for n in range(MAXIMUM - 1):
        told[f"lab/{n}"] = 1_000 + n
        assert known(ModelRef("lab", str(n))) == 1_000 + n
    await asyncio.gather(*owner._tasks)

    told.clear()
    again = await KnownWindows.opened(store.state, ask, owner.spawn)
    assert again(REF) == 8_000
    told[str(REF)] = 16_000
    assert again(REF) == 16_000
    told["lab/more"] = 5
    again(ModelRef("lab", "more"))
    await owner.close()
    told.clear()
    assert (again(REF), again(ModelRef("lab", "0"))) == (16_000, None)
    told[str(REF)] = 1  # the app closes: said, not kept
    assert again(REF) == 1
    await store.close()
