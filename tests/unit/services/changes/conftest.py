"""Calls that write real files, with a real store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.unit.services.changes.kit import Calls, calls_in


@pytest_asyncio.fixture
async def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Calls]:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    async with calls_in(tmp_path) as made:
        yield made
